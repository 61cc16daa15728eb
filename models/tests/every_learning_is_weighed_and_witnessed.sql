-- One learning per cluster of claims, each with a confidence and at least one signal: none lost between the joins.
select claims.learning_id
from (select distinct learning_id from {{ ref('stg_claims') }}) as claims
left join {{ ref('learnings') }} as learnings on claims.learning_id = learnings.learning_id
left join {{ ref('confidence') }} as confidence on claims.learning_id = confidence.learning_id
left join {{ ref('learning_evidence') }} as evidence on claims.learning_id = evidence.learning_id
where learnings.learning_id is null or confidence.learning_id is null or evidence.learning_id is null
