-- One row per claim and signal: what was said, by whom, and what its own history proves.
-- `serves` marks the one row of a learning whose words are served; `place` is its place in that order, for days on which
-- the first ones were not known yet.
select
    claims.learning_id,
    claims.claim_id,
    claims.signal_id,
    claims.trust_basis,
    claims.document,
    claims.content_key,
    claims.tombstone,
    claims.tombstone_match,
    claims.risks,
    signals.kind,
    signals.actor,
    signals.actor_class,
    signals.family_id,
    signals.unit_id,
    signals.project,
    signals.audience,
    signals.ts,
    signals.first_kept,
    row_number() over (
        partition by claims.learning_id
        order by
            claims.is_canonical desc, claims.claim_id = claims.learning_id desc,
            signals.ts, signals.signal_id, claims.claim_id
    ) as place,
    place = 1 as serves
from {{ ref('stg_claims') }} as claims
inner join {{ ref('stg_signals') }} as signals on claims.signal_id = signals.signal_id
