-- A use counts only where the item was shown; else it is text somebody typed. People's decisions need no showing.
select votes.learning_id, votes.voter, votes.family_id
from {{ ref('votes') }} as votes
where
    votes.upvoted
    and not exists (
        select 1 from {{ ref('int_stances') }} as stances
        where stances.decision_id = votes.family_id and stances.stance = 'endorse'
    )
    and (
        select count(distinct exposures.act in ('shown', 'opened'))
        from {{ ref('stg_exposures') }} as exposures
        inner join {{ ref('int_aliases') }} as aliases on exposures.claim_id = aliases.reference
        where
            aliases.learning_id = votes.learning_id
            and exposures.family_id = votes.family_id
            and (exposures.act <> 'confirmed' or exposures.verdict = 'applying')
    ) < 2
