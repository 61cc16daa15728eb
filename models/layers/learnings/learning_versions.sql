-- What was believed of a learning, over both axes: it held from valid_from until before valid_to, so far as was known
-- from known_from until before known_to; null is open. Rows of one learning do not overlap.
with standing as (
    select
        learning_id,
        known,
        ts,
        anchor,
        {
            'state': state,
            'state_reason': state_reason,
            'trust': trust,
            'title': title,
            'text_sha256': text_sha256,
            'superseded_by': case when state = 'superseded' then superseded_by end
        } as held
    from {{ ref('int_standing') }}
)

select
    learning_id,
    valid_from,
    valid_to,
    known_from,
    known_to,
    held.state,
    held.state_reason,
    held.trust,
    held.title,
    held.text_sha256,
    held.superseded_by
from ({{ rectangles('standing', 'learning_id') }})
