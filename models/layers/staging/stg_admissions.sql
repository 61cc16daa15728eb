select *
from {{ parquet_of('admissions') }}
