-- Each entry starts from the state the one before ended in; the first starts from nothing.
select learning_id, ts
from (
    select *, lag(to_state) over (partition by learning_id order by ts) as before
    from {{ ref('learning_events') }}
)
where from_state is distinct from before
