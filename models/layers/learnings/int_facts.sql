-- What was so at each moment of a learning, as the inputs of its trust and state. Facts only: the rules that weigh them
-- stand in int_standing.
with moments as (
    select learning_id, known, ts, anchor from {{ ref('int_moments') }}
),

-- What of the evidence had been taken away by then, and what a revert spoke against.
lost as (
    select
        moments.learning_id,
        moments.known,
        moments.ts,
        gone.signal_id,
        max(gone.ts) as gone_ts,
        bool_or(gone.by_person) as by_person,
        max(gone.ts) filter (gone.by_person) as gone_by_person_ts,
        bool_or(gone.reason = 'message_deleted') as message
    from moments
    inner join {{ ref('int_gone') }} as gone
        on moments.learning_id = gone.learning_id and gone.ts <= moments.ts and gone.kept <= moments.known
    group by moments.learning_id, moments.known, moments.ts, gone.signal_id
),

reverted as (
    select distinct moments.learning_id, moments.known, moments.ts, reverted.signal_id
    from moments
    inner join {{ ref('int_reverted') }} as reverted
        on moments.learning_id = reverted.learning_id and reverted.ts <= moments.ts and reverted.kept <= moments.known
),

evidence as (
    select
        moments.learning_id,
        moments.known,
        moments.ts,
        max(evidence.ts) as last_said,
        max(evidence.first_kept) as last_kept,
        max(greatest(cast(evidence.ts as date), evidence.first_kept)) as last_heard,
        bool_or(evidence.trust_basis = 'reviewed') as reviewed_at_source,
        coalesce(
            min({{ trust_rank('evidence.trust_basis') }}) filter (not coalesce(lost.message, false)),
            min({{ trust_rank('evidence.trust_basis') }})
        ) as best_rank,
        bool_or(len(evidence.risks) > 0) as risky,
        -- A document is gone for a learning when it was deleted after the last words the learning has from it.
        bool_and(lost.gone_ts is not null) filter (evidence.document is not null) as documents_gone,
        bool_and(coalesce(lost.by_person, false)) filter (evidence.document is not null) as documents_gone_by_person,
        bool_and(lost.gone_ts is not null) and bool_or(coalesce(lost.message, false)) as messages_gone,
        max(lost.gone_ts) as last_deleted,
        max(lost.gone_by_person_ts) as last_deleted_by_person
    from moments
    inner join {{ ref('int_evidence') }} as evidence
        on moments.learning_id = evidence.learning_id
        and evidence.ts <= moments.ts
        and evidence.first_kept <= moments.known
    left join lost
        on moments.learning_id = lost.learning_id
        and moments.known = lost.known
        and moments.ts = lost.ts
        and evidence.signal_id = lost.signal_id
    group by moments.learning_id, moments.known, moments.ts
),

witnesses as (
    select
        moments.learning_id,
        moments.known,
        moments.ts,
        {{ distinct_people("actor_class = 'human' and trust_basis in ('reviewed', 'corroborated', 'stated')") }}
            as stated_people,
        count(distinct family) filter (
            actor_class = 'human' and trust_basis in ('reviewed', 'corroborated', 'stated')
        ) as stated_families,
        count(distinct family) filter (
            trust_basis = 'mechanical' and reverted.signal_id is null
        ) as mechanical_families,
        count(distinct family) filter (
            trust_basis = 'mechanical' and reverted.signal_id is not null
        ) as reverted_families
    from moments
    inner join {{ ref('int_witnesses') }} as witnesses
        on moments.learning_id = witnesses.learning_id and witnesses.ts <= moments.ts
    inner join {{ ref('int_kept') }} as kept
        on witnesses.signal_id = kept.evidence and kept.first_kept <= moments.known
    left join lost
        on moments.learning_id = lost.learning_id
        and moments.known = lost.known
        and moments.ts = lost.ts
        and witnesses.signal_id = lost.signal_id
    left join reverted
        on moments.learning_id = reverted.learning_id
        and moments.known = reverted.known
        and moments.ts = reverted.ts
        and witnesses.signal_id = reverted.signal_id
    where not coalesce(lost.message, false)
    group by moments.learning_id, moments.known, moments.ts
),

