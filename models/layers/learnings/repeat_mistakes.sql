-- A scar or an anti-pattern was active and in scope, and its error came again in a session family it does not come from:
-- one row per learning, family and error, with whether it had been shown there before the last time.
-- In scope: the team's everywhere, a project's in that project, and anybody's own in the same audience.
with warnings as (
    select
        texts.learning_id,
        signatures.signature,
        canonical.audience
    from {{ ref('int_texts') }} as texts
    inner join {{ ref('int_signatures') }} as signatures on texts.learning_id = signatures.learning_id
    inner join {{ ref('int_evidence') }} as canonical
        on texts.learning_id = canonical.learning_id and canonical.serves
    where texts.served and texts.kind in ('scar', 'anti_pattern')
),

sources as (
    select distinct learning_id, family_id from {{ ref('int_evidence') }}
),

met as (
    select
        warnings.learning_id,
        sightings.family_id,
        warnings.signature,
        max_by(
            sightings.audience, {{ audience_width('sightings.audience') }} || sightings.audience
        ) as audience,
        min(sightings.first_ts) as first_ts,
        max(sightings.last_ts) as last_ts,
        cast(sum(sightings.times) as bigint) as times
    from warnings
    inner join {{ ref('int_sightings') }} as sightings on warnings.signature = sightings.signature
    left join sources
        on warnings.learning_id = sources.learning_id and sightings.family_id = sources.family_id
    where
        sources.family_id is null
        and (
            warnings.audience in ('team', sightings.audience)
            or warnings.audience = 'project:' || sightings.project
        )
    group by warnings.learning_id, sightings.family_id, warnings.signature
),

standing as (
    select met.*, standing.state
    from met
    asof inner join {{ ref('int_standing') }} as standing
        on met.learning_id = standing.learning_id and met.last_ts >= standing.ts
)

select
    standing.learning_id,
    standing.family_id,
    standing.signature,
    standing.audience,
    standing.first_ts,
    standing.last_ts,
    standing.times,
    coalesce(uses.surfaced_at < standing.last_ts, false) as shown_before,
    case when uses.surfaced_at < standing.last_ts then uses.surfaced_at end as shown_at
from standing
left join {{ ref('int_uses') }} as uses
    on standing.learning_id = uses.learning_id and standing.family_id = uses.family_id
where standing.state = 'active'
