-- A tombstone is keyed on content: whichever claim, source or audience the words arrive by, they stay down.
select learnings.learning_id
from {{ ref('int_evidence') }} as evidence
inner join {{ ref('tombstones') }} as tombstones on evidence.content_key = tombstones.content_key
inner join {{ ref('int_tombstoned') }} as met
    on evidence.learning_id = met.learning_id
    and tombstones.decision_id = met.decision_id
    and met.lifted_ts is null
inner join {{ ref('learnings') }} as learnings on evidence.learning_id = learnings.learning_id
where learnings.state not in ('rejected', 'forgotten')
