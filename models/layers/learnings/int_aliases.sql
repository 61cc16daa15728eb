-- Every reference by which somebody may name a learning, and the learning that holds it now. First that fits:
--   claim          the id of a claim
--   former         an id that a claim had under an earlier error signature
--   served_before  an id that an earlier release answered to and no claim has any more (its project was folded into
--                  another): the one learning that has the same words now, of the same kind of audience if there is one.
--                  An id of a private audience leads nowhere else, so that its hash proves nothing to others
--   prefix         at least 12 hex digits, as people and models type them
--   document       `teamai:<document>` or `gitmem:<id>`, as those memories name what they show
-- A reference that fits two learnings names none.
with claim_ids as (
    select
        claims.claim_id,
        min(claims.learning_id) as learning_id,
        min(claims.content_key) as content_key,
        min(signals.audience) as audience
    from {{ ref('stg_claims') }} as claims
    inner join {{ ref('stg_signals') }} as signals on claims.signal_id = signals.signal_id
    group by claims.claim_id
),

former_ids as (
    select former.reference, min(former.claim_id) as claim_id
    from (select claim_id, unnest(former_ids) as reference from {{ ref('stg_claims') }}) as former
    inner join claim_ids on former.claim_id = claim_ids.claim_id
    where former.reference not in (select claim_id from claim_ids)
    group by former.reference
    having count(distinct claim_ids.learning_id) = 1
),

reachable as (
    select
        served.claim_id as reference,
        claim_ids.claim_id,
        claim_ids.learning_id,
        case
            when {{ audience_kind('claim_ids.audience') }} = {{ audience_kind('served.audience') }} then 1
            when {{ is_shared('claim_ids.audience') }} then 2
            else 3
        end as distance
    from {{ ref('stg_served_ids') }} as served
    inner join claim_ids on served.content_key = claim_ids.content_key
    where
        {{ is_shared('served.audience') }}
        and served.claim_id not in (select claim_id from claim_ids)
        and served.claim_id not in (select reference from former_ids)
),

served_before as (
    select reference, min(claim_id) as claim_id
    from (
        select *, min(distance) over (partition by reference) as least from reachable
    ) as nearest
    where distance = least
    group by reference
    having count(distinct learning_id) = 1
),

whole as (
    select claim_id as reference, claim_id, 'claim' as basis from claim_ids
    union all
    select reference, claim_id, 'former' as basis from former_ids
    union all
    select reference, claim_id, 'served_before' as basis from served_before
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
    union
    select json_extract_string(payload, '$.seen.claim') from {{ ref('stg_signals') }} where kind = 'memory_refuted'
),

prefixes as (
    select named.reference, min(whole.claim_id) as claim_id
    from named
    inner join whole
        on left(named.reference, 16) = left(whole.reference, 16)
        and starts_with(whole.reference, named.reference)
    inner join claim_ids on whole.claim_id = claim_ids.claim_id
    where regexp_full_match(named.reference, 'lrn_[0-9a-f]{12,31}')
    group by named.reference
    having count(distinct claim_ids.learning_id) = 1
),

-- What the newest version of each document says: a memory that names a document means that.
documents as (
    select
        claims.claim_id,
        claims.learning_id,
        claims.document,
        nfc_normalize(
            regexp_extract(claims.document, '^(?:\.teamai/)?learnings/(.+)\.md$', 1)
        ) as teamai_id
    from {{ ref('stg_claims') }} as claims
    inner join {{ ref('stg_signals') }} as signals on claims.signal_id = signals.signal_id
    where claims.document is not null
    qualify rank() over (partition by signals.unit_id, claims.document order by signals.ts desc) = 1
),

naming as (
    select
        named.reference,
        documents.claim_id,
        documents.learning_id,
        case when named.reference = 'teamai:' || documents.teamai_id then 1 else 2 end as distance
    from named
    inner join documents
        on starts_with(named.reference, 'teamai:')
        and documents.teamai_id <> ''
        and (
            named.reference = 'teamai:' || documents.teamai_id
            or (
                not contains(named.reference, '/')
                and ends_with(documents.teamai_id, '/' || substr(named.reference, 8))
            )
        )
    union all
    select named.reference, documents.claim_id, documents.learning_id, 1 as distance
    from named
    inner join documents
        on regexp_full_match(named.reference, 'gitmem:[0-9a-f][0-9a-f-]{7,35}')
        and starts_with(documents.document, 'gitmem/')
        and starts_with(split_part(documents.document, '/', -1), substr(named.reference, 8))
),

by_document as (
    select reference, min(claim_id) as claim_id
    from (
        select *, min(distance) over (partition by reference) as least from naming
    ) as nearest
    where distance = least
    group by reference
    having count(distinct learning_id) = 1
)

select found.reference, found.basis, claim_ids.claim_id, claim_ids.learning_id, claim_ids.content_key
from (
    select * from whole
    union all
    select reference, claim_id, 'prefix' as basis from prefixes
    union all
    select reference, claim_id, 'document' as basis from by_document
) as found
inner join claim_ids on found.claim_id = claim_ids.claim_id
