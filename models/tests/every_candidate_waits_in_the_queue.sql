-- What acts on nobody must at least be seen by somebody.
select learnings.learning_id
from {{ ref('learnings') }} as learnings
left join {{ ref('review_queue') }} as queue on learnings.learning_id = queue.learning_id
where learnings.state = 'candidate' and queue.learning_id is null
