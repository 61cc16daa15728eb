-- What a gate drops without a row would be missing in the funnel and nowhere else.
select source, signal_kind
from {{ ref('gate_funnel') }}
group by source, signal_kind
having
    sum("rows") filter (step = 'signals')
    <> sum("rows") filter (is_refusal) + sum("rows") filter (step = 'admitted')
