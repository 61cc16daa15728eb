-- Two texts about one topic, or nearly the same, are no reason to take one away: somebody says so, or its own document goes
-- on, or one value of one subject changed and nobody had reviewed either. A name that fits several records says nothing.
select learning_id
from {{ ref('learnings') }}
where
    state = 'superseded'
    and learning_id not in (
        select older_id
        from {{ ref('supersession') }}
        where
            status = 'applied'
            and not partial
            and not ambiguous
            and reason in ('explicit', 'same_document', 'value_changed')
    )
union all
select older_id
from {{ ref('supersession') }}
where status in ('applied', 'in_part') and (ambiguous or reason in ('decision_reversed', 'duplicate'))
