{# The state of a learning, first rule that holds. Every line is a rule of design section 8; the reasons and the states
   they lead to stand once, in lorelake.tables.moves, with which may follow which. Only a person's act or a fact moves a
   state; votes of agents are not among the inputs.
   `waits_for_review`: what review.require holds back of what people said. #}
{% macro waits_for_review(risky) -%}
  {%- if var('review_require') == 'all' -%} true
  {%- elif var('review_require') == 'none' -%} false
  {%- else -%} {{ risky }}
  {%- endif -%}
{%- endmacro %}

{% macro trust_of() -%}
  case
    when approved or reviewed_at_source then 'reviewed'
    when stated_families >= {{ var('corroborating_families') }} and stated_people >= {{ var('corroborating_people') }}
      then 'corroborated'
    when mechanical_families >= {{ var('mechanical_families') }} then 'corroborated'
    else best_basis
  end
{%- endmacro %}

{# Whether people's words outweigh the support: several people are against it, and more than stand for it. Whoever takes
   back their own words no longer does. One person's word is not enough: it asks for a ruling. #}
{% macro refuted_by_people() -%}
  (disputes >= {{ var('refuting_people') }} and disputes > stated_people - taken_back + endorsements)
{%- endmacro %}

{# Whether mechanical facts do: nobody said it, and more of its merge requests were reverted than stand. #}
{% macro refuted_by_reverts() -%}
  (stated_people = 0 and reverted_families > mechanical_families)
{%- endmacro %}

{% macro standing_reason() -%}
  case
    when tombstone is not null then tombstone
    when retired then 'retired'
    when document_deleted then 'document_deleted'
    when message_deleted then 'message_deleted'
    when superseded then 'superseded'
    when trust <> 'reviewed' and {{ refuted_by_people() }} then 'refuted_by_people'
    when trust <> 'reviewed' and {{ refuted_by_reverts() }} then 'reverted'
    when trust <> 'reviewed' and disputes > endorsements then 'disputed'
    when near_tombstone and not approved then 'near_tombstone'
    when trust = 'reviewed' and approved then 'approved'
    when trust = 'reviewed' then 'reviewed_at_source'
    when trust in ('stated', 'corroborated') and {{ waits_for_review('risky') }} then 'waits_for_review'
    else trust
  end
{%- endmacro %}

{# What has run out: anything alive whose day of another look has passed, and a candidate of which nobody spoke. #}
{% macro expired_reason(reason) -%}
  case
    when {{ state_for(reason) }} in ('active', 'candidate') and overdue then 'revalidate_by'
    when {{ state_for(reason) }} = 'candidate' and silent_days > {{ var('candidate_silent_days') }} then 'silent'
    else {{ reason }}
  end
{%- endmacro %}

{% macro state_for(reason) -%}
  case
    when {{ reason }} in ('rejected', 'forgotten', 'superseded') then {{ reason }}
    when {{ reason }} in ('retired', 'document_deleted', 'message_deleted') then 'archived'
    when {{ reason }} in ('refuted_by_people', 'reverted') then 'refuted'
    when {{ reason }} in ('silent', 'revalidate_by') then 'expired'
    when {{ reason }} in ('approved', 'reviewed_at_source', 'corroborated', 'stated') then 'active'
    else 'candidate'
  end
{%- endmacro %}

{# Days an item of a kind may go without support; null where settings name none. #}
{% macro revalidate_days(kind) -%}
  {%- set named = var('revalidate_days', {}) -%}
  {%- if named -%}
  case {{ kind }}{% for name, days in named.items() %} when '{{ name }}' then {{ days }}{% endfor %} end
  {%- else -%} cast(null as integer)
  {%- endif -%}
{%- endmacro %}
