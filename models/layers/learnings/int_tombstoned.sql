-- Which tombstones meet which learnings, from when, and until which restoration. A tombstone meets a learning exactly
-- if the decision names it, or one of its claims has the content key, or the clustering found it the same; a claim
-- near a tombstone in other words is held, not suppressed. A tombstone whose decision is not in the ledger still holds.
-- One that reaches a single audience meets that audience's learnings alone, also the one it names.
with decisions as (
    select decision_id, decision, learning_id, content_key, reach, actor, ts
    from {{ ref('int_decisions') }}
    where decision in ('reject', 'forget')
),

matches as (
    select learning_id, decision_id, 'exact' as match
    from decisions
    where learning_id is not null and reach = 'team'
    union
    select decisions.learning_id, decisions.decision_id, 'exact' as match
    from decisions
    inner join {{ ref('int_evidence') }} as evidence
        on decisions.learning_id = evidence.learning_id and decisions.reach = evidence.audience
    union
    select evidence.learning_id, decisions.decision_id, 'exact' as match
    from decisions
    inner join {{ ref('int_evidence') }} as evidence
        on decisions.content_key = evidence.content_key and decisions.reach in ('team', evidence.audience)
    union
    select learning_id, tombstone as decision_id, tombstone_match as match
    from {{ ref('int_evidence') }}
    where tombstone is not null and tombstone_match is not null
),

known as (
    select
        matches.learning_id,
        matches.decision_id,
        matches.match,
        case when decisions.decision = 'forget' then 'forgotten' else 'rejected' end as reason,
        coalesce(decisions.actor, 'rule') as actor,
        coalesce(decisions.ts, cast('-infinity' as timestamp)) as ts,
        decisions.learning_id as named_id,
        decisions.content_key
    from matches
    left join decisions on matches.decision_id = decisions.decision_id
),

lifts as (
    select
        known.learning_id,
        known.decision_id,
        known.match,
        restores.decision_id as lifted_by,
        restores.actor as lifted_actor,
        restores.ts as lifted_ts
    from known
    inner join {{ ref('int_decisions') }} as restores
        on restores.decision = 'restore'
        and restores.ts > known.ts
        and (
            restores.learning_id = known.learning_id
            or restores.learning_id = known.named_id
            or restores.content_key = known.content_key
        )
    qualify row_number() over (
        partition by known.learning_id, known.decision_id, known.match order by restores.ts, restores.decision_id
    ) = 1
)

select
    known.learning_id,
    known.decision_id,
    known.match,
    known.reason,
    known.actor,
    known.ts,
    lifts.lifted_by,
    lifts.lifted_actor,
    lifts.lifted_ts
from known
left join lifts
    on known.learning_id = lifts.learning_id
    and known.decision_id = lifts.decision_id
    and known.match = lifts.match
