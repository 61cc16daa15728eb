-- Whether a source still speaks: what was looked at, what was refused, and how long ago it last said anything.
with looked_at as (
    select source, count(*) as captures, sum(seen) as seen, sum(refused) as refused
    from {{ ref('stg_intake') }}
    group by source
),

heard as (
    select source, max(ts) as last_event
    from {{ ref('stg_events') }}
    where cast(ts as date) <= {{ as_of() }}
    group by source
)

select
    coalesce(looked_at.source, heard.source) as source,
    cast(coalesce(looked_at.captures, 0) as bigint) as captures,
    cast(coalesce(looked_at.seen, 0) as bigint) as seen,
    cast(coalesce(looked_at.refused, 0) as bigint) as refused,
    heard.last_event,
    cast({{ as_of() }} - cast(heard.last_event as date) as bigint) as silent_days
from looked_at
full outer join heard on looked_at.source = heard.source
