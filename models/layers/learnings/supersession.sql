-- Older -> newer between learnings, from candidates between claims. By itself acts what somebody says (explicit, the next
-- version of a document), and a changed value where no person has reviewed either side and the newer one waits for
-- nobody. Likeness never acts, nor does a reversal that only we read out of two texts, nor a name that fits several
-- records. What replaces a part is `in_part`: the older one stays, with the part named. Of what acts a link is applied
-- unless
--   * a person restored the older one after it was said: it is undone,
--   * it is the oldest link of a cycle: the newest statements win, and what is left has no cycle, or
--   * every learning it leads to was rejected or forgotten. In 1 -> 2 -> 3, when 3 gets a tombstone, 2 returns; when 2
--     does, 1 stays replaced by 3. A replacement that was retired goes on replacing: what it replaced was not right
--     for that.
-- What is not applied is proposed: it waits for a person.
with recursive links as (
    select
        older.learning_id as older_id,
        newer.learning_id as newer_id,
        candidates.reason,
        candidates.partial,
        candidates.part,
        candidates.ambiguous,
        candidates.features,
        candidates.quote,
        candidates.older_evidence,
        candidates.older_quote,
        candidates.newer_evidence,
        candidates.newer_quote,
        candidates.actor,
        candidates.evidence,
        candidates.ts
    from {{ ref('stg_supersession_candidates') }} as candidates
    inner join {{ ref('int_aliases') }} as older on candidates.older_id = older.reference
    inner join {{ ref('int_aliases') }} as newer on candidates.newer_id = newer.reference
    where older.learning_id <> newer.learning_id
    qualify row_number() over (
        partition by older.learning_id, newer.learning_id, candidates.reason
        order by
            candidates.ambiguous, candidates.ts desc, candidates.partial desc,
            candidates.evidence desc, candidates.actor desc
    ) = 1
),

reviewed as (
    select learning_id from {{ ref('int_evidence') }} where trust_basis = 'reviewed'
    union
    select learning_id from {{ ref('int_decisions') }} where decision = 'approve' and learning_id is not null
),

risky as (
    select learning_id from {{ ref('int_evidence') }} where len(risks) > 0
),

judged as (
    select
        links.*,
        not links.ambiguous and (
            links.reason in ('explicit', 'same_document')
            or (
                links.reason = 'value_changed'
                and links.older_id not in (select learning_id from reviewed)
                and links.newer_id not in (select learning_id from reviewed)
                and links.newer_id not in (select learning_id from risky)
            )
        ) as acts,
        exists (
            select 1
            from {{ ref('int_decisions') }} as restores
            where
                restores.decision = 'restore'
                and restores.learning_id = links.older_id
                and restores.ts > links.ts
        ) as undone
    from links
),

said as (
    select *, acts and not undone and not partial as stands
    from judged
),

steps as (
    select older_id, newer_id, row_number() over (order by max(ts), older_id, newer_id) as place
    from said
    where stands
    group by older_id, newer_id
),

-- Where one gets from a link by links said after it: back at its older end means it closes a cycle as the oldest.
walks(start, older_id, learning_id) as (
    select place, older_id, newer_id from steps
    union
    select walks.start, walks.older_id, steps.newer_id
    from walks
    inner join steps on walks.learning_id = steps.older_id and steps.place > walks.start
),

acyclic as (
    select older_id, newer_id
    from steps
    where place not in (select start from walks where older_id = learning_id)
),

removed as (
    select distinct learning_id
    from {{ ref('int_tombstoned') }}
    where match = 'exact' and lifted_ts is null
),

reaches(learning_id, end_id) as (
    select newer_id, newer_id from acyclic
    union
    select reaches.learning_id, acyclic.newer_id
    from reaches
    inner join acyclic on reaches.end_id = acyclic.older_id
),

acting as (
    select older_id, newer_id
    from acyclic
    where newer_id in (select learning_id from reaches where end_id not in (select learning_id from removed))
)

select
    said.older_id,
    said.newer_id,
    said.reason,
    case
        when said.undone then 'undone'
        when said.stands and acting.older_id is not null then 'applied'
        when said.acts and said.partial and said.newer_id not in (select learning_id from removed) then 'in_part'
        else 'proposed'
    end as status,
    said.partial,
    said.part,
    said.ambiguous,
    said.features,
    said.quote,
    said.older_evidence,
    said.older_quote,
    said.newer_evidence,
    said.newer_quote,
    said.actor,
    said.evidence,
    said.ts
from said
left join acting on said.older_id = acting.older_id and said.newer_id = acting.newer_id
