-- Whether a source still speaks and can still be read. A green run over a store that has moved looks like no news; what
-- tells them apart is how often the source used to speak, and how much of it was refused.
{%- set policy = "'" ~ var('refused_by_policy') | join("', '") ~ "'" %}
{%- set quiet = "'" ~ var('quiet_by_nature') | join("', '") ~ "'" %}
with looked_at as (
    select source, count(*) as captures, sum(seen) as seen, sum(refused) as refused
    from {{ ref('stg_intake') }}
    group by source
),

unread_by_rule as (
    select intake.source, entry.key as rule, sum(cast(entry.value as bigint)) as n
    from {{ ref('stg_intake') }} as intake, json_each(intake.reasons) as entry
    where entry.key not in ({{ policy }})
    group by all
),

unread as (
    select source, sum(n) as n, max_by(rule, row(n, rule)) as rule
    from unread_by_rule
    group by source
),

heard as (
    select source, max(ts) as last_event
    from {{ ref('stg_events') }}
    where cast(ts as date) <= {{ as_of() }}
    group by source
),

days as (
    select distinct source, cast(ts as date) as day
    from {{ ref('stg_events') }}
    where cast(ts as date) <= {{ as_of() }}
),

recent as (
    select source, day
    from days
    qualify day > max(day) over (partition by source) - 28
),

pauses as (
    select source, day - lag(day) over (partition by source order by day) as pause
    from recent
),

usual as (
    select source, count(*) as days, max(pause) as gap
    from pauses
    group by source
),

told as (
    select
        coalesce(looked_at.source, heard.source) as source,
        cast(coalesce(looked_at.captures, 0) as bigint) as captures,
        cast(coalesce(looked_at.seen, 0) as bigint) as seen,
        cast(coalesce(looked_at.refused, 0) as bigint) as refused,
        heard.last_event,
        cast({{ as_of() }} - cast(heard.last_event as date) as bigint) as silent_days
    from looked_at
    full outer join heard on looked_at.source = heard.source
),

judged as (
    select
        told.*,
        cast(usual.gap as bigint) as usual_gap_days,
        coalesce(unread.n, 0) as unread,
        unread.rule,
        case
            when told.source = 'unknown' then 'degraded'
            when unread.n > {{ var('failed_share') }} * told.seen then 'failed'
            when
                told.source not in ({{ quiet }})
                and usual.days >= 3
                and told.silent_days > greatest({{ var('silent_after_days') }}, {{ var('silent_gap_factor') }} * usual.gap)
                then 'silent'
            when unread.n > {{ var('degraded_share') }} * told.seen then 'degraded'
            else 'fine'
        end as status
    from told
    left join usual on told.source = usual.source
    left join unread on told.source = unread.source
)

select
    source,
    captures,
    seen,
    refused,
    last_event,
    silent_days,
    usual_gap_days,
    status,
    case
        when status = 'silent'
            then concat(
                'nothing for ', silent_days, ' days; before, it never paused longer than ', usual_gap_days,
                '. Has its store moved?'
            )
        when source = 'unknown' then concat(unread, ' files are of no known format or could not be read')
        when status in ('failed', 'degraded')
            then concat(unread, ' of ', seen, ' records could not be read, most as ', rule)
        else ''
    end as why
from judged
