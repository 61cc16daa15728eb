-- Who used or judged a learning. A session family gives one vote at most, to the person it was first shown to, and
-- only if the learning was both shown and used there: cited, or confirmed as applying to a memory that asks. A learning's
-- own source families give none; an author's other sessions count once a day. A person's word is a vote of its own, of
-- the family it was said in where it was said to an agent: there it outweighs what the agent used. Said in a source
-- family it is no vote, but it disputes all the same: whoever takes back what was just learned must be heard, and
-- states follow int_stances, not votes. What a bot does is listed, never counted, and an agent that calls a learning
-- refuted refutes nothing.
with authors as (
    select distinct learning_id, actor from {{ ref('int_evidence') }} where actor_class = 'human'
),

machines as (
    select person_id, max(kind) as kind from {{ ref('stg_people') }} where kind in ('agent', 'bot') group by person_id
),

exposed as (
    select aliases.learning_id, exposures.*
    from {{ ref('stg_exposures') }} as exposures
    inner join {{ ref('int_aliases') }} as aliases on exposures.claim_id = aliases.reference
    where not exists (
        select 1
        from {{ ref('int_evidence') }} as evidence
        where evidence.learning_id = aliases.learning_id and evidence.family_id = exposures.family_id
    )
),

shown_to as (
    select learning_id, family_id, person
    from exposed
    where act in ('shown', 'opened')
    qualify row_number() over (partition by learning_id, family_id order by ts, exposure_id) = 1
),

used as (
    select
        shown_to.learning_id,
        shown_to.person as voter,
        shown_to.family_id,
        {{ voter_class('max(machines.kind)', 'bool_or(authors.actor is not null)', 'agent') }} as voter_class,
        bool_or(exposed.act = 'cited' or (exposed.act = 'confirmed' and exposed.verdict = 'applying')) as cited,
        max(exposed.ts) as ts
    from shown_to
    inner join exposed
        on shown_to.learning_id = exposed.learning_id and shown_to.family_id = exposed.family_id
    left join authors on shown_to.learning_id = authors.learning_id and shown_to.person = authors.actor
    left join machines on shown_to.person = machines.person_id
    group by shown_to.learning_id, shown_to.person, shown_to.family_id
),

counted as (
    select
        *,
        row_number() over (
            partition by learning_id, voter, cast(ts as date), cited order by ts, family_id
        ) as nth_of_day
    from used
),

stances as (
    select stances.*
    from {{ ref('int_stances') }} as stances
    where
        stances.until_ts is null
        and not exists (
            select 1
            from {{ ref('int_evidence') }} as evidence
            where evidence.learning_id = stances.learning_id and evidence.family_id = stances.family_id
        )
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
where
    not exists (
        select 1
        from counted
        where
            counted.learning_id = stances.learning_id
            and counted.voter = stances.voter
            and counted.family_id = stances.family_id
    )
