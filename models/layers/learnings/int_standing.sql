-- The rules: trust and state of a learning at each of its moments. `tonight` is the last one. There is no other place
-- that decides a state; the audit log and the table of learnings both read this.
with trusted as (
    select *, {{ trust_of() }} as trust
    from {{ ref('int_facts') }}
),

reasoned as (
    select *, {{ standing_reason() }} as reason
    from trusted
),

stated as (
    select *, {{ state_for('reason') }} as standing_state
    from reasoned
)

select
    learning_id,
    ts,
    trust,
    case
        when standing_state = 'candidate' and silent_days > {{ var('candidate_silent_days') }} then 'expired'
        else standing_state
    end as state,
    case
        when standing_state = 'candidate' and silent_days > {{ var('candidate_silent_days') }} then 'silent'
        else reason
    end as state_reason,
    disputed,
    near_tombstone,
    ever_approved and trust <> 'reviewed' as text_changed,
    row_number() over (partition by learning_id order by ts desc) = 1 as tonight
from stated
