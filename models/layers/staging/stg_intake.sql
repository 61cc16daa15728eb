select *
from {{ parquet_of('intake') }}
