-- Text that is not a JSON object changes nothing; the ledger should have refused it.
select decision_id
from {{ ref('int_decisions') }}
where new_text is not null and coalesce(json_type(try_cast(new_text as json)), 'none') <> 'OBJECT'
