-- The error signatures that a learning is about: those its served words name, and those its evidence saw.
select distinct learning_id, signature
from (
    select learning_id, unnest(applies_to) as signature
    from {{ ref('int_texts') }}
    where served
    union all
    select evidence.learning_id, json_extract_string(signals.payload, '$.seen.signature') as signature
    from {{ ref('int_evidence') }} as evidence
    inner join {{ ref('stg_signals') }} as signals on evidence.signal_id = signals.signal_id
    where signals.kind in ('error_seen', 'error_fixed', 'retry_worked')
) as named
where regexp_full_match(signature, 'sig-[0-9]+:[0-9a-f]{32}')
