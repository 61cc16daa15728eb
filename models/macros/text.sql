{# What an approval is bound to. The same formula stands in the library where claims are made, and
   tests/every_claim_hash_follows_the_formula.sql compares the two on every run. #}
{% macro text_sha256(title, do, because, not_when) -%}
  sha256(
    {{ title }} || chr(31) || {{ do }} || chr(31) || coalesce({{ because }}, '') || chr(31)
    || coalesce(array_to_string({{ not_when }}, chr(30)), '')
  )
{%- endmacro %}

{# One field of an edit (JSON text, or null where no edit names it) over the text before. #}
{% macro edited_text(field, before) -%}
  coalesce({{ field }} ->> '$', {{ before }})
{%- endmacro %}

{% macro edited_option(field, before) -%}
  case when {{ field }} is null then {{ before }} else {{ field }} ->> '$' end
{%- endmacro %}

{% macro edited_list(field, before) -%}
  case
    when {{ field }} is null then {{ before }}
    when json_type({{ field }}) = 'ARRAY'
      then list_filter(cast({{ field }} as varchar[]), lambda entry: entry is not null)
    when json_type({{ field }}) = 'NULL' then cast([] as varchar[])
    else [{{ field }} ->> '$']
  end
{%- endmacro %}

{# Counter-arguments that count: long enough, and different once case, markup and the `source: ` in front are gone. #}
{% macro counter_arguments(not_when) -%}
  len(list_distinct(list_filter(
    list_transform(
      {{ not_when }},
      lambda entry: trim(regexp_replace(
        lower(regexp_replace(entry, '^[^:]{1,60}: ', '')), '[^\p{L}\p{N}]+', ' ', 'g'
      ))
    ),
    lambda words: length(words) >= {{ var('counter_argument_characters') }}
  )))
{%- endmacro %}

{# A scar stops people, so it must say how bad and when not; until then it informs as anti_pattern. #}
{% macro served_kind(kind, severity, not_when) -%}
  case
    when {{ kind }} = 'scar'
      and ({{ severity }} is null or {{ counter_arguments(not_when) }} < {{ var('scar_counter_arguments') }})
      then 'anti_pattern'
    else {{ kind }}
  end
{%- endmacro %}

{# Lists of words: sorted, each once, so that no arrival order shows. #}
{% macro sorted_set(list) -%}
  list_sort(list_distinct({{ list }}))
{%- endmacro %}
