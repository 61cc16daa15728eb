-- Who is refused or overruled must be told by which rule, and of one overruled by a person by whose decision.
select decision_id
from {{ ref('decision_status') }}
where (verdict in ('refused', 'overruled')) <> (because is not null)
