select *
from {{ parquet_of('claims') }}
