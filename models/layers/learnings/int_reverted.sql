-- Mechanical evidence that a mechanical fact speaks against: the merge request it comes from was reverted after it was
-- said, and the revert itself was not undone. `reverted_by` is the signal that saw it.
with reverts as (
    select signal_id, json_extract_string(payload, '$.seen.reverted') as unit_id, ts, first_kept, actor
    from {{ ref('stg_signals') }}
    where kind = 'revert' and coalesce(json_extract_string(payload, '$.seen.undone'), 'false') <> 'true'
)

select
    evidence.learning_id,
    evidence.signal_id,
    reverts.signal_id as reverted_by,
    reverts.ts,
    greatest(reverts.first_kept, evidence.first_kept) as kept,
    reverts.actor
from {{ ref('int_evidence') }} as evidence
inner join reverts on evidence.unit_id = reverts.unit_id and reverts.ts > evidence.ts
where evidence.trust_basis = 'mechanical'
