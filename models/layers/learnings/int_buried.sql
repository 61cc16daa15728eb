-- Ids that an earlier release answered to, that nothing holds any more, and whose words a standing tombstone keeps out:
-- what was erased. Whoever names one is told so; a decision on one still has its content key.
with standing as (
    select decisions.*
    from {{ ref('stg_ledger') }} as decisions
    where
        decisions.verdict = 'applies'
        and decisions.decision in ('reject', 'forget')
        and not exists (
            select 1
            from {{ ref('stg_ledger') }} as restores
            where
                restores.verdict = 'applies'
                and restores.decision = 'restore'
                and restores.ts > decisions.ts
                and (restores.content_key = decisions.content_key or restores.claim_id = decisions.claim_id)
        )
)

select
    served.claim_id as reference,
    served.content_key,
    served.audience,
    case when bool_or(standing.decision = 'forget') then 'forgotten' else 'rejected' end as reason
from {{ ref('stg_served_ids') }} as served
inner join standing
    on (
        served.content_key = standing.content_key
        or (starts_with(served.claim_id, standing.claim_id) and length(standing.claim_id) >= 16)
    )
    and standing.reach in ('team', served.audience)
where served.claim_id not in (select reference from {{ ref('int_aliases') }})
group by served.claim_id, served.content_key, served.audience
