-- What stands of the links between learnings at each instant. By itself acts what somebody says (explicit, the next
-- version of a document), and a changed value where no person has reviewed either side and the newer one waits for
-- nobody. Likeness never acts, nor does a reversal that only we read out of two texts, nor a name that fits several
-- records. What replaces a part is `in_part`: the older one stays, with the part named and not served. Of what acts a
-- link is applied unless
--   * a person restored the older one after it was said: it is undone,
--   * it is the oldest link of a cycle: the newest statements win, and what is left has no cycle, or
--   * every learning it leads to was rejected or forgotten. In 1 -> 2 -> 3, when 3 gets a tombstone, 2 returns; when 2
--     does, 1 stays replaced by 3. A replacement that was retired goes on replacing: what it replaced was not right
--     for that.
-- What is not applied is proposed: it waits for a person. Of the past only what may retire a learning is followed.
with recursive visible as (
    select
        instants.instant,
        instants.known,
        instants.ts as at_ts,
        instants.anchor,
        instants.tonight,
        candidates.* exclude (kept)
    from {{ ref('int_link_instants') }} as instants
    inner join {{ ref('int_link_candidates') }} as candidates
        on instants.component = candidates.component
        and candidates.ts <= instants.ts
        and candidates.kept <= instants.known
    where instants.tonight or candidates.may_retire
    qualify row_number() over (
        partition by instants.instant, candidates.older_id, candidates.newer_id, candidates.reason
        order by
            candidates.ambiguous, candidates.ts desc, candidates.partial desc,
            candidates.evidence desc, candidates.actor desc
    ) = 1
),

decided as (
    select learning_id, decision, ts, first_kept as kept
    from {{ ref('int_decisions') }}
    where decision in ('approve', 'restore') and learning_id is not null
),

-- What keeps a changed value from acting: either side reviewed, or the newer one risky.
looked_at as (
    select learning_id, ts, kept, false as newer_only from decided where decision = 'approve'
    union
    select learning_id, ts, first_kept, trust_basis <> 'reviewed'
    from {{ ref('int_evidence') }}
    where trust_basis = 'reviewed' or len(risks) > 0
),

held_back as (
    select visible.instant, visible.older_id, visible.newer_id
    from visible
    inner join looked_at
        on visible.older_id = looked_at.learning_id
        and not looked_at.newer_only
        and looked_at.ts <= visible.at_ts
        and looked_at.kept <= visible.known
    where visible.reason = 'value_changed'
    union
    select visible.instant, visible.older_id, visible.newer_id
    from visible
    inner join looked_at
        on visible.newer_id = looked_at.learning_id
        and looked_at.ts <= visible.at_ts
        and looked_at.kept <= visible.known
    where visible.reason = 'value_changed'
),

restored as (
    select distinct visible.instant, visible.older_id, visible.newer_id, visible.reason
    from visible
    inner join decided
        on visible.older_id = decided.learning_id
        and decided.decision = 'restore'
        and decided.ts > visible.ts
        and decided.ts <= visible.at_ts
        and decided.kept <= visible.known
),

judged as (
    select
        visible.*,
        not visible.ambiguous and (
            visible.reason in ('explicit', 'same_document')
            or (visible.reason = 'value_changed' and held_back.instant is null)
        ) as acts,
        restored.instant is not null as undone
    from visible
    left join held_back
        on visible.instant = held_back.instant
        and visible.older_id = held_back.older_id
        and visible.newer_id = held_back.newer_id
    left join restored
        on visible.instant = restored.instant
        and visible.older_id = restored.older_id
        and visible.newer_id = restored.newer_id
        and visible.reason = restored.reason
),

steps as (
    select
        instant,
        older_id,
        newer_id,
        row_number() over (partition by instant order by max(ts), older_id, newer_id) as place
    from judged
    where acts and not undone and not partial
    group by instant, older_id, newer_id
),

-- Where one gets from a link by links said after it: back at its older end means it closes a cycle as the oldest.
walks(instant, start, older_id, learning_id) as (
    select instant, place, older_id, newer_id from steps
    union
    select walks.instant, walks.start, walks.older_id, steps.newer_id
    from walks
    inner join steps
        on walks.instant = steps.instant and walks.learning_id = steps.older_id and steps.place > walks.start
),

acyclic as (
    select steps.instant, steps.older_id, steps.newer_id
    from steps
    left join walks
        on steps.instant = walks.instant
        and steps.place = walks.start
        and steps.older_id = walks.learning_id
    where walks.instant is null
),

removed as (
    select distinct instants.instant, met.learning_id
    from (select distinct component, newer_id from {{ ref('int_link_candidates') }}) as ends
    inner join {{ ref('int_tombstoned') }} as met on ends.newer_id = met.learning_id and met.match = 'exact'
    left join {{ ref('int_kept') }} as kept on met.decision_id = kept.evidence
    left join {{ ref('int_kept') }} as lift on met.lifted_by = lift.evidence
    inner join {{ ref('int_link_instants') }} as instants
        on ends.component = instants.component
        and met.ts <= instants.ts
        and (kept.first_kept is null or kept.first_kept <= instants.known)
        and (met.lifted_ts is null or met.lifted_ts > instants.ts or lift.first_kept > instants.known)
),

-- Only from what was removed must one look further: everything else stands by itself.
reaches(instant, newer_id, end_id) as (
    select acyclic.instant, acyclic.newer_id, acyclic.newer_id
    from acyclic
    inner join removed on acyclic.instant = removed.instant and acyclic.newer_id = removed.learning_id
    union
    select reaches.instant, reaches.newer_id, acyclic.newer_id
    from reaches
    inner join acyclic on reaches.instant = acyclic.instant and reaches.end_id = acyclic.older_id
),

leads_nowhere as (
    select reaches.instant, reaches.newer_id
    from reaches
    left join removed on reaches.instant = removed.instant and reaches.end_id = removed.learning_id
    group by reaches.instant, reaches.newer_id
    having bool_and(removed.instant is not null)
),

acting as (
    select acyclic.instant, acyclic.older_id, acyclic.newer_id
    from acyclic
    left join leads_nowhere on acyclic.instant = leads_nowhere.instant and acyclic.newer_id = leads_nowhere.newer_id
    where leads_nowhere.instant is null
)

select
    judged.* exclude (acts, undone),
    case
        when judged.undone then 'undone'
        when judged.acts and not judged.partial and acting.instant is not null then 'applied'
        when judged.acts and judged.partial and removed.instant is null then 'in_part'
        else 'proposed'
    end as status
from judged
left join acting
    on judged.instant = acting.instant
    and judged.older_id = acting.older_id
    and judged.newer_id = acting.newer_id
left join removed on judged.instant = removed.instant and judged.newer_id = removed.learning_id
