{# The team's and projects' audiences; all else is private. The same rule stands in lorelake.served.is_shared. #}
{% macro is_shared(audience) -%}
  ({{ audience }} = 'team' or starts_with({{ audience }}, 'project:'))
{%- endmacro %}

{# team, project, channel, dm or person. #}
{% macro audience_kind(audience) -%}
  split_part({{ audience }}, ':', 1)
{%- endmacro %}

{# How wide an audience is: of two, the one with the smaller number is the wider. #}
{% macro audience_width(audience) -%}
  case when {{ audience }} = 'team' then 1 when starts_with({{ audience }}, 'project:') then 2 else 3 end
{%- endmacro %}
