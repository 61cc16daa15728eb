-- What was refused where, by rule: records at intake, decisions in the ledger, signals at the gates, and of a model's
-- answers what is no answer or quotes what nobody said. Quarantine keeps refused bytes over many nights, so it adds only
-- what no capture at hand counts any more.
with captured as (
    select intake.source, entry.key as rule, sum(cast(entry.value as bigint)) as n
    from {{ ref('stg_intake') }} as intake, json_each(intake.reasons) as entry
    group by all
),

quarantined as (
    select source, reason as rule, count(*) as n from {{ ref('stg_quarantine') }} group by all
)

select source, 'raw' as stage, rule, cast(n as bigint) as "rows" from captured where n > 0
union all
select quarantined.source, 'raw', quarantined.rule, cast(quarantined.n as bigint)
from quarantined
left join captured on quarantined.source = captured.source and quarantined.rule = captured.rule
where coalesce(captured.n, 0) = 0
union all
select 'decisions', 'events', coalesce(refused_because, 'unknown'), count(*)
from {{ ref('stg_ledger') }}
where verdict = 'refused'
group by all
union all
select {{ source_of('signals.unit_id') }}, 'evidence', admissions.rule, count(*)
from {{ ref('stg_admissions') }} as admissions
inner join {{ ref('stg_signals') }} as signals on admissions.signal_id = signals.signal_id
where not admissions.admitted
group by all
union all
select {{ source_of('unit_id') }}, 'evidence', 'not_json', count(*)
from {{ ref('stg_model_answers') }}
where not is_json
group by all
union all
select {{ source_of('unit_id') }}, 'evidence', 'quote_nobody_said', cast(sum(missing) as bigint)
from {{ ref('stg_model_answers') }}
where missing > 0
group by all
union all
select {{ source_of('unit_id') }}, 'evidence', 'unusable_item', cast(sum(unusable) as bigint)
from {{ ref('stg_model_answers') }}
where unusable > 0
group by all
