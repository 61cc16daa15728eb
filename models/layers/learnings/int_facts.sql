-- What was so at each moment of a learning, as the inputs of its trust and state. Facts only: the rules that weigh them
-- stand in int_standing.
with moments as (
    select learning_id, ts from {{ ref('int_moments') }}
),

evidence as (
    select
        moments.learning_id,
        moments.ts,
        max(evidence.ts) as last_said,
        max(evidence.first_kept) as last_kept,
        bool_or(evidence.trust_basis = 'reviewed') as reviewed_at_source,
        min({{ trust_rank('evidence.trust_basis') }}) as best_rank,
        bool_or(len(evidence.risks) > 0) as risky
    from moments
    inner join {{ ref('int_evidence') }} as evidence
        on moments.learning_id = evidence.learning_id and evidence.ts <= moments.ts
    group by moments.learning_id, moments.ts
),

witnesses as (
    select
        moments.learning_id,
        moments.ts,
        {{ distinct_people("actor_class = 'human' and trust_basis in ('reviewed', 'corroborated', 'stated')") }}
            as stated_people,
        count(distinct family) filter (
            actor_class = 'human' and trust_basis in ('reviewed', 'corroborated', 'stated')
        ) as stated_families,
        count(distinct family) filter (trust_basis = 'mechanical') as mechanical_families
    from moments
    inner join {{ ref('int_witnesses') }} as witnesses
        on moments.learning_id = witnesses.learning_id and witnesses.ts <= moments.ts
    group by moments.learning_id, moments.ts
),

texts as (
    select moments.learning_id, moments.ts, texts.text_sha256, texts.prior_sha256, texts.decision_id
    from moments
    inner join {{ ref('int_texts') }} as texts
        on moments.learning_id = texts.learning_id and texts.from_ts <= moments.ts
    qualify row_number() over (partition by moments.learning_id, moments.ts order by texts.version desc) = 1
),

-- An approval holds for the text it was made on, or for the new text it brought over the text it was made on.
decisions as (
    select
        texts.learning_id,
        texts.ts,
        max(decisions.ts) as last_decided,
        max(decisions.ts) filter (decisions.decision = 'retire') as last_retired,
        max(decisions.ts) filter (decisions.decision = 'restore') as last_restored,
        bool_or(decisions.decision = 'approve') as ever_approved,
        bool_or(
            decisions.decision = 'approve'
            and (
                decisions.decided_on_sha256 = texts.text_sha256
                or (
                    decisions.decision_id = texts.decision_id
                    and decisions.decided_on_sha256 = texts.prior_sha256
                )
            )
        ) as approved
    from texts
    inner join {{ ref('int_decisions') }} as decisions
        on texts.learning_id = decisions.learning_id and decisions.ts <= texts.ts
    group by texts.learning_id, texts.ts
),

tombstones as (
    select
        moments.learning_id,
        moments.ts,
        case
            when bool_or(met.match = 'exact' and met.reason = 'forgotten') then 'forgotten'
            when bool_or(met.match = 'exact') then 'rejected'
        end as tombstone,
        bool_or(met.match = 'near') as near_tombstone
    from moments
    inner join {{ ref('int_tombstoned') }} as met
        on moments.learning_id = met.learning_id
        and met.ts <= moments.ts
        and (met.lifted_ts is null or met.lifted_ts > moments.ts)
    group by moments.learning_id, moments.ts
),

stances as (
    select
        moments.learning_id,
        moments.ts,
        count(*) filter (stances.stance = 'dispute' and stances.voter_class in ('human', 'author')) as disputes,
        count(*) filter (stances.stance = 'endorse' and stances.voter_class = 'human') as endorsements
    from moments
    inner join {{ ref('int_stances') }} as stances
        on moments.learning_id = stances.learning_id
        and stances.from_ts <= moments.ts
        and (stances.until_ts is null or stances.until_ts > moments.ts)
    group by moments.learning_id, moments.ts
),

-- A document is gone for a learning when it was deleted after the last words the learning has from it.
documents as (
    select
        moments.learning_id,
        moments.ts,
        evidence.unit_id,
        max(deletions.ts) filter (deletions.ts <= moments.ts) as deleted,
        max(evidence.ts) as last_said
    from moments
    inner join {{ ref('int_evidence') }} as evidence
        on moments.learning_id = evidence.learning_id and evidence.ts <= moments.ts
    left join {{ ref('stg_events') }} as deletions
        on evidence.unit_id = deletions.unit_id and deletions.kind = 'document_deleted'
    where evidence.document is not null
    group by moments.learning_id, moments.ts, evidence.unit_id
),

deletions as (
    select learning_id, ts, max(deleted) as last_deleted
    from documents
    group by learning_id, ts
    having bool_and(coalesce(deleted > last_said, false))
),

replaced as (
    select older_id as learning_id, min(ts) as from_ts
    from {{ ref('supersession') }}
    where status = 'applied'
    group by older_id
)

select
    moments.learning_id,
    moments.ts,
    tombstones.tombstone,
    coalesce(
        decisions.last_retired >= coalesce(decisions.last_restored, cast('-infinity' as timestamp)), false
    ) as retired,
    coalesce(
        deletions.last_deleted > evidence.last_said
        and deletions.last_deleted >= coalesce(decisions.last_restored, cast('-infinity' as timestamp)),
        false
    ) as document_deleted,
    coalesce(replaced.from_ts <= moments.ts, false) as superseded,
    coalesce(stances.disputes > stances.endorsements, false) as disputed,
    coalesce(tombstones.near_tombstone, false) as near_tombstone,
    coalesce(decisions.approved, false) as approved,
    coalesce(decisions.ever_approved, false) as ever_approved,
    evidence.reviewed_at_source,
    {{ trust_names() }}[evidence.best_rank] as best_basis,
    witnesses.stated_people,
    witnesses.stated_families,
    witnesses.mechanical_families,
    evidence.risky,
    -- What is imported may be years old: nobody was silent about it before the lake had it.
    greatest(
        0,
        least(cast(moments.ts as date), {{ as_of() }}) - greatest(
            cast(greatest(evidence.last_said, coalesce(decisions.last_decided, evidence.last_said)) as date),
            evidence.last_kept
        )
    ) as silent_days
from moments
inner join evidence on moments.learning_id = evidence.learning_id and moments.ts = evidence.ts
inner join witnesses on moments.learning_id = witnesses.learning_id and moments.ts = witnesses.ts
left join decisions on moments.learning_id = decisions.learning_id and moments.ts = decisions.ts
left join tombstones on moments.learning_id = tombstones.learning_id and moments.ts = tombstones.ts
left join stances on moments.learning_id = stances.learning_id and moments.ts = stances.ts
left join deletions on moments.learning_id = deletions.learning_id and moments.ts = deletions.ts
left join replaced on moments.learning_id = replaced.learning_id
