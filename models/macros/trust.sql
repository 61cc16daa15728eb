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

{# What an outcome weighs, by the fact that decided it. #}
{% macro outcome_weight(fact) -%}
  case {{ fact }}
    {%- for name, weight in var('outcome_weights').items() %}
    when '{{ name }}' then {{ weight }}
    {%- endfor %}
  end
{%- endmacro %}

{# In how many days a kind of item is half as fresh; 0 where it does not age. #}
{% macro ageing_half_life(kind) -%}
  case {{ kind }}
    {%- for name, days in var('ageing_half_life_days').items() %}
    when '{{ name }}' then {{ days }}
    {%- endfor %}
  end
{%- endmacro %}

{# A weight halved every half-life from when it was given to the end of a day. Decimal, because a sum of doubles depends
   on the order in which threads happen to add; twelve digits, because nine are kept. #}
{% macro decayed(weight, ts, day) -%}
  cast(
    cast({{ weight }} as double) * pow(
      2.0::double,
      -cast(greatest(0, {{ day }} - cast({{ ts }} as date)) as double) / {{ var('confidence_half_life_days') }}
    )
    as decimal(38, 12)
  )
{%- endmacro %}

{# The polygamma functions of order 0 to 3 for x of 1 and more: the recurrence up to x + 6, then the asymptotic series
   (NIST DLMF 5.11, 5.15), off by less than 1e-8. They are what the cumulants of a Beta's log-odds are made of. #}
{% macro polygamma(order, x) -%}
  {%- set y = '(' ~ x ~ ' + 6)' -%}
  {%- if order == 0 -%}
  (ln({{ y }}) - 1 / (2 * {{ y }}) - 1 / (12 * pow({{ y }}, 2)) + 1 / (120 * pow({{ y }}, 4)) - 1 / (252 * pow({{ y }}, 6))
    {%- for k in range(6) %} - 1 / ({{ x }} + {{ k }}){% endfor %})
  {%- elif order == 1 -%}
  (1 / {{ y }} + 1 / (2 * pow({{ y }}, 2)) + 1 / (6 * pow({{ y }}, 3)) - 1 / (30 * pow({{ y }}, 5))
    + 1 / (42 * pow({{ y }}, 7)) {%- for k in range(6) %} + 1 / pow({{ x }} + {{ k }}, 2){% endfor %})
  {%- elif order == 2 -%}
  (-1 / pow({{ y }}, 2) - 1 / pow({{ y }}, 3) - 1 / (2 * pow({{ y }}, 4)) + 1 / (6 * pow({{ y }}, 6))
    - 1 / (6 * pow({{ y }}, 8)) {%- for k in range(6) %} - 2 / pow({{ x }} + {{ k }}, 3){% endfor %})
  {%- else -%}
  (2 / pow({{ y }}, 3) + 3 / pow({{ y }}, 4) + 2 / pow({{ y }}, 5) - 1 / pow({{ y }}, 7) + 4 / (3 * pow({{ y }}, 9))
    {%- for k in range(6) %} + 6 / pow({{ x }} + {{ k }}, 4){% endfor %})
  {%- endif -%}
{%- endmacro %}

{# A quantile of the Beta whose log-odds have these cumulants: Cornish and Fisher's expansion to the fourth, turned back.
   Off by less than 0.025 for parameters of 1 and more, where mean +- 1.96 deviations is off by 0.08 and leaves 0 to 1. #}
{% macro beta_quantile(z) -%}
  (1 / (1 + exp(-(
    log_odds + deviation * (
      {{ z }} + (pow({{ z }}, 2) - 1) * skew / 6 + (pow({{ z }}, 3) - 3 * {{ z }}) * kurtosis / 24
      - (2 * pow({{ z }}, 3) - 5 * {{ z }}) * pow(skew, 2) / 36
    )
  ))))
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

{# The belief in learnings at the end of days: CTEs that end in `beliefs`, one row per row of `points` (learning_id, day,
   trust on that day). Nothing that came after the day is looked at.
     support, against   the prior of the trust and every strong ground, each halved every half-life
     weak_shift         what the weak grounds move the mean by: at most `weak_votes_bound`, and never out of the interval
     confidence         support / (support + against) + weak_shift
     teamai_confidence  teamai's formula over the votes and over what other memories counted themselves #}
{% macro beliefs(points) -%}
{%- set until = 'cast(points.day + 1 as timestamp)' -%}
weighed as (
    select
        points.learning_id,
        points.day,
        {%- for side in ('for', 'against') %}
        {%- for strength in ('strong', 'weak') %}
        sum({{ decayed('grounds.weight', 'grounds.from_ts', 'points.day') }}) filter (
            {{ 'not' if side == 'against' }} grounds.is_for and {{ 'not' if strength == 'strong' }} grounds.is_weak
        ) as {{ strength }}_{{ side }}{{ ',' if not (side == 'against' and strength == 'weak') }}
        {%- endfor %}
        {%- endfor %}
    from {{ points }} as points
    inner join {{ ref('int_grounds') }} as grounds
        on points.learning_id = grounds.learning_id
        and grounds.from_ts < {{ until }}
        and (grounds.until_ts is null or grounds.until_ts >= {{ until }})
    -- The first independent witness stands in every prior, the second in that of what is corroborated.
    where grounds.nth is null or grounds.nth > case when points.trust = 'corroborated' then 2 else 1 end
    group by points.learning_id, points.day
),

turns as (
    select
        points.learning_id,
        points.day,
        count(*) filter (votes.recalled and votes.voter_class <> 'bot') as recalled,
        count(*) filter (votes.upvoted) as upvoted,
        max(votes.ts) filter (votes.recalled and votes.voter_class <> 'bot') as last_recalled
    from {{ points }} as points
    inner join {{ ref('votes') }} as votes
        on points.learning_id = votes.learning_id and votes.ts < {{ until }}
    group by points.learning_id, points.day
),

of_documents as (
    select distinct learning_id, unit_id, audience
    from {{ ref('int_evidence') }}
    where document is not null
),

counted_elsewhere as (
    select
        points.learning_id,
        points.day,
        sum(totals.recalled) as recalled,
        sum(totals.upvoted) as upvoted,
        max(totals.last_recalled) as last_recalled
    from {{ points }} as points
    inner join of_documents on points.learning_id = of_documents.learning_id
    inner join {{ ref('stg_imported_votes') }} as totals
        on of_documents.unit_id = totals.unit_id
        and totals.counted_at < {{ until }}
        and not totals.is_apart
        and not totals.is_deleted
        and ({{ is_shared('totals.audience') }} or totals.audience = of_documents.audience)
    group by points.learning_id, points.day
),

sides as (
    select
        points.learning_id,
        points.day,
        cast({{ trust_prior('points.trust', 0) }} + coalesce(weighed.strong_for, 0) as double) as support,
        cast({{ trust_prior('points.trust', 1) }} + coalesce(weighed.strong_against, 0) as double) as against,
        cast(coalesce(weighed.weak_for, 0) as double) as weak_for,
        cast(coalesce(weighed.weak_against, 0) as double) as weak_against,
        cast(coalesce(turns.recalled, 0) + coalesce(counted_elsewhere.recalled, 0) as double) as recalled,
        cast(coalesce(turns.upvoted, 0) + coalesce(counted_elsewhere.upvoted, 0) as double) as upvoted,
        -- Null where it was never recalled; `greatest` alone would pass over the null.
        points.day - cast(greatest(turns.last_recalled, counted_elsewhere.last_recalled) as date) as since_recall
    from {{ points }} as points
    left join weighed on points.learning_id = weighed.learning_id and points.day = weighed.day
    left join turns on points.learning_id = turns.learning_id and points.day = turns.day
    left join counted_elsewhere
        on points.learning_id = counted_elsewhere.learning_id and points.day = counted_elsewhere.day
),

rounded as (
    select
        * replace (round(support, 9) as support, round(against, 9) as against),
        case
            when recalled > 0 or upvoted > 0 then {{ teamai_formula('recalled', 'upvoted', 'since_recall') }}
        end as teamai_confidence
    from sides
),

cumulants as (
    select
        *,
        support / (support + against) as mean,
        {{ polygamma(0, 'support') }} - {{ polygamma(0, 'against') }} as log_odds,
        sqrt({{ polygamma(1, 'support') }} + {{ polygamma(1, 'against') }}) as deviation,
        {{ polygamma(2, 'support') }} - {{ polygamma(2, 'against') }} as third,
        {{ polygamma(3, 'support') }} + {{ polygamma(3, 'against') }} as fourth
    from rounded
),

shaped as (
    select *, third / pow(deviation, 3) as skew, fourth / pow(deviation, 4) as kurtosis
    from cumulants
),

intervals as (
    select
        *,
        least(mean, {{ beta_quantile('-1.959964::double') }}) as low,
        greatest(mean, {{ beta_quantile('1.959964::double') }}) as high,
        (support + weak_for) / (support + against + weak_for + weak_against) - mean as pull
    from shaped
),

moved as (
    select
        *,
        least(high, greatest(low, mean + greatest(
            -{{ var('weak_votes_bound') }}::double, least({{ var('weak_votes_bound') }}::double, pull)
        ))) as believed
    from intervals
),

beliefs as (
    select
        learning_id,
        day,
        support,
        against,
        round(believed - mean, 9) as weak_shift,
        round(believed, 9) as confidence,
        round(low, 9) as confidence_low,
        round(high, 9) as confidence_high,
        teamai_confidence
    from moved
)
{%- endmacro %}