texts as (
    select
        moments.learning_id, moments.known, moments.ts,
        texts.title, texts.kind, texts.text_sha256, texts.prior_sha256, texts.decision_id
    from moments
    inner join {{ ref('int_texts') }} as texts
        on moments.learning_id = texts.learning_id
        and texts.from_ts <= moments.ts
        and texts.known_from <= moments.known
        and (texts.known_to is null or texts.known_to > moments.known)
    qualify row_number() over (
        partition by moments.learning_id, moments.known, moments.ts order by texts.version desc
    ) = 1
),

decisions as (
    select
        texts.learning_id,
        texts.known,
        texts.ts,
        max(decisions.ts) as last_decided,
        max(decisions.ts) filter (decisions.decision = 'retire') as last_retired,
        max(decisions.ts) filter (decisions.decision = 'restore') as last_restored,
        max(decisions.ts) filter (decisions.decision in ('approve', 'edit', 'endorse', 'restore')) as last_supported,
        max(decisions.ts) filter (decisions.revalidate_by > cast(decisions.ts as date)) as last_dated,
        arg_max(decisions.revalidate_by, (decisions.ts, decisions.decision_id)) filter (
            decisions.revalidate_by > cast(decisions.ts as date)
        ) as dated,
        bool_or(decisions.decision = 'approve') as ever_approved,
        bool_or(
            decisions.decision = 'approve'
            and {{ approval_holds('decisions', 'texts') }}
        ) as approved
    from texts
    inner join {{ ref('int_decisions') }} as decisions
        on texts.learning_id = decisions.learning_id
        and decisions.ts <= texts.ts
        and decisions.first_kept <= texts.known
    group by texts.learning_id, texts.known, texts.ts
),

tombstones as (
    select
        moments.learning_id,
        moments.known,
        moments.ts,
        case
            when bool_or(met.match = 'exact' and met.reason = 'forgotten') then 'forgotten'
            when bool_or(met.match = 'exact') then 'rejected'
        end as tombstone,
        bool_or(met.match = 'near') as near_tombstone
    from moments
    inner join {{ ref('int_tombstoned') }} as met
        on moments.learning_id = met.learning_id and met.ts <= moments.ts
    left join {{ ref('int_kept') }} as kept on met.decision_id = kept.evidence
    left join {{ ref('int_kept') }} as lift on met.lifted_by = lift.evidence
    where
        (kept.first_kept is null or kept.first_kept <= moments.known)
        and (met.lifted_ts is null or met.lifted_ts > moments.ts or lift.first_kept > moments.known)
    group by moments.learning_id, moments.known, moments.ts
),

voices as (
    select moments.learning_id, moments.known, moments.ts, stances.stance, stances.voter_class, stances.from_ts
    from moments
    inner join {{ ref('int_stances') }} as stances
        on moments.learning_id = stances.learning_id and stances.from_ts <= moments.ts
    inner join {{ ref('int_kept') }} as kept
        on stances.decision_id = kept.evidence and kept.first_kept <= moments.known
    qualify row_number() over (
        partition by moments.learning_id, moments.known, moments.ts, stances.voter
        order by stances.from_ts desc, stances.decision_id desc
    ) = 1
),

-- Who brought a learning back has heard what was said against it until then.
stances as (
    select
        voices.learning_id,
        voices.known,
        voices.ts,
        count(*) filter (voices.stance = 'dispute' and voices.voter_class in ('human', 'author')) as disputes,
        count(*) filter (voices.stance = 'dispute' and voices.voter_class = 'author') as taken_back,
        count(*) filter (voices.stance = 'endorse' and voices.voter_class = 'human') as endorsements
    from voices
    left join decisions
        on voices.learning_id = decisions.learning_id
        and voices.known = decisions.known
        and voices.ts = decisions.ts
    where
        voices.stance = 'endorse'
        or decisions.last_restored is null
        or voices.from_ts > decisions.last_restored
    group by voices.learning_id, voices.known, voices.ts
),

