-- What became of each decision of the ledger. Of two that disagree:
--   * what takes away (reject, forget, retire) stands whatever is said beside or after it, until a restore; of a
--     restore and what takes away, the later one holds,
--   * an approval holds for one text: whoever words the item otherwise ends it,
--   * of each field the latest edit holds, of each person the latest word (endorse, dispute),
--   * of merges and splits the later one holds, and what says that each of two replaces the other closes no circle:
--     the newer one holds.
-- The later one is the one that came later onto the protected ref.
with decisions as (
    select * from {{ ref('int_decisions') }}
),

removals as (
    select * from decisions where decision in ('reject', 'forget', 'retire')
),

restores as (
    select * from decisions where decision = 'restore'
),

-- Which removal and which restore are about one thing.
pairs as (
    select removals.decision_id as removal, removals.ts as removed, restores.decision_id as restore, restores.ts as restored
    from removals
    inner join restores on removals.learning_id = restores.learning_id
    union
    select removals.decision_id, removals.ts, restores.decision_id, restores.ts
    from removals
    inner join restores on removals.content_key = restores.content_key
    where removals.decision <> 'retire'
    union
    select dismissals.decision_id, dismissals.ts, restores.decision_id, restores.ts
    from decisions as dismissals
    inner join restores on dismissals.target = restores.target
    where dismissals.decision = 'dismiss'
),

standing as (
    select learning_id, decision_id, ts
    from {{ ref('int_tombstoned') }}
    where match = 'exact' and lifted_ts is null
    union
    select removals.learning_id, removals.decision_id, removals.ts
    from removals
    left join pairs on removals.decision_id = pairs.removal and pairs.restored > pairs.removed
    where removals.decision = 'retire' and removals.learning_id is not null and pairs.removal is null
),

edited as (
    select
        decision_id,
        arg_min(next_by, (next_ts, next_by)) filter (next_by is not null) as overruled_by,
        bool_and(next_by is not null) as is_gone
    from (
        select
            decision_id,
            lead(decision_id) over by_field as next_by,
            lead(ts) over by_field as next_ts
        from (
            select learning_id, decision_id, ts, unnest(json_keys(try_cast(new_text as json))) as field
            from decisions
            where decision in ('edit', 'approve') and new_text is not null and learning_id is not null
        )
        window by_field as (partition by learning_id, field order by ts, decision_id)
    )
    group by decision_id
),

voices as (
    select decision_id, lead(decision_id) over (partition by learning_id, actor order by ts, decision_id) as next_by
    from decisions
    where decision in ('endorse', 'dispute') and learning_id is not null
),

replacing as (
    select candidates.evidence as decision_id, links.status
    from {{ ref('stg_supersession_candidates') }} as candidates
    inner join {{ ref('int_aliases') }} as older on candidates.older_id = older.reference
    inner join {{ ref('int_aliases') }} as newer on candidates.newer_id = newer.reference
    inner join {{ ref('supersession') }} as links
        on older.learning_id = links.older_id and newer.learning_id = links.newer_id and links.reason = 'explicit'
    where candidates.reason = 'explicit'
),

found as (
    select removal as decision_id, 1 as weight, 'restored' as because, restore as overruled_by, restored as ts
    from pairs
    where restored > removed
    union all
    select restore, 2, 'taken_away', removal, removed from pairs where removed > restored
    union all
    select decisions.decision_id, 3, 'taken_away', standing.decision_id, standing.ts
    from decisions
    inner join standing on decisions.learning_id = standing.learning_id
    where decisions.decision in ('approve', 'edit', 'endorse', 'supersede', 'pin', 'merge', 'split')
    union all
    select decisions.decision_id, 4, 'text_changed', texts.decision_id, texts.from_ts
    from decisions
    inner join {{ ref('int_texts') }} as texts on decisions.learning_id = texts.learning_id and texts.served
    where decisions.decision = 'approve' and not coalesce({{ approval_holds('decisions', 'texts') }}, false)
    union all
    select edited.decision_id, 5, 'edited_again', edited.overruled_by, null
    from edited
    inner join decisions on edited.decision_id = decisions.decision_id
    where edited.is_gone and decisions.decision = 'edit'
    union all
    select decision_id, 6, 'said_otherwise', next_by, null from voices where next_by is not null
    union all
    select replacing.decision_id, 7, 'restored', restores.decision_id, restores.ts
    from replacing
    inner join decisions on replacing.decision_id = decisions.decision_id
    inner join restores on decisions.learning_id = restores.learning_id and restores.ts > decisions.ts
    where replacing.status = 'undone'
    union all
    select decision_id, 8, 'closes_a_circle', null, null from replacing where status = 'proposed'
    union all
    select decision_id, 9, because, overruled_by, null from {{ ref('stg_regroupings') }} where verdict = 'overruled'
),

overruled as (
    select * from found
    qualify row_number() over (partition by decision_id order by weight, ts nulls last, overruled_by) = 1
)

select
    ledger.decision_id,
    ledger.decision,
    coalesce(decisions.learning_id, aliases.learning_id) as learning_id,
    case
        when decisions.decision_id is null or regroupings.verdict = 'refused' then 'refused'
        when overruled.decision_id is not null then 'overruled'
        when ledger.decision in ('dismiss', 'experiment') or ledger.claim_id is null then 'applies'
        when decisions.learning_id is null
            and not (ledger.decision in ('reject', 'forget', 'restore') and decisions.content_key is not null)
            then 'no_item'
        else 'applies'
    end as verdict,
    case
        when ledger.verdict = 'refused' then ledger.refused_because
        when decisions.decision_id is null then 'own_proposal'
        when regroupings.verdict = 'refused' then regroupings.because
        else overruled.because
    end as because,
    case
        when ledger.verdict = 'applies' and coalesce(regroupings.verdict, '') <> 'refused' then overruled.overruled_by
    end as overruled_by,
    coalesce(decisions.self_reviewed, false) as self_reviewed
from {{ ref('stg_ledger') }} as ledger
left join decisions on ledger.decision_id = decisions.decision_id
left join {{ ref('int_aliases') }} as aliases on ledger.claim_id = aliases.reference
left join overruled on ledger.decision_id = overruled.decision_id
left join {{ ref('stg_regroupings') }} as regroupings on ledger.decision_id = regroupings.decision_id
