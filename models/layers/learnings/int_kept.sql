-- The as-of day on which the lake first kept each signal and decision: the axis of what was known.
select signal_id as evidence, first_kept from {{ ref('stg_signals') }}
union all
select decision_id, first_kept from {{ ref('stg_ledger') }}
