select * replace ({{ utc('ts') }} as ts)
from {{ parquet_of('session_merge_requests') }}
