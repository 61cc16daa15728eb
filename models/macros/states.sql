{# The state of a learning, first rule that holds. Every line is a rule of design section 8; `reason` has the same
   branches, so that the two can be read side by side. Only a person's act or a fact moves a state; votes of agents
   are not among the inputs.
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

{% macro standing_reason() -%}
  case
    when tombstone is not null then tombstone
    when retired then 'retired'
    when document_deleted then 'document_deleted'
    when superseded then 'superseded'
    when trust <> 'reviewed' and disputed then 'disputed'
    when trust <> 'reviewed' and near_tombstone then 'near_tombstone'
    when trust = 'reviewed' and approved then 'approved'
    when trust = 'reviewed' then 'reviewed_at_source'
    when trust in ('stated', 'corroborated') and {{ waits_for_review('risky') }} then 'waits_for_review'
    else trust
  end
{%- endmacro %}

{% macro state_for(reason) -%}
  case
    when {{ reason }} in ('rejected', 'forgotten', 'superseded') then {{ reason }}
    when {{ reason }} in ('retired', 'document_deleted') then 'archived'
    when {{ reason }} in ('approved', 'reviewed_at_source', 'corroborated', 'stated') then 'active'
    else 'candidate'
  end
{%- endmacro %}
