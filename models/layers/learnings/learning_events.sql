-- The audit log: every moment at which state or its reason changed, with who did it and on what evidence. It tells how
-- the learning stood by today's rules, as all is known tonight; what was known on a day is in learning_versions, what
-- was served on it in history.
with changes as (
    select
        *,
        lag(state) over by_time as from_state,
        lag(state_reason) over by_time as from_reason
    from {{ ref('int_standing') }}
    where current
    window by_time as (partition by learning_id order by ts)
)

select
    changes.learning_id,
    changes.ts,
    changes.from_state,
    changes.state as to_state,
    changes.state_reason as reason,
    case
        when changes.state_reason in ('silent', 'revalidate_by', 'corroborated') then 'rule' else moments.actor
    end as actor,
    moments.evidence
from changes
inner join {{ ref('int_moments') }} as moments
    on changes.learning_id = moments.learning_id and changes.known = moments.known and changes.ts = moments.ts
where
    changes.from_state is null
    or changes.from_state <> changes.state
    or changes.from_reason <> changes.state_reason
