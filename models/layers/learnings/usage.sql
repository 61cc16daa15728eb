-- What became of a learning where it was shown: what the session did with it, and what was seen to happen after.
--   verdict   refuted: a person said there that it is wrong, or the agent confirmed it as refuted; explicit: confirmed as
--             applying; acknowledged: cited, or confirmed as not applying; none: nothing of these, it was ignored
--   outcome   of what was seen the first of: error_recurred, error_fixed, reverted, merged, stopped, command_passed.
--             Nothing seen is unknown, which is neither good nor bad and never counted as either
-- A family is closed once nothing happened in it for a whole day; before that being ignored says nothing yet.
with ended as (
    select family_id, max(ended) as ended from {{ ref('stg_sessions') }} group by family_id
),

audiences as (
    select family_id, max_by(audience, {{ audience_width('audience') }} || audience) as audience
    from {{ ref('stg_exposures') }}
    group by family_id
),

disputed as (
    select learning_id, family_id, min(from_ts) as ts
    from {{ ref('int_stances') }}
    where stance = 'dispute' and until_ts is null and voter_class in ('human', 'author')
    group by learning_id, family_id
),

facts as (
    select
        learning_id,
        family_id,
        list(fact order by fact) as observed,
        {%- for fact in var('outcome_facts') %}
        max(ts) filter (fact = '{{ fact }}') as {{ fact }}{{ ',' if not loop.last }}
        {%- endfor %}
    from {{ ref('int_observed') }}
    group by learning_id, family_id
),

judged as (
    select
        uses.*,
        disputed.ts as disputed_at,
        coalesce(facts.observed, cast([] as varchar[])) as observed,
        case
            {%- for fact in var('outcome_facts') %}
            when facts.{{ fact }} is not null then '{{ fact }}'
            {%- endfor %}
        end as basis,
        coalesce(
            {%- for fact in var('outcome_facts') %}
            facts.{{ fact }}{{ ',' if not loop.last }}
            {%- endfor %}
        ) as observed_at
    from {{ ref('int_uses') }} as uses
    left join disputed on uses.learning_id = disputed.learning_id and uses.family_id = disputed.family_id
    left join facts on uses.learning_id = facts.learning_id and uses.family_id = facts.family_id
)

select
    judged.learning_id,
    judged.family_id,
    audiences.audience,
    judged.voter_class,
    judged.surfaced_at,
    judged.surfacings,
    least(judged.acknowledged_at, judged.disputed_at) as acknowledged_at,
    case
        when judged.disputed_at is not null or judged.confirmed = 'refuted' then 'refuted'
        when judged.confirmed = 'applying' then 'explicit'
        when judged.acknowledged_at is not null then 'acknowledged'
        else 'none'
    end as verdict,
    case
        when judged.disputed_at is not null then 'person'
        when judged.confirmed = 'refuted' then 'agent'
    end as refuted_by,
    greatest(judged.ts, coalesce(ended.ended, judged.ts)) < cast({{ as_of() }} as timestamp) as closed,
    case
        {%- for fact, held in var('outcome_facts').items() %}
        when judged.basis = '{{ fact }}' then '{{ 'held' if held else 'failed' }}'
        {%- endfor %}
        else 'unknown'
    end as outcome,
    judged.basis as outcome_basis,
    judged.observed_at as outcome_at,
    judged.observed
from judged
inner join audiences on judged.family_id = audiences.family_id
left join ended on judged.family_id = ended.family_id
