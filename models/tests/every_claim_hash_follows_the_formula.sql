-- Approvals are bound to text_sha256. It is computed where claims are made and again here for edited text; were the two
-- formulas to part, every approval would silently fall off its item.
select claim_id, signal_id
from {{ ref('stg_claims') }}
where text_sha256 <> {{ text_sha256('title', '"do"', 'because', 'not_when') }}
