{# From the strongest (1) to the weakest (5): the order of lorelake.tables.TRUSTS. #}
{% macro trust_rank(trust) -%}
  list_position({{ trust_names() }}, {{ trust }})
{%- endmacro %}

{% macro trust_names() -%}
  ['reviewed', 'corroborated', 'stated', 'mechanical', 'proposed']
{%- endmacro %}

{# Distinct people behind rows of int_witnesses, the fewest they can be. A placeholder for somebody unknown may be one
   of the known, so it counts as one only where nobody known stands beside it. A Slack user whom no setting names may be
   one of those whose Slack name no setting tells. #}
{% macro distinct_people(condition) -%}
  greatest(
    count(distinct actor) filter ({{ condition }} and known_as in ('known', 'not_in_slack'))
    + greatest(
      0,
      count(distinct actor) filter ({{ condition }} and known_as = 'slack_only')
      - count(distinct actor) filter ({{ condition }} and known_as = 'not_in_slack')
    ),
    least(1, count(actor) filter ({{ condition }}))
  )
{%- endmacro %}

{# The class of a voter. `person_kind` is null for somebody `people` does not list. #}
{% macro voter_class(person_kind, is_author, otherwise) -%}
  case
    when {{ person_kind }} = 'bot' then 'bot'
    when {{ person_kind }} = 'agent' then 'agent'
    when {{ is_author }} then 'author'
    else '{{ otherwise }}'
  end
{%- endmacro %}

{# One side (0 for, 1 against) of the Beta prior of a trust. #}
{% macro trust_prior(trust, side) -%}
  case {{ trust }}
    {%- for name, sides in var('trust_priors').items() %}
    when '{{ name }}' then {{ sides[side] }}
    {%- endfor %}
  end
{%- endmacro %}

{# What a vote of a class weighs. #}
{% macro voter_weight(voter_class) -%}
  case {{ voter_class }}
    {%- for name, weight in var('voter_weights').items() %}
    when '{{ name }}' then {{ weight }}
    {%- endfor %}
  end
{%- endmacro %}

{# A weight halved every half-life since it was given. Decimal, because a sum of doubles depends on the order in which
   threads happen to add; twelve digits, because nine are kept. #}
{% macro decayed(weight, ts) -%}
  cast(
    cast({{ weight }} as double)
    * pow(2.0::double, -cast({{ days_since(ts) }} as double) / {{ var('confidence_half_life_days') }})
    as decimal(38, 12)
  )
{%- endmacro %}

{# What weak votes may add, so that the mean moves by at most `weak_votes_bound`:
   (s + x) / (n + x) = s / n + bound, solved for x. Where the mean stands above 1 - bound nothing can move it so far. #}
{% macro bounded_weak(weak, support, total) -%}
  case
    when 1 - {{ var('weak_votes_bound') }} - {{ support }} / {{ total }} > 1e-9
      then least(
        {{ weak }},
        {{ var('weak_votes_bound') }} * {{ total }} / (1 - {{ var('weak_votes_bound') }} - {{ support }} / {{ total }})
      )
    else {{ weak }}
  end
{%- endmacro %}

{# teamai-cli 0.25: 0.4 base + 0.3 recency + 0.3 ratio, two digits; the ratio is not capped there, so it is not here.
   Recency is linear over 180 days since the last recall. All in doubles, as its JavaScript computes. #}
{% macro teamai_formula(recalled, upvoted, days_since_recall) -%}
  floor((
    0.4::double * least(1.0::double, 0.1::double * {{ recalled }} + 0.3::double * {{ upvoted }})
    + 0.3::double * coalesce(greatest(0.0::double, 1.0::double - {{ days_since_recall }} / 180.0::double), 0.0::double)
    + 0.3::double * (cast({{ upvoted }} as double) / greatest(1, {{ recalled }}))
  ) * 100 + 0.5::double) / 100
{%- endmacro %}
