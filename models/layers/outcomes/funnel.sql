-- How much of each source is left after each step. A learning belongs to the source of its served words, so that the
-- steps add up over sources; every source that was ever looked at has every step, with zero where nothing came so far.
with counts as (
    select source, 'seen' as step, sum(seen) as n from {{ ref('stg_intake') }} group by source
    union all
    select source, 'kept', sum(kept) from {{ ref('stg_intake') }} group by source
    union all
    select source, 'events', count(*) from {{ ref('stg_events') }} group by source
    union all
    select {{ source_of('unit_id') }}, 'signals', count(*) from {{ ref('stg_signals') }} group by all
    union all
    select {{ source_of('signals.unit_id') }}, 'admitted', count(*)
    from {{ ref('stg_signals') }} as signals
    inner join {{ ref('stg_admissions') }} as admissions on signals.signal_id = admissions.signal_id
    where admissions.admitted
    group by all
    union all
    select {{ source_of('evidence.unit_id') }}, 'learnings', count(*)
    from {{ ref('int_evidence') }} as evidence
    where evidence.serves
    group by all
    union all
    select {{ source_of('evidence.unit_id') }}, 'active', count(*)
    from {{ ref('int_evidence') }} as evidence
    inner join {{ ref('learnings') }} as learnings on evidence.learning_id = learnings.learning_id
    where evidence.serves and learnings.state = 'active'
    group by all
),

steps(step, position) as (
    values ('seen', 1), ('kept', 2), ('events', 3), ('signals', 4), ('admitted', 5), ('learnings', 6), ('active', 7)
)

select
    sources.source,
    steps.step,
    cast(steps.position as bigint) as position,
    cast(coalesce(counts.n, 0) as bigint) as "rows"
from (select distinct source from counts) as sources
cross join steps
left join counts on sources.source = counts.source and steps.step = counts.step
