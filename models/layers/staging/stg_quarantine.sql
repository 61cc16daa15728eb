select *
from {{ parquet_of('quarantine') }}
