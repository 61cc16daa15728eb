-- How far a learning may be believed to hold when used, tonight: the formula stands in the macro `beliefs`, which the
-- calibration asks about earlier days.
with points as (
    select learning_id, trust, {{ as_of() }} as day
    from {{ ref('int_standing') }}
    where tonight
),

{{ beliefs('points') }}

select
    learning_id,
    support,
    against,
    weak_shift,
    confidence,
    confidence_low,
    confidence_high,
    teamai_confidence
from beliefs
