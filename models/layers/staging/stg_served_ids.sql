select *
from {{ parquet_of('served_ids') }}
