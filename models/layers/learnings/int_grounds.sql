-- What speaks for or against a learning holding when it is used, each with its weight and the time from which it counts.
-- The prior of its trust is not among them.
--   strong   moves belief: a person's word; the learning's own error mended or met again after it was shown, whatever the
--            agent said of it; each further independent witness (`nth` of them, in the order they spoke)
--   weak     moves the mean within `weak_votes_bound` and nothing else: what agents and authors used or refuted, and
--            what became of sessions where only the agent's word says that it was used
-- An outcome is that of a family, once. Bots weigh nothing.
with sources as (
    select distinct learning_id, family_id from {{ ref('int_evidence') }}
),

words as (
    select
        stances.learning_id,
        stances.stance = 'endorse' as is_for,
        stances.stance = 'endorse' and stances.voter_class <> 'human' as is_weak,
        case
            when stances.stance = 'dispute' then {{ voter_weight("'human'") }}
            else {{ voter_weight('stances.voter_class') }}
        end as weight,
        stances.from_ts,
        stances.until_ts
    from {{ ref('int_stances') }} as stances
    left join sources on stances.learning_id = sources.learning_id and stances.family_id = sources.family_id
    where
        sources.family_id is null
        and (stances.voter_class in ('human', 'author') or (stances.stance = 'endorse' and stances.voter_class = 'agent'))
),

spoken as (
    select
        learning_id,
        min(ts) as from_ts,
        row_number() over (partition by learning_id order by min(ts), family) as nth
    from {{ ref('int_witnesses') }}
    where trust_basis = 'mechanical' or (actor_class = 'human' and trust_basis <> 'proposed')
    group by learning_id, family
)

select learning_id, 'word' as ground, is_for, is_weak, weight, cast(null as bigint) as nth, from_ts, until_ts
from words
union all
select learning_id, 'use' as ground, true, true, {{ voter_weight('voter_class') }}, null, ts, null
from {{ ref('votes') }}
where recalled and upvoted
union all
select learning_id, 'use' as ground, false, true, {{ voter_weight('voter_class') }}, null, acknowledged_at, null
from {{ ref('usage') }}
where refuted_by = 'agent' and voter_class <> 'bot'
union all
select
    learning_id,
    'outcome' as ground,
    outcome = 'held',
    outcome_basis not in ('error_recurred', 'error_fixed'),
    {{ outcome_weight('outcome_basis') }},
    null,
    outcome_at,
    null
from {{ ref('usage') }}
where
    voter_class <> 'bot'
    and (
        outcome_basis in ('error_recurred', 'error_fixed')
        or (outcome_basis is not null and verdict in ('explicit', 'acknowledged'))
    )
union all
select learning_id, 'witness' as ground, true, false, {{ var('witness_weight') }}, nth, from_ts, null
from spoken
where nth between 2 and {{ var('witnesses_counted') }}
