select * from {{ parquet_of('regroupings') }}
