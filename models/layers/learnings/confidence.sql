-- How far a learning may be believed to hold when used: the mean of a Beta distribution that starts at the prior of
-- its trust and is moved by votes, each halved every half-life, so that without votes it returns to the prior.
-- The interval is the normal approximation of the Beta's (mean +- 1.96 standard deviations, cut at 0 and 1).
with weights as (
    select
        learning_id,
        sum({{ decayed(voter_weight('voter_class'), 'ts') }}) filter (
            upvoted and voter_class = 'human'
        ) as human_support,
        sum({{ decayed(voter_weight('voter_class'), 'ts') }}) filter (
            upvoted and voter_class in ('agent', 'author')
        ) as weak_support,
        sum({{ decayed(voter_weight("'human'"), 'ts') }}) filter (refuted) as against,
        count(*) filter (recalled and voter_class <> 'bot') as recalls,
        count(*) filter (upvoted) as upvotes,
        min({{ days_since('ts') }}) filter (recalled and voter_class <> 'bot') as days_since_recall
    from {{ ref('votes') }}
    group by learning_id
),

sides as (
    select
        standing.learning_id,
        cast({{ trust_prior('standing.trust', 0) }} + coalesce(weights.human_support, 0) as double) as support,
        cast({{ trust_prior('standing.trust', 1) }} + coalesce(weights.against, 0) as double) as against,
        cast(coalesce(weights.weak_support, 0) as double) as weak_support,
        weights.recalls,
        weights.upvotes,
        weights.days_since_recall
    from {{ ref('int_standing') }} as standing
    left join weights on standing.learning_id = weights.learning_id
    where standing.tonight
),

summed as (
    select
        learning_id,
        round(support + {{ bounded_weak('weak_support', 'support', '(support + against)') }}, 9) as support,
        round(against, 9) as against,
        case
            when recalls > 0 or upvotes > 0 then {{ teamai_formula('recalls', 'upvotes', 'days_since_recall') }}
        end as teamai_confidence
    from sides
),

moments as (
    select
        *,
        support / (support + against) as mean,
        sqrt(support * against / (pow(support + against, 2) * (support + against + 1))) as deviation
    from summed
)

select
    learning_id,
    support,
    against,
    round(mean, 9) as confidence,
    round(greatest(0.0::double, mean - 1.96::double * deviation), 9) as confidence_low,
    round(least(1.0::double, mean + 1.96::double * deviation), 9) as confidence_high,
    teamai_confidence
from moments
