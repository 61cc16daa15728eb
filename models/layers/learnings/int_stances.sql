-- What each person says of a learning in the ledger: one voice per person, the latest. Earlier ones hold until then.
with authors as (
    select distinct learning_id, actor from {{ ref('int_evidence') }} where actor_class = 'human'
),

machines as (
    select person_id, max(kind) as kind from {{ ref('stg_people') }} where kind in ('agent', 'bot') group by person_id
)

select
    decisions.learning_id,
    decisions.actor as voter,
    decisions.decision_id,
    {{ voter_class('machines.kind', 'authors.actor is not null', 'human') }} as voter_class,
    decisions.decision as stance,
    decisions.ts as from_ts,
    lead(decisions.ts) over (
        partition by decisions.learning_id, decisions.actor order by decisions.ts, decisions.decision_id
    ) as until_ts
from {{ ref('int_decisions') }} as decisions
left join authors on decisions.learning_id = authors.learning_id and decisions.actor = authors.actor
left join machines on decisions.actor = machines.person_id
where decisions.decision in ('endorse', 'dispute') and decisions.learning_id is not null
