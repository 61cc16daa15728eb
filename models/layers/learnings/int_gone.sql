-- Evidence whose source was taken away, each with the deletion: a document's words from before it was deleted, and what
-- was drawn from messages that were deleted later. `by_person` is false where a machine put it away.
with deletions as (
    select event_id, unit_id, kind, ts, first_kept, actor, actor_class = 'human' as by_person
    from {{ ref('stg_events') }}
    where kind in ('document_deleted', 'message_deleted')
)

select
    evidence.learning_id,
    evidence.signal_id,
    deletions.event_id,
    deletions.ts,
    greatest(deletions.first_kept, evidence.first_kept) as kept,
    deletions.actor,
    deletions.by_person,
    'document_deleted' as reason
from {{ ref('int_evidence') }} as evidence
inner join deletions
    on evidence.unit_id = deletions.unit_id and deletions.kind = 'document_deleted' and deletions.ts > evidence.ts
where evidence.document is not null
union all
select
    evidence.learning_id,
    evidence.signal_id,
    deletions.event_id,
    deletions.ts,
    greatest(deletions.first_kept, evidence.first_kept) as kept,
    deletions.actor,
    -- Slack does not say who deleted a message; only people can.
    true as by_person,
    'message_deleted' as reason
from {{ ref('int_evidence') }} as evidence
inner join {{ ref('stg_signals') }} as signals on evidence.signal_id = signals.signal_id
inner join deletions
    on json_extract_string(signals.payload, '$.seen.deleted_by') = deletions.event_id
    and deletions.kind = 'message_deleted'
