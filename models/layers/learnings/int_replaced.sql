-- When a learning was replaced, and by what at the end of its chain: over both axes.
with ever as (
    select distinct links.component, successors.learning_id
    from {{ ref('int_successors') }} as successors
    inner join {{ ref('int_link_candidates') }} as links on successors.learning_id = links.older_id
),

instants as (
    select
        ever.learning_id,
        instants.known,
        instants.ts,
        instants.anchor,
        case when successors.instant is not null then
            {
                'superseded_by': successors.superseded_by,
                'actor': successors.actor,
                'evidence': successors.evidence
            }
        end as held
    from ever
    inner join {{ ref('int_link_instants') }} as instants on ever.component = instants.component
    left join {{ ref('int_successors') }} as successors
        on instants.instant = successors.instant and ever.learning_id = successors.learning_id
)

select learning_id, valid_from, valid_to, known_from, known_to, held.superseded_by, held.actor, held.evidence
from ({{ rectangles('instants', 'learning_id') }})
