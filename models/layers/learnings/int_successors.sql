-- What stands at the end of each chain of applied links, at each instant. Where a learning was replaced by two, the later
-- statement leads on; an applied link always leads to something that stands, so every walk ends at one.
with recursive next_step as (
    select instant, older_id, newer_id, actor, evidence
    from {{ ref('int_links') }}
    where status = 'applied'
    qualify row_number() over (partition by instant, older_id order by ts desc, newer_id desc, reason desc) = 1
),

walk(instant, learning_id, at_id) as (
    select instant, older_id, newer_id from next_step
    union
    select walk.instant, walk.learning_id, next_step.newer_id
    from walk
    inner join next_step on walk.instant = next_step.instant and walk.at_id = next_step.older_id
)

select
    next_step.instant,
    next_step.older_id as learning_id,
    walk.at_id as superseded_by,
    next_step.actor,
    next_step.evidence
from walk
inner join next_step on walk.instant = next_step.instant and walk.learning_id = next_step.older_id
left join next_step as further on walk.instant = further.instant and walk.at_id = further.older_id
where further.instant is null
