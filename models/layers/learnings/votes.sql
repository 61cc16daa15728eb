-- Who used or judged a learning. A session family gives one vote at most, to the person it was first shown to, and
-- only if the learning was both shown and used there: cited, or confirmed as applying to a memory that asks, and not called
-- refuted in the end. A learning's own source families give none; an author's other sessions count once a day. A person's
-- word is a vote of its own, of the family it was said in where it was said to an agent: there it outweighs what the
-- agent used. Said in a source family it is no vote, but it disputes all the same: whoever takes back what was just
-- learned must be heard, and states follow int_stances, not votes. What a bot does is listed, never counted, and an agent
-- that calls a learning refuted refutes nothing. A vote stays when its voter leaves; it goes when their records do.
with used as (
    select
        learning_id,
        person as voter,
        family_id,
        voter_class,
        used and coalesce(confirmed, '') <> 'refuted' as cited,
        ts
    from {{ ref('int_uses') }}
),

counted as (
    select
        *,
        row_number() over (
            partition by learning_id, voter, cast(ts as date), cited order by ts, family_id
        ) as nth_of_day
    from used
),

sources as (
    select distinct learning_id, family_id from {{ ref('int_evidence') }}
),

stances as (
    select stances.*
    from {{ ref('int_stances') }} as stances
    left join sources on stances.learning_id = sources.learning_id and stances.family_id = sources.family_id
    where stances.until_ts is null and sources.family_id is null
)

select
    counted.learning_id,
    counted.voter,
    counted.family_id,
    coalesce(stances.voter_class, counted.voter_class) as voter_class,
    true as recalled,
    counted.cited
    and counted.voter_class <> 'bot'
    and (counted.voter_class <> 'author' or counted.nth_of_day = 1)
    and stances.learning_id is null as upvoted,
    coalesce(stances.voter_class in ('human', 'author'), false) as refuted,
    greatest(counted.ts, stances.from_ts) as ts
from counted
left join stances
    on counted.learning_id = stances.learning_id
    and counted.voter = stances.voter
    and counted.family_id = stances.family_id
union all
select
    stances.learning_id,
    stances.voter,
    stances.family_id,
    stances.voter_class,
    false as recalled,
    stances.stance = 'endorse' and stances.voter_class <> 'bot' as upvoted,
    stances.stance = 'dispute' and stances.voter_class in ('human', 'author') as refuted,
    stances.from_ts as ts
from stances
left join counted
    on stances.learning_id = counted.learning_id
    and stances.voter = counted.voter
    and stances.family_id = counted.family_id
where counted.learning_id is null
