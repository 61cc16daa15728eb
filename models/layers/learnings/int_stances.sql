-- What each person says of a learning: in the ledger, or plainly to an agent whose session it was shown in before
-- (`memory_refuted`). One voice per person, the latest; earlier ones hold until then.
with authors as (
    select distinct learning_id, actor from {{ ref('int_evidence') }} where actor_class = 'human'
),

machines as (
    select person_id, max(kind) as kind from {{ ref('stg_people') }} where kind in ('agent', 'bot') group by person_id
),

said as (
    select learning_id, actor, decision_id, decision_id as family_id, decision as stance, ts
    from {{ ref('int_decisions') }}
    where decision in ('endorse', 'dispute') and learning_id is not null
    union all
    -- Several words of one person in one session are one voice: the last of them.
    select aliases.learning_id, signals.actor, signals.signal_id, signals.family_id, 'dispute' as stance, signals.ts
    from {{ ref('stg_signals') }} as signals
    inner join {{ ref('int_aliases') }} as aliases
        on json_extract_string(signals.payload, '$.seen.claim') = aliases.reference
    where
        signals.kind = 'memory_refuted'
        and signals.actor_class = 'human'
        and signals.quote_verified
        and json_extract_string(signals.payload, '$.seen.plain') = 'true'
        and exists (
            select 1
            from {{ ref('stg_exposures') }} as exposures
            inner join {{ ref('int_aliases') }} as shown on exposures.claim_id = shown.reference
            where
                shown.learning_id = aliases.learning_id
                and exposures.family_id = signals.family_id
                and exposures.act in ('shown', 'opened')
                and exposures.ts <= signals.ts
        )
    qualify row_number() over (
        partition by aliases.learning_id, signals.actor, signals.family_id order by signals.ts desc, signals.signal_id desc
    ) = 1
)

select
    said.learning_id,
    said.actor as voter,
    said.decision_id,
    said.family_id,
    {{ voter_class('machines.kind', 'authors.actor is not null', 'human') }} as voter_class,
    said.stance,
    said.ts as from_ts,
    lead(said.ts) over (partition by said.learning_id, said.actor order by said.ts, said.decision_id) as until_ts
from said
left join authors on said.learning_id = authors.learning_id and said.actor = authors.actor
left join machines on said.actor = machines.person_id
