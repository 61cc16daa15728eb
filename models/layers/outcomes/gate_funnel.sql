-- What each gate let through of what each rule saw. A signal is refused once, by the first gate that finds something;
-- `gate_rules` are the rule codes of lorelake.evidence.gates in the order of the gates. Every source and kind with a
-- signal has every step, so that a gate that refused nothing is seen to have been asked.
{%- set rules = var('gate_rules') %}
with signals as (
    select
        {{ source_of('signals.unit_id') }} as source,
        signals.kind as signal_kind,
        admissions.admitted,
        admissions.rule
    from {{ ref('stg_signals') }} as signals
    left join {{ ref('stg_admissions') }} as admissions on signals.signal_id = admissions.signal_id
),

served as (
    select {{ source_of('evidence.unit_id') }} as source, evidence.kind as signal_kind, learnings.state
    from {{ ref('int_evidence') }} as evidence
    inner join {{ ref('learnings') }} as learnings on evidence.learning_id = learnings.learning_id
    where evidence.serves
),

counts as (
    select source, signal_kind, 'signals' as step, count(*) as n from signals group by all
    union all
    select source, signal_kind, rule, count(*) from signals where not admitted group by all
    union all
    select source, signal_kind, 'admitted', count(*) from signals where admitted group by all
    union all
    select source, signal_kind, 'learnings', count(*) from served group by all
    union all
    select source, signal_kind, 'active', count(*) from served where state = 'active' group by all
),

steps(step, position, is_refusal) as (
    values
    ('signals', 1, false),
    {%- for rule in rules %}
    ('{{ rule }}', {{ loop.index + 1 }}, true),
    {%- endfor %}
    ('admitted', {{ rules | length + 2 }}, false),
    ('learnings', {{ rules | length + 3 }}, false),
    ('active', {{ rules | length + 4 }}, false)
)

select
    seen.source,
    seen.signal_kind,
    steps.step,
    cast(steps.position as bigint) as position,
    steps.is_refusal,
    cast(coalesce(counts.n, 0) as bigint) as "rows"
from (select distinct source, signal_kind from counts) as seen
cross join steps
left join counts
    on seen.source = counts.source and seen.signal_kind = counts.signal_kind and steps.step = counts.step