facts as (
    select
        moments.learning_id,
        moments.known,
        moments.ts,
        moments.anchor,
        texts.title,
        texts.text_sha256,
        tombstones.tombstone,
        coalesce(
            decisions.last_retired >= coalesce(decisions.last_restored, cast('-infinity' as timestamp)), false
        ) as retired,
        replaced.superseded_by,
        replaced.superseded_by is not null as superseded,
        coalesce(stances.disputes, 0) as disputes,
        coalesce(stances.taken_back, 0) as taken_back,
        coalesce(stances.endorsements, 0) as endorsements,
        coalesce(tombstones.near_tombstone, false) as near_tombstone,
        coalesce(decisions.approved, false) as approved,
        coalesce(decisions.ever_approved, false) as ever_approved,
        evidence.reviewed_at_source,
        {{ trust_names() }}[evidence.best_rank] as best_basis,
        coalesce(witnesses.stated_people, 0) as stated_people,
        coalesce(witnesses.stated_families, 0) as stated_families,
        coalesce(witnesses.mechanical_families, 0) as mechanical_families,
        coalesce(witnesses.reverted_families, 0) as reverted_families,
        evidence.risky,
        -- What is imported may be years old: nobody was silent about it before the lake had it.
        greatest(
            0,
            least(cast(moments.ts as date), {{ as_of() }}) - greatest(
                cast(greatest(evidence.last_said, coalesce(decisions.last_decided, evidence.last_said)) as date),
                evidence.last_kept
            )
        ) as silent_days,
        coalesce(evidence.documents_gone, false)
        and evidence.last_deleted > evidence.last_said
        and evidence.last_deleted >= coalesce(decisions.last_restored, cast('-infinity' as timestamp))
            as documents_gone,
        coalesce(evidence.documents_gone_by_person, false)
        and coalesce(evidence.last_deleted_by_person > evidence.last_said, false)
        and evidence.last_deleted_by_person >= coalesce(decisions.last_restored, cast('-infinity' as timestamp))
            as documents_gone_by_person,
        evidence.messages_gone
        and evidence.last_deleted >= coalesce(decisions.last_restored, cast('-infinity' as timestamp))
            as message_deleted,
        -- The date a person set holds until somebody supports the item after it was set; else its kind has one.
        case
            when decisions.last_dated >= greatest(
                evidence.last_said, coalesce(decisions.last_supported, evidence.last_said)
            ) then decisions.dated
            else greatest(
                evidence.last_heard, coalesce(cast(decisions.last_supported as date), evidence.last_heard)
            ) + {{ revalidate_days('texts.kind') }}
        end as revalidate_by
    from moments
    inner join evidence
        on moments.learning_id = evidence.learning_id
        and moments.known = evidence.known
        and moments.ts = evidence.ts
    inner join texts
        on moments.learning_id = texts.learning_id and moments.known = texts.known and moments.ts = texts.ts
    left join witnesses
        on moments.learning_id = witnesses.learning_id
        and moments.known = witnesses.known
        and moments.ts = witnesses.ts
    left join decisions
        on moments.learning_id = decisions.learning_id
        and moments.known = decisions.known
        and moments.ts = decisions.ts
    left join tombstones
        on moments.learning_id = tombstones.learning_id
        and moments.known = tombstones.known
        and moments.ts = tombstones.ts
    left join stances
        on moments.learning_id = stances.learning_id
        and moments.known = stances.known
        and moments.ts = stances.ts
    left join {{ ref('int_replaced') }} as replaced
        on moments.learning_id = replaced.learning_id and {{ holds_at('replaced', 'moments.ts', 'moments.known') }}
)

-- What a person approved is not put away by a machine: an agent's archive_learning asks for a look, no more.
select
    * exclude (documents_gone, documents_gone_by_person),
    documents_gone_by_person or (documents_gone and not approved) as document_deleted,
    documents_gone and approved and not documents_gone_by_person as source_gone,
    coalesce(
        revalidate_by < least(cast(ts as date), {{ as_of() }}), false
    ) as overdue
from facts
