-- Every id by which a learning was ever known and that still leads somewhere: to the learning that holds it now, or to
-- the tombstone that took it. The indexes answer to them, and publish keeps them in history.
select
    found.reference,
    found.learning_id,
    found.basis,
    found.content_key,
    coalesce(served.audience, signals.audience) as audience
from {{ ref('int_aliases') }} as found
left join {{ ref('stg_served_ids') }} as served on found.reference = served.claim_id
inner join (
    select claims.claim_id, min(signals.audience) as audience
    from {{ ref('stg_claims') }} as claims
    inner join {{ ref('stg_signals') }} as signals on claims.signal_id = signals.signal_id
    group by claims.claim_id
) as signals on found.claim_id = signals.claim_id
where found.basis in ('claim', 'former', 'served_before')
union all
select reference, cast(null as varchar) as learning_id, reason as basis, content_key, audience
from {{ ref('int_buried') }}
