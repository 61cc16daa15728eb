{# No two rows share the key of their table. #}
{% test one_row_per(model, key) %}
select {{ key | join(', ') }}, count(*) as times
from {{ model }}
group by all
having count(*) > 1
{% endtest %}
