-- The instants, on both axes, at which the links of a component may turn out otherwise: a link was said, a learning of
-- it was restored, approved, reviewed at its source, found to be of risk, or met or left by a tombstone.
with members as (
    select component, older_id as learning_id from {{ ref('int_link_candidates') }}
    union
    select component, newer_id from {{ ref('int_link_candidates') }}
),

inputs as (
    select component, ts, kept from {{ ref('int_link_candidates') }}
    union
    select members.component, decisions.ts, decisions.first_kept
    from members
    inner join {{ ref('int_decisions') }} as decisions on members.learning_id = decisions.learning_id
    where decisions.decision in ('restore', 'approve')
    union
    select members.component, evidence.ts, evidence.first_kept
    from members
    inner join {{ ref('int_evidence') }} as evidence on members.learning_id = evidence.learning_id
    where evidence.trust_basis = 'reviewed' or len(evidence.risks) > 0
    union
    select members.component, met.ts, coalesce(kept.first_kept, cast('-infinity' as date))
    from members
    inner join {{ ref('int_tombstoned') }} as met on members.learning_id = met.learning_id and met.match = 'exact'
    left join {{ ref('int_kept') }} as kept on met.decision_id = kept.evidence
    union
    select members.component, met.lifted_ts, kept.first_kept
    from members
    inner join {{ ref('int_tombstoned') }} as met on members.learning_id = met.learning_id and met.match = 'exact'
    inner join {{ ref('int_kept') }} as kept on met.lifted_by = kept.evidence
)

select
    component,
    known,
    ts,
    anchor,
    not anchor and row_number() over (partition by component order by anchor, known desc, ts desc) = 1 as tonight,
    row_number() over (order by component, known, ts) as instant
from ({{ known_grid('inputs', 'component') }})
