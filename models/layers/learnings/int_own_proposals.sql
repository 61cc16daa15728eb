-- Decisions by the person who proposed the item: everything said for it until then is theirs, or came up in their
-- sessions. Nobody lends weight to their own proposal (approve, pin), and nobody brings back what somebody else took
-- away. A team with one listed reviewer has nobody else: theirs count, and are marked.
with reviewers as (
    select count(distinct person_id) as listed
    from {{ ref('stg_people') }}
    where is_reviewer and kind = 'human' and not starts_with(person_id, 'erased:')
),

named as (
    select ledger.decision_id, ledger.decision, ledger.actor, ledger.ts, aliases.learning_id
    from {{ ref('stg_ledger') }} as ledger
    inner join {{ ref('int_aliases') }} as aliases on ledger.claim_id = aliases.reference
    where
        ledger.verdict = 'applies'
        and ledger.decision in ('approve', 'pin', 'restore', 'reject', 'forget', 'retire')
),

proposers as (
    select
        evidence.learning_id,
        evidence.ts,
        case when evidence.actor_class = 'human' then evidence.actor else coalesce(sessions.person, evidence.actor) end as person
    from {{ ref('int_evidence') }} as evidence
    left join {{ ref('stg_sessions') }} as sessions on evidence.unit_id = sessions.unit_id
),

own as (
    select named.decision_id, named.decision, named.actor, named.ts, named.learning_id
    from named
    inner join proposers on named.learning_id = proposers.learning_id and proposers.ts <= named.ts
    where named.decision in ('approve', 'pin', 'restore')
    group by all
    having bool_and(proposers.person = named.actor)
),

taken_by_others as (
    select distinct own.decision_id
    from own
    inner join named as removals
        on own.learning_id = removals.learning_id
        and removals.decision in ('reject', 'forget', 'retire')
        and removals.ts < own.ts
        and removals.actor <> own.actor
)

select own.decision_id, reviewers.listed > 1 as is_refused
from own
cross join reviewers
left join taken_by_others on own.decision_id = taken_by_others.decision_id
where own.decision <> 'restore' or taken_by_others.decision_id is not null
