{{ config(severity='warn') }}
-- A decision whose item is not in the lake does nothing tonight: the person should hear of it. A tombstone with a
-- content key is no such case, it waits for the words to come back.
select decision_id, decision
from {{ ref('int_decisions') }}
where learning_id is null and not (decision in ('reject', 'forget', 'restore') and content_key is not null)
