-- The decisions that count, with the learning they name and the content key of the claim they were made on.
-- `learning_id` is null where nothing of that name is in the lake (any more); the content key may still hold.
select
    ledger.decision_id,
    ledger.decision,
    aliases.learning_id,
    coalesce(ledger.content_key, aliases.content_key, buried.content_key) as content_key,
    ledger.signature,
    ledger.decided_on_sha256,
    ledger.new_text,
    ledger.revalidate_by,
    ledger.reach,
    ledger.target,
    ledger.actor,
    ledger.ts,
    ledger.first_kept,
    own.decision_id is not null as self_reviewed
from {{ ref('stg_ledger') }} as ledger
left join {{ ref('int_aliases') }} as aliases on ledger.claim_id = aliases.reference
left join {{ ref('int_buried') }} as buried on ledger.claim_id = buried.reference
left join {{ ref('int_own_proposals') }} as own on ledger.decision_id = own.decision_id
where ledger.verdict = 'applies' and not coalesce(own.is_refused, false)
