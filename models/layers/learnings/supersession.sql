-- Older -> newer between learnings, as the links stand tonight.
select
    older_id,
    newer_id,
    reason,
    status,
    partial,
    part,
    ambiguous,
    features,
    quote,
    older_evidence,
    older_quote,
    newer_evidence,
    newer_quote,
    actor,
    evidence,
    ts
from {{ ref('int_links') }}
where tonight
