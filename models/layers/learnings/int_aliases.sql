-- Every id by which somebody may name a learning, and the learning that holds it now: claim ids, and prefixes of at
-- least 12 hex digits as people and models type them. A prefix that fits two learnings names none.
with claim_ids as (
    select claim_id, min(learning_id) as learning_id, min(content_key) as content_key
    from {{ ref('stg_claims') }}
    group by claim_id
),

named as (
    select claim_id as reference from {{ ref('stg_exposures') }}
    union
    select claim_id from {{ ref('stg_ledger') }}
    union
    select other_claim_id from {{ ref('stg_ledger') }} where other_claim_id is not null
    union
    select older_id from {{ ref('stg_supersession_candidates') }}
    union
    select newer_id from {{ ref('stg_supersession_candidates') }}
),

prefixes as (
    select
        named.reference,
        min(claim_ids.claim_id) as claim_id,
        min(claim_ids.learning_id) as learning_id,
        min(claim_ids.content_key) as content_key
    from named
    inner join claim_ids
        on left(named.reference, 16) = left(claim_ids.claim_id, 16)
        and starts_with(claim_ids.claim_id, named.reference)
    where regexp_full_match(named.reference, 'lrn_[0-9a-f]{12,31}')
    group by named.reference
    having count(distinct claim_ids.learning_id) = 1
)

select claim_id as reference, claim_id, learning_id, content_key from claim_ids
union all
select reference, claim_id, learning_id, content_key from prefixes
