-- What waits for a person, and why. A candidate always has a row; a reviewed item that is disputed, and one whose
-- approval was given to other words, wait too although they are served.
with shown as (
    select aliases.learning_id, count(*) as times
    from {{ ref('stg_exposures') }} as exposures
    inner join {{ ref('int_aliases') }} as aliases on exposures.claim_id = aliases.reference
    where exposures.act = 'shown'
    group by aliases.learning_id
),

waiting as (
    select
        learnings.*,
        standing.disputed,
        standing.near_tombstone,
        standing.text_changed,
        texts.kind as own_kind,
        coalesce(shown.times, 0) + learnings.families as reach
    from {{ ref('learnings') }} as learnings
    inner join {{ ref('int_standing') }} as standing
        on learnings.learning_id = standing.learning_id and standing.tonight
    inner join {{ ref('int_texts') }} as texts on learnings.learning_id = texts.learning_id and texts.served
    left join shown on learnings.learning_id = shown.learning_id
    where learnings.state in ('candidate', 'active')
),

reasons as (
    select *, 'disputed' as why from waiting where disputed
    union all
    select *, 'near_tombstone' as why from waiting where near_tombstone and state = 'candidate'
    union all
    select *, 'text_changed' as why from waiting where text_changed
    union all
    select *, 'risky' as why from waiting where state_reason = 'waits_for_review' and len(risks) > 0
    union all
    select *, 'candidate' as why
    from waiting
    where
        state_reason in ('mechanical', 'proposed')
        or (state_reason = 'waits_for_review' and len(risks) = 0)
)

select
    learning_id,
    why,
    audience,
    title,
    risks,
    reach,
    list_filter(
        [
            case when because is null or because = '' then 'because' end,
            case when len(not_when) = 0 or (own_kind = 'scar' and kind <> 'scar' and severity is not null)
                then 'not_when' end,
            case when own_kind = 'scar' and severity is null then 'severity' end,
            case when "when" = '' then 'when' end
        ],
        lambda field: field is not null
    ) as missing,
    {{ days_since('last_said') }} as waiting_days
from reasons
