-- A claim without its signal has no witness, and the joins behind `learnings` would drop it without a word.
select claims.claim_id, claims.signal_id
from {{ ref('stg_claims') }} as claims
left join {{ ref('stg_signals') }} as signals on claims.signal_id = signals.signal_id
where signals.signal_id is null
