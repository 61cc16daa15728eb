-- The instants at which anything about a learning may change, on both axes, with who and what did it: its evidence,
-- decisions, words against it, tombstones and their restoration, what became of its source, links that replace it, the
-- day its silence is too long, counted from when evidence was said or first kept, whichever is later, and the day it
-- should have been looked at again. One row per instant; of several causes the one that weighs most is named. Nothing
-- counts before the first evidence, and nothing changes between two moments.
with acts as (
    select
        learning_id,
        ts,
        first_kept as kept,
        actor,
        signal_id as evidence,
        5 as weight,
        greatest(cast(ts as date), first_kept) as heard
    from {{ ref('int_evidence') }}
    union all
    -- Nothing of a narrower audience but that it counts, and from which day.
    select witnesses.learning_id, witnesses.ts, kept.first_kept, 'rule' as actor, '' as evidence, 5, null
    from {{ ref('int_witnesses') }} as witnesses
    inner join {{ ref('int_kept') }} as kept on witnesses.signal_id = kept.evidence
    where witnesses.is_narrower
    union all
    select learning_id, ts, first_kept, actor, decision_id, 2, cast(ts as date)
    from {{ ref('int_decisions') }}
    where learning_id is not null and decision not in ('reject', 'forget')
    union all
    -- Words against it in a session; they are no decision, and end no silence.
    select stances.learning_id, stances.from_ts, kept.first_kept, stances.voter, stances.decision_id, 2, null
    from {{ ref('int_stances') }} as stances
    inner join {{ ref('int_kept') }} as kept on stances.decision_id = kept.evidence
    where stances.decision_id <> stances.family_id
    union all
    select
        met.learning_id, met.ts, coalesce(kept.first_kept, cast('-infinity' as date)), met.actor, met.decision_id, 1,
        null
    from {{ ref('int_tombstoned') }} as met
    left join {{ ref('int_kept') }} as kept on met.decision_id = kept.evidence
    union all
    select met.learning_id, met.lifted_ts, kept.first_kept, met.lifted_actor, met.lifted_by, 1, null
    from {{ ref('int_tombstoned') }} as met
    inner join {{ ref('int_kept') }} as kept on met.lifted_by = kept.evidence
    union all
    select distinct learning_id, ts, kept, actor, event_id, 3, null from {{ ref('int_gone') }}
    union all
    select distinct learning_id, ts, kept, actor, reverted_by, 3, null from {{ ref('int_reverted') }}
    union all
    select learning_id, valid_from, known_from, actor, evidence, 4, null from {{ ref('int_replaced') }}
    union all
    select learning_id, valid_to, known_from, 'rule', evidence, 4, null
    from {{ ref('int_replaced') }}
    where valid_to is not null
    union all
    select learning_id, valid_from, known_to, 'rule', evidence, 4, null
    from {{ ref('int_replaced') }}
    where known_to is not null
),

due as (
    select
        learning_id,
        cast(heard + {{ var('candidate_silent_days') }} + 1 as timestamp) as ts,
        kept,
        evidence
    from acts
    where heard is not null
    {%- for days in var('revalidate_days', {}).values() | unique | sort %}
    union all
    select learning_id, cast(heard + {{ days }} + 1 as timestamp), kept, evidence
    from acts
    where heard is not null
    {%- endfor %}
    union all
    -- A day that had passed already when it was set says nothing.
    select learning_id, cast(revalidate_by + 1 as timestamp), first_kept, decision_id
    from {{ ref('int_decisions') }}
    where learning_id is not null and revalidate_by > cast(ts as date)
),

-- Whose words are a learning's does not follow from when they were said: another claim's move all of its past.
rewordings as (
    select texts.learning_id, min(evidence.ts) as ts, texts.known_from as kept
    from {{ ref('int_texts') }} as texts
    inner join {{ ref('int_evidence') }} as evidence
        on texts.learning_id = evidence.learning_id and evidence.first_kept <= texts.known_from
    where texts.version = 0
    group by texts.learning_id, texts.known_from
),

inputs as (
    select learning_id, ts, kept, actor, evidence, weight from acts
    union all
    select learning_id, ts, kept, 'rule', '', 7 from rewordings
    union all
    select learning_id, ts, kept, 'rule', evidence, 6 from due where ts <= cast({{ as_of() }} as timestamp)
),

grid as ({{ known_grid('inputs', 'learning_id') }}),

said as (
    select learning_id, first_kept, min(ts) as ts from {{ ref('int_evidence') }} group by learning_id, first_kept
),

started as (
    select grid.learning_id, grid.known, grid.ts, grid.anchor
    from grid
    inner join said
        on grid.learning_id = said.learning_id and said.first_kept <= grid.known and said.ts <= grid.ts
    group by all
)

select started.learning_id, started.known, started.ts, started.anchor, inputs.actor, inputs.evidence
from started
inner join inputs
    on started.learning_id = inputs.learning_id and started.ts = inputs.ts and inputs.kept <= started.known
qualify row_number() over (
    partition by started.learning_id, started.known, started.ts
    order by inputs.weight, inputs.evidence desc, inputs.actor
) = 1
