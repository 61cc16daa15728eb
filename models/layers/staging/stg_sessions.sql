select * replace ({{ utc('began') }} as began, {{ utc('ended') }} as ended)
from {{ parquet_of('sessions') }}
