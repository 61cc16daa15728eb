-- What may replace what between learnings, each with the day from which it was known (both sides and what says so) and
-- its component: the learnings that links hold together, named after the smallest.
with recursive said as (
    select claim_id, min(first_kept) as kept from {{ ref('int_evidence') }} group by claim_id
),

candidates as (
    select
        older.learning_id as older_id,
        newer.learning_id as newer_id,
        candidates.* exclude (older_id, newer_id),
        greatest(older_said.kept, newer_said.kept, coalesce(told.first_kept, older_said.kept)) as kept
    from {{ ref('stg_supersession_candidates') }} as candidates
    inner join {{ ref('int_aliases') }} as older on candidates.older_id = older.reference
    inner join {{ ref('int_aliases') }} as newer on candidates.newer_id = newer.reference
    inner join said as older_said on older.claim_id = older_said.claim_id
    inner join said as newer_said on newer.claim_id = newer_said.claim_id
    left join {{ ref('int_kept') }} as told on candidates.evidence = told.evidence
    where older.learning_id <> newer.learning_id
),

edges as (
    select older_id as one, newer_id as other from candidates
    union
    select newer_id, older_id from candidates
),

components(learning_id, component) using key (learning_id) as (
    select one, one from edges
    union
    select edges.other, min(components.component)
    from components
    inner join edges on components.learning_id = edges.one
    inner join recurring.components as known on edges.other = known.learning_id
    where components.component < known.component
    group by edges.other
)

select
    components.component,
    candidates.*,
    not candidates.partial and not candidates.ambiguous
    and candidates.reason in ('explicit', 'same_document', 'value_changed') as may_retire
from candidates
inner join components on candidates.older_id = components.learning_id
