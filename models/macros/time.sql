{# Two axes. `ts` is when something was so; `known` is the as-of day by which the lake had kept what says so, from
   `first_kept` alone. What was so at `ts`, as known on day `known`, follows from the inputs with ts <= `ts` and kept <=
   `known`, and from nothing else. #}

{# The instants to look at: for each day on which something of `key` was first kept, those at or after the earliest
   thing kept that day. Before it nothing can differ from what was known the day before, so a learning heard of night
   by night costs two instants a night, and only late evidence costs more. The `anchor` is the last instant before:
   what the first one is compared with.
   inputs: a relation with the key, ts and kept. #}
{% macro known_grid(inputs, key) -%}
  select days.{{ key }}, days.known, inputs.ts, false as anchor
  from (
    select {{ key }}, kept as known, min(ts) as changed_from from {{ inputs }} group by {{ key }}, kept
  ) as days
  inner join {{ inputs }} as inputs
    on days.{{ key }} = inputs.{{ key }} and inputs.kept <= days.known and inputs.ts >= days.changed_from
  group by all
  union all
  select days.{{ key }}, days.known, max(inputs.ts) as ts, true as anchor
  from (
    select {{ key }}, kept as known, min(ts) as changed_from from {{ inputs }} group by {{ key }}, kept
  ) as days
  inner join {{ inputs }} as inputs
    on days.{{ key }} = inputs.{{ key }} and inputs.kept < days.known and inputs.ts < days.changed_from
  group by days.{{ key }}, days.known
{%- endmacro %}

{# What held where, as rectangles over both axes: `held` from valid_from until before valid_to, as known from known_from
   until before known_to; null is open. They do not overlap, and no two that touch say the same.
   rows: a relation over a known_grid with the key, known, ts, anchor and `held` (a struct, or null for nothing). #}
{% macro rectangles(rows, key) -%}
  select
    {{ key }},
    ts as valid_from,
    next_ts as valid_to,
    min(known) as known_from,
    case when bool_or(next_known is null) then null else max(next_known) end as known_to,
    held
  from (
    select *, nth_day - row_number() over (partition by {{ key }}, ts, next_ts, held order by nth_day) as island
    from (
      select
        changes.{{ key }},
        changes.ts,
        changes.held,
        days.known,
        days.nth_day,
        days.next_known,
        lead(changes.ts) over (partition by changes.{{ key }}, days.known order by changes.ts) as next_ts
      from (
        select *
        from (
          select *, lead(known) over (partition by {{ key }}, ts order by known) as replaced_on
          from (
            select *, lag(held) over (partition by {{ key }}, known order by ts) as held_before
            from {{ rows }}
          )
          where not anchor
        )
        where held is distinct from held_before
      ) as changes
      inner join (
        select
          {{ key }},
          known,
          row_number() over (partition by {{ key }} order by known) as nth_day,
          lead(known) over (partition by {{ key }} order by known) as next_known
        from (select distinct {{ key }}, known from {{ rows }})
      ) as days
        on changes.{{ key }} = days.{{ key }}
        and days.known >= changes.known
        and (changes.replaced_on is null or days.known < changes.replaced_on)
    )
  )
  where held is not null
  group by {{ key }}, ts, next_ts, held, island
{%- endmacro %}

{# Whether a rectangle holds at an instant as known on a day. #}
{% macro holds_at(rectangle, ts, known) -%}
  {{ rectangle }}.valid_from <= {{ ts }} and ({{ rectangle }}.valid_to is null or {{ rectangle }}.valid_to > {{ ts }})
  and {{ rectangle }}.known_from <= {{ known }}
  and ({{ rectangle }}.known_to is null or {{ rectangle }}.known_to > {{ known }})
{%- endmacro %}
