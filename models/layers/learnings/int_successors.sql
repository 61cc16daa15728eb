-- What stands at the end of each chain of applied links. Where a learning was replaced by two, the later statement
-- leads on; an applied link always leads to something that stands, so every walk ends at one.
with recursive next_step as (
    select older_id, newer_id, ts, actor, evidence
    from {{ ref('supersession') }}
    where status = 'applied'
    qualify row_number() over (partition by older_id order by ts desc, newer_id desc, reason desc) = 1
),

walk(learning_id, at_id) as (
    select older_id, newer_id from next_step
    union
    select walk.learning_id, next_step.newer_id
    from walk
    inner join next_step on walk.at_id = next_step.older_id
)

select next_step.older_id as learning_id, walk.at_id as superseded_by, next_step.ts, next_step.actor, next_step.evidence
from walk
inner join next_step on walk.learning_id = next_step.older_id
where walk.at_id not in (select older_id from next_step)
