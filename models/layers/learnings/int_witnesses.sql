-- Who and what speaks for a learning, with what is not independent folded: one row per learning and signal.
--   family   the session family; of a merge request the family of a session that made it, one of this learning's if
--            there is one; of documents their author, so that a version and its copy elsewhere are one
--   is_narrower   said to a narrower audience in the very words of one of the learning's claims. Such a row counts and
--            is never shown: no words, link or name of it goes on, and of its time only the day
with own as (
    select
        learning_id, signal_id, ts, actor, actor_class, trust_basis, family_id, unit_id, document,
        false as is_narrower
    from {{ ref('int_evidence') }}
),

wider as (
    select distinct learning_id, content_key, {{ audience_width('audience') }} as width
    from {{ ref('int_evidence') }}
),

narrower as (
    select distinct
        wider.learning_id,
        evidence.signal_id,
        cast(cast(evidence.ts as date) as timestamp) as ts,
        evidence.actor,
        evidence.actor_class,
        evidence.trust_basis,
        evidence.family_id,
        evidence.unit_id,
        evidence.document,
        true as is_narrower
    from {{ ref('int_evidence') }} as evidence
    inner join wider
        on evidence.content_key = wider.content_key and wider.width < {{ audience_width('evidence.audience') }}
),

witnesses as (
    select * from own
    union all
    select * from narrower
),

made as (
    select distinct joins.merge_request_id, sessions.family_id
    from {{ ref('stg_session_merge_requests') }} as joins
    inner join {{ ref('stg_sessions') }} as sessions on joins.session_id = sessions.unit_id
),

makers as (
    select
        requests.learning_id,
        requests.unit_id,
        coalesce(min(made.family_id) filter (present.family_id is not null), min(made.family_id)) as family_id
    from (select distinct learning_id, unit_id from witnesses) as requests
    inner join made on requests.unit_id = made.merge_request_id
    left join (select distinct learning_id, family_id from witnesses) as present
        on requests.learning_id = present.learning_id and made.family_id = present.family_id
    group by requests.learning_id, requests.unit_id
),

names as (
    select
        person_id,
        bool_or(source = 'slack' or regexp_full_match(alias, '[UW][A-Z0-9]{6,}')) as in_slack
    from {{ ref('stg_people') }}
    group by person_id
)

select
    witnesses.learning_id,
    witnesses.signal_id,
    witnesses.ts,
    witnesses.actor,
    witnesses.actor_class,
    witnesses.trust_basis,
    case
        when witnesses.document is not null then 'author:' || witnesses.actor
        else coalesce(makers.family_id, witnesses.family_id)
    end as family,
    case
        when starts_with(witnesses.actor, 'unknown:') then 'placeholder'
        when starts_with(witnesses.actor, 'slack:') then 'slack_only'
        when coalesce(names.in_slack, false) then 'known'
        else 'not_in_slack'
    end as known_as,
    witnesses.is_narrower
from witnesses
left join makers on witnesses.learning_id = makers.learning_id and witnesses.unit_id = makers.unit_id
left join names on witnesses.actor = names.person_id
