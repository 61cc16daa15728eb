-- One learning as it stands tonight: the served words, where it stands and why, who is behind it, how far to believe it.
with behind as (
    select
        learning_id,
        {{ sorted_set('flatten(list(risks))') }} as risks,
        min(ts) as first_said,
        max(ts) as last_said,
        min(first_kept) as known_from
    from {{ ref('int_evidence') }}
    group by learning_id
),

-- Whose message was deleted has taken the words back, and counts no more.
witnesses as (
    select
        witnesses.learning_id,
        {{ distinct_people("actor_class = 'human' and not is_narrower") }} as people,
        {{ distinct_people("actor_class = 'human'") }} as all_people,
        count(distinct family) filter (not is_narrower) as families,
        count(distinct family) as all_families
    from {{ ref('int_witnesses') }} as witnesses
    left join (
        select distinct learning_id, signal_id from {{ ref('int_gone') }} where reason = 'message_deleted'
    ) as gone
        on witnesses.learning_id = gone.learning_id and witnesses.signal_id = gone.signal_id
    where gone.signal_id is null
    group by witnesses.learning_id
),

parts as (
    select older_id, list(newer_id || coalesce(': ' || part, '') order by newer_id, reason) as replaced_parts
    from {{ ref('supersession') }}
    where status = 'in_part'
    group by older_id
)

select
    standing.learning_id,
    standing.state,
    standing.state_reason,
    standing.trust,
    {{ served_kind('texts.kind', 'texts.severity', 'texts.not_when') }} as kind,
    texts.severity,
    texts.title,
    texts."when",
    texts."do",
    texts.because,
    texts.rejected,
    texts.not_when,
    texts.applies_to,
    texts.self_check,
    texts.tags,
    texts.inferred,
    canonical.project,
    canonical.audience,
    canonical.actor as said_by,
    coalesce(witnesses.people, 0) as people,
    coalesce(witnesses.families, 0) as families,
    coalesce(witnesses.all_people - witnesses.people, 0) as narrower_people,
    coalesce(witnesses.all_families - witnesses.families, 0) as narrower_families,
    confidence.confidence,
    confidence.confidence_low,
    confidence.confidence_high,
    behind.risks,
    texts.text_sha256,
    canonical.content_key,
    behind.first_said,
    behind.last_said,
    behind.known_from,
    standing.revalidate_by,
    case when standing.state = 'superseded' then standing.superseded_by end as superseded_by,
    coalesce(parts.replaced_parts, cast([] as varchar[])) as replaced_parts
from {{ ref('int_standing') }} as standing
inner join {{ ref('int_texts') }} as texts on standing.learning_id = texts.learning_id and texts.served
inner join {{ ref('int_evidence') }} as canonical
    on standing.learning_id = canonical.learning_id and canonical.serves
inner join behind on standing.learning_id = behind.learning_id
left join witnesses on standing.learning_id = witnesses.learning_id
inner join {{ ref('confidence') }} as confidence on standing.learning_id = confidence.learning_id
left join parts on standing.learning_id = parts.older_id
where standing.tonight
