{{ config(severity='warn') }}
-- Memory is a function of the as-of day; only tombstones and erasures act at once.
select signal_id, ts
from {{ ref('stg_signals') }}
where cast(ts as date) > {{ as_of() }}
