select * replace ({{ utc('ts') }} as ts)
from {{ parquet_of('exposures') }}
