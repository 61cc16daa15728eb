select
    * replace (
        {{ utc('last_recalled') }} as last_recalled,
        {{ utc('last_upvoted') }} as last_upvoted,
        {{ utc('counted_at') }} as counted_at
    )
from {{ parquet_of('imported_votes') }}
