select *
from {{ parquet_of('people') }}
