{# The Parquet files the runner laid out for one Python table: <inputs>/<table>/*.parquet. #}
{% macro parquet_of(table) -%}
  read_parquet('{{ var("inputs") | replace("'", "''") }}/{{ table }}/*.parquet')
{%- endmacro %}

{# Instants as plain UTC timestamps. A zoned timestamp turns into a date by the zone of the session that asks,
   and needs an extension that is not there on a machine without network. #}
{% macro utc(column) -%}
  make_timestamp(epoch_us({{ column }}))
{%- endmacro %}

{# The as-of day: the only "today" there is. #}
{% macro as_of() -%}
  date '{{ var("as_of") }}'
{%- endmacro %}

{# Whole days from an instant to the as-of day; never below zero, so that a wrong clock adds no weight. #}
{% macro days_since(column) -%}
  greatest(0, {{ as_of() }} - cast({{ column }} as date))
{%- endmacro %}

{# The format family a unit id starts with. #}
{% macro source_of(unit_id) -%}
  split_part({{ unit_id }}, ':', 1)
{%- endmacro %}
