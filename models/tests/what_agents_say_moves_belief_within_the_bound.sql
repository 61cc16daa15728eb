-- Agents rank what they are given; they do not convince. A digit more than the bound would be a vote that decides.
select learning_id, weak_shift
from {{ ref('confidence') }}
where abs(weak_shift) > {{ var('weak_votes_bound') }} + 1e-9
