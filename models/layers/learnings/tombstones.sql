-- Content keys that may not come back, and whose memory each is kept out of. A later `restore` lifts one; where a key was
-- both rejected and forgotten, forgotten stands, because it promises more.
-- The signature is what the decisions and the lake's own claims give together. Entries of 16 hex were made without a
-- key: word pairs could be tried on them, so they stay in the ledger.
with standing as (
    select decisions.*
    from {{ ref('int_decisions') }} as decisions
    where
        decisions.decision in ('reject', 'forget')
        and decisions.content_key is not null
        and not exists (
            select 1
            from {{ ref('int_decisions') }} as restores
            where
                restores.decision = 'restore'
                and restores.ts > decisions.ts
                and (
                    restores.content_key = decisions.content_key
                    or restores.learning_id = decisions.learning_id
                )
        )
),

chosen as (
    select *
    from standing
    qualify row_number() over (
        partition by content_key, reach order by decision = 'forget' desc, ts desc, decision_id desc
    ) = 1
),

signed as (
    select content_key, {{ sorted_set('flatten(list(signature))') }} as signature
    from {{ ref('stg_claims') }}
    where len(signature) > 0
    group by content_key
),

hits as (
    select
        standing.content_key,
        standing.reach,
        evidence.claim_id,
        case when evidence.content_key = standing.content_key then 'exact' else evidence.tombstone_match end as match
    from standing
    inner join {{ ref('int_tombstoned') }} as met
        on standing.decision_id = met.decision_id and met.lifted_ts is null
    inner join {{ ref('int_evidence') }} as evidence
        on met.learning_id = evidence.learning_id
        and (evidence.content_key = standing.content_key or evidence.tombstone = standing.decision_id)
)

select
    chosen.content_key,
    {{ sorted_set("list_filter(chosen.signature || coalesce(signed.signature, []), lambda entry: length(entry) = 10)") }}
        as signature,
    chosen.reach,
    case when chosen.decision = 'forget' then 'forgotten' else 'rejected' end as reason,
    chosen.actor,
    chosen.decision_id,
    chosen.ts,
    count(distinct hits.claim_id) filter (hits.match = 'exact') as suppressed,
    count(distinct hits.claim_id) filter (hits.match = 'near') as held
from chosen
left join signed on chosen.content_key = signed.content_key
left join hits on chosen.content_key = hits.content_key and chosen.reach = hits.reach
group by all
