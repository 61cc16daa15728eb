{{ config(severity='warn') }}
-- A supersession that names an unknown claim cannot act. It is shown here rather than lost in a join.
select candidates.older_id, candidates.newer_id
from {{ ref('stg_supersession_candidates') }} as candidates
left join {{ ref('int_aliases') }} as older on candidates.older_id = older.reference
left join {{ ref('int_aliases') }} as newer on candidates.newer_id = newer.reference
where older.reference is null or newer.reference is null
