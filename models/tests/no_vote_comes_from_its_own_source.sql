-- The session in which a learning was learned shows and cites it for nothing.
select votes.learning_id, votes.family_id
from {{ ref('votes') }} as votes
inner join {{ ref('learning_evidence') }} as evidence
    on votes.learning_id = evidence.learning_id and votes.family_id = evidence.family_id
