-- Old and new text never appear together in an answer.
select supersession.older_id
from {{ ref('supersession') }} as supersession
inner join {{ ref('learnings') }} as learnings on supersession.older_id = learnings.learning_id
where supersession.status = 'applied' and learnings.state in ('active', 'candidate', 'expired')
