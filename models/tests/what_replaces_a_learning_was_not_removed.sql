-- "Superseded" promises that something else says it better. If that was rejected or forgotten, the older one returns.
select learnings.learning_id, learnings.superseded_by
from {{ ref('learnings') }} as learnings
left join {{ ref('learnings') }} as newer on learnings.superseded_by = newer.learning_id
where learnings.state = 'superseded' and (newer.learning_id is null or newer.state in ('rejected', 'forgotten', 'superseded'))
