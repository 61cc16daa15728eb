-- Nothing is dropped silently: the books of every capture close.
select source, capture, capture_sha256
from {{ ref('stg_intake') }}
where
    seen <> kept + refused
    or refused <> coalesce((select sum(cast(entry.value as bigint)) from json_each(reasons) as entry), 0)
