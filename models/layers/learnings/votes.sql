-- Who used or judged a learning. A session family gives one vote at most, to the person it was first shown to, and
-- only if the learning was both shown and cited there; a learning's own source families give none; an author's other
-- sessions count once a day. A person's word in the ledger is a vote of its own. What a bot does is listed, never counted.
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
    where act = 'shown'
    qualify row_number() over (partition by learning_id, family_id order by ts, exposure_id) = 1
),

used as (
    select
        shown_to.learning_id,
        shown_to.person as voter,
        shown_to.family_id,
        {{ voter_class('max(machines.kind)', 'bool_or(authors.actor is not null)', 'agent') }} as voter_class,
        bool_or(exposed.act = 'cited') as cited,
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
)

select
    learning_id,
    voter,
    family_id,
    voter_class,
    true as recalled,
    cited and voter_class <> 'bot' and (voter_class <> 'author' or nth_of_day = 1) as upvoted,
    false as refuted,
    ts
from counted
union all
select
    learning_id,
    voter,
    decision_id as family_id,
    voter_class,
    false as recalled,
    stance = 'endorse' and voter_class <> 'bot' as upvoted,
    stance = 'dispute' and voter_class in ('human', 'author') as refuted,
    from_ts as ts
from {{ ref('int_stances') }}
where until_ts is null
