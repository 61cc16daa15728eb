-- The rules: trust and state of a learning at each of its moments. `tonight` is the last one, as all is known; `current`
-- are those that lead to it. There is no other place that decides a state: the audit log, the versions and the table of
-- learnings read this.
with trusted as (
    select *, {{ trust_of() }} as trust
    from {{ ref('int_facts') }}
),

reasoned as (
    select *, {{ standing_reason() }} as standing_reason
    from trusted
),

stated as (
    select *, {{ expired_reason('standing_reason') }} as reason
    from reasoned
)

select
    learning_id,
    known,
    ts,
    anchor,
    trust,
    {{ state_for('reason') }} as state,
    reason as state_reason,
    title,
    text_sha256,
    superseded_by,
    revalidate_by,
    disputes > endorsements as disputed,
    near_tombstone,
    ever_approved and trust <> 'reviewed' as text_changed,
    source_gone,
    not anchor
    and row_number() over (partition by learning_id, ts order by anchor, known desc) = 1 as current,
    not anchor
    and row_number() over (partition by learning_id order by anchor, known desc, ts desc) = 1 as tonight
from stated
