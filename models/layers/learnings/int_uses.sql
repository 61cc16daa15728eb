-- What became of a learning in one session family in which it was shown: one row, however often the session stopped, was
-- resumed or sent out sub-agents. Families that the learning itself comes from are no use of it, and what was
-- cited there without being shown is text that somebody typed. Of several confirmations the last one holds.
with authors as (
    select distinct learning_id, actor from {{ ref('int_evidence') }} where actor_class = 'human'
),

machines as (
    select person_id, max(kind) as kind from {{ ref('stg_people') }} where kind in ('agent', 'bot') group by person_id
),

sources as (
    select distinct learning_id, family_id from {{ ref('int_evidence') }}
),

exposed as (
    select
        aliases.learning_id,
        exposures.family_id,
        exposures.person,
        exposures.act,
        exposures.verdict,
        exposures.ts,
        exposures.exposure_id,
        exposures.act in ('shown', 'opened') as is_showing
    from {{ ref('stg_exposures') }} as exposures
    inner join {{ ref('int_aliases') }} as aliases on exposures.claim_id = aliases.reference
    left join sources on aliases.learning_id = sources.learning_id and exposures.family_id = sources.family_id
    where sources.family_id is null
),

shown_to as (
    select learning_id, family_id, person
    from exposed
    where is_showing
    qualify row_number() over (partition by learning_id, family_id order by ts, exposure_id) = 1
),

confirmed as (
    select learning_id, family_id, verdict
    from exposed
    where act = 'confirmed'
    qualify row_number() over (partition by learning_id, family_id order by ts desc, exposure_id desc) = 1
),

counted as (
    select
        learning_id,
        family_id,
        min(ts) filter (is_showing) as surfaced_at,
        count(*) filter (is_showing) as surfacings,
        min(ts) filter (not is_showing) as acknowledged_at,
        bool_or(act = 'cited' or (act = 'confirmed' and verdict = 'applying')) as used,
        max(ts) as ts
    from exposed
    group by learning_id, family_id
    having bool_or(is_showing)
)

select
    counted.learning_id,
    counted.family_id,
    shown_to.person,
    {{ voter_class('machines.kind', 'authors.actor is not null', 'agent') }} as voter_class,
    counted.surfaced_at,
    counted.surfacings,
    counted.acknowledged_at,
    counted.used,
    confirmed.verdict as confirmed,
    counted.ts
from counted
inner join shown_to on counted.learning_id = shown_to.learning_id and counted.family_id = shown_to.family_id
left join confirmed on counted.learning_id = confirmed.learning_id and counted.family_id = confirmed.family_id
left join authors on counted.learning_id = authors.learning_id and shown_to.person = authors.actor
left join machines on shown_to.person = machines.person_id
