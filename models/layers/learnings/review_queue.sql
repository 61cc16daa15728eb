-- What waits for a person, and why. A candidate always has a row; a reviewed item that is disputed, one whose approval
-- was given to other words, one whose source a machine put away, and one that agents found wrong wait too although they
-- are served. What agents found is told, and moves nothing.
with shown as (
    select aliases.learning_id, count(*) as times
    from {{ ref('stg_exposures') }} as exposures
    inner join {{ ref('int_aliases') }} as aliases on exposures.claim_id = aliases.reference
    where exposures.act = 'shown'
    group by aliases.learning_id
),

-- Since which day it waits: when the lake knew enough to ask, not when the words were said. One reading a day, of what
-- was known on it; the first of those that ask without a break until tonight.
readings as (
    select learning_id, greatest(known, cast(ts as date)) as day, {{ waits_for_a_person() }} as whys
    from {{ ref('int_standing') }}
    where not anchor
    qualify row_number() over (partition by learning_id, greatest(known, cast(ts as date)) order by known desc, ts desc) = 1
),

asked as (
    select
        learning_id,
        why,
        day,
        place,
        row_number() over (partition by learning_id, why order by day desc) as asked_before
    from (
        select
            learning_id,
            day,
            unnest(whys) as why,
            place
        from (
            select *, row_number() over (partition by learning_id order by day desc) as place from readings
        )
    )
),

since as (
    select learning_id, why, min(day) as since from asked where place = asked_before group by learning_id, why
),

looked_at as (
    select learning_id, max(ts) as ts
    from {{ ref('int_decisions') }}
    where decision in ('approve', 'edit', 'endorse', 'restore') and learning_id is not null
    group by learning_id
),

refuted as (
    select aliases.learning_id, min(cast(exposures.ts as date)) as since
    from {{ ref('stg_exposures') }} as exposures
    inner join {{ ref('int_aliases') }} as aliases on exposures.claim_id = aliases.reference
    left join looked_at on aliases.learning_id = looked_at.learning_id
    where
        exposures.act = 'confirmed'
        and exposures.verdict = 'refuted'
        and (looked_at.ts is null or exposures.ts > looked_at.ts)
    group by aliases.learning_id
),

waiting as (
    select learning_id, why, since from since
    union all
    select learning_id, 'agent_refuted', since from refuted
)

select
    waiting.learning_id,
    case
        when waiting.why <> 'unreviewed' then waiting.why
        when learnings.state_reason = 'waits_for_review' and len(learnings.risks) > 0 then 'risky'
        else 'candidate'
    end as why,
    learnings.audience,
    learnings.title,
    learnings.risks,
    coalesce(shown.times, 0) + learnings.families as reach,
    list_filter(
        [
            case when learnings.because is null or learnings.because = '' then 'because' end,
            case when len(learnings.not_when) = 0
                or (texts.kind = 'scar' and learnings.kind <> 'scar' and learnings.severity is not null)
                then 'not_when' end,
            case when texts.kind = 'scar' and learnings.severity is null then 'severity' end,
            case when learnings."when" = '' then 'when' end
        ],
        lambda field: field is not null
    ) as missing,
    waiting.since,
    cast(greatest(0, {{ as_of() }} - waiting.since) as bigint) as waiting_days
from waiting
inner join {{ ref('learnings') }} as learnings
    on waiting.learning_id = learnings.learning_id and learnings.state in ('candidate', 'active')
inner join {{ ref('int_texts') }} as texts on waiting.learning_id = texts.learning_id and texts.served
left join shown on waiting.learning_id = shown.learning_id
