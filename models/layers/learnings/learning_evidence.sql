-- What stands behind a learning, one row per signal. A signal that gave two claims of one learning counts through the
-- one that is served, else the smaller id.
with counted as (
    select learning_id, signal_id, claim_id
    from {{ ref('int_evidence') }}
    qualify row_number() over (partition by learning_id, signal_id order by serves desc, claim_id) = 1
)

select
    counted.learning_id,
    counted.signal_id,
    counted.claim_id,
    signals.kind,
    signals.quote,
    signals.quote_start,
    signals.quote_end,
    signals.quote_sha256,
    signals.quote_verified,
    signals.actor,
    signals.actor_class,
    signals.family_id,
    signals.ts,
    signals.source_uri
from counted
inner join {{ ref('stg_signals') }} as signals on counted.signal_id = signals.signal_id
