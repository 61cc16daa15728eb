{# An approval holds for the text it was made on, or for the new text it brought over the text it was made on. #}
{% macro approval_holds(decisions, texts) -%}
  (
    {{ decisions }}.decided_on_sha256 = {{ texts }}.text_sha256
    or (
      {{ decisions }}.decision_id = {{ texts }}.decision_id
      and {{ decisions }}.decided_on_sha256 = {{ texts }}.prior_sha256
    )
  )
{%- endmacro %}

{# What one reading of int_standing asks a person for: why it waits, or nothing. #}
{% macro waits_for_a_person() -%}
  case
    when state not in ('candidate', 'active') then cast([] as varchar[])
    else list_filter(
      [
        case when disputed then 'disputed' end,
        case when near_tombstone and state = 'candidate' then 'near_tombstone' end,
        case when text_changed then 'text_changed' end,
        case when source_gone then 'source_gone' end,
        case when state_reason in ('mechanical', 'proposed', 'waits_for_review') then 'unreviewed' end
      ],
      lambda why: why is not null
    )
  end
{%- endmacro %}
