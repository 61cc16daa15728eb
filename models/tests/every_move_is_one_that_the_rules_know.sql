-- A state that was entered from where it cannot be, or for a reason that leads elsewhere, was decided by no rule.
select learning_id, ts, from_state, to_state, reason
from {{ ref('learning_events') }}
where concat(coalesce(from_state, ''), '>', to_state, ':', reason) not in ('{{ var("moves") | join("', '") }}')
