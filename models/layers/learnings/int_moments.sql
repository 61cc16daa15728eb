-- The instants at which anything about a learning may change, with who and what did it: its evidence, decisions, words
-- against it, tombstones and their restoration, deletion of its documents, links that replace it, and the day its silence is too
-- long, counted from when evidence was said or first kept, whichever is later. One row per instant; of several causes
-- the one that weighs most is named. Nothing counts before the first evidence, and nothing changes between two moments.
with acts as (
    select
        learning_id,
        ts,
        actor,
        signal_id as evidence,
        5 as weight,
        greatest(cast(ts as date), first_kept) as heard
    from {{ ref('int_evidence') }}
    union all
    -- Nothing of a narrower audience but that it counts, and from which day.
    select learning_id, ts, 'rule' as actor, '' as evidence, 5, null
    from {{ ref('int_witnesses') }}
    where is_narrower
    union all
    select learning_id, ts, actor, decision_id, 2, cast(ts as date)
    from {{ ref('int_decisions') }}
    where learning_id is not null and decision not in ('reject', 'forget')
    union all
    -- Words against it in a session; they are no decision, and end no silence.
    select learning_id, from_ts, voter, decision_id, 2, null
    from {{ ref('int_stances') }}
    where decision_id <> family_id
    union all
    select learning_id, ts, actor, decision_id, 1, null from {{ ref('int_tombstoned') }}
    union all
    select learning_id, lifted_ts, lifted_actor, lifted_by, 1, null
    from {{ ref('int_tombstoned') }}
    where lifted_ts is not null
    union all
    select evidence.learning_id, deletions.ts, deletions.actor, deletions.event_id, 3, null
    from {{ ref('int_evidence') }} as evidence
    inner join {{ ref('stg_events') }} as deletions
        on evidence.unit_id = deletions.unit_id and deletions.kind = 'document_deleted'
    where evidence.document is not null
    union all
    select older_id, ts, actor, evidence, 4, null from {{ ref('supersession') }} where status = 'applied'
),

silences as (
    select
        learning_id,
        cast(heard + {{ var('candidate_silent_days') }} + 1 as timestamp) as ts,
        'rule' as actor,
        evidence,
        6 as weight
    from acts
    where heard is not null
),

firsts as (
    select learning_id, min(ts) as first_said from {{ ref('int_evidence') }} group by learning_id
)

select moments.learning_id, moments.ts, moments.actor, moments.evidence
from (
    select learning_id, ts, actor, evidence, weight from acts
    union all
    select learning_id, ts, actor, evidence, weight from silences where ts <= cast({{ as_of() }} as timestamp)
) as moments
inner join firsts on moments.learning_id = firsts.learning_id and moments.ts >= firsts.first_said
qualify row_number() over (
    partition by moments.learning_id, moments.ts order by moments.weight, moments.evidence desc, moments.actor
) = 1
