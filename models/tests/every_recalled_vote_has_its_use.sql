-- Votes and usage look at the same showings: a vote of a family that usage does not list rests on nothing.
select votes.learning_id, votes.family_id
from {{ ref('votes') }} as votes
left join {{ ref('usage') }} as usage
    on votes.learning_id = usage.learning_id and votes.family_id = usage.family_id
where votes.recalled and usage.family_id is null
