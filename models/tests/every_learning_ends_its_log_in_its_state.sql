-- The log must explain the table: its last entry is the state and the reason a reader sees.
select learnings.learning_id
from {{ ref('learnings') }} as learnings
left join (
    select * from {{ ref('learning_events') }}
    qualify row_number() over (partition by learning_id order by ts desc) = 1
) as latest on learnings.learning_id = latest.learning_id
where latest.to_state is distinct from learnings.state or latest.reason is distinct from learnings.state_reason
