select *
from {{ parquet_of('model_answers') }}
