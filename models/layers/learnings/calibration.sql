-- Did what we believed come true? For each thing that later showed whether a learning holds, the belief of the last day of
-- the month before, made of what had happened by then, against what was seen: every later event is asked once. Both
-- figures are read as chances and kept within 0.01 and 0.99, so that one mistaken certainty is not all there is to see;
-- teamai's can be above 1 and was never meant as one.
--   events   all: whatever there is; both: only what teamai's formula has a figure for, to compare the two on the same
-- What counts as seen: a person's word for or against it or its rejection, its own error mended or met again after it was
-- shown, and the merge or revert of work that used it.
{% set methods = ['confidence', 'teamai_confidence'] %}
with sources as (
    select distinct learning_id, family_id from {{ ref('int_evidence') }}
),

later as (
    select stances.learning_id, stances.from_ts as ts, stances.stance = 'endorse' as held
    from {{ ref('int_stances') }} as stances
    left join sources on stances.learning_id = sources.learning_id and stances.family_id = sources.family_id
    where
        sources.family_id is null
        and (stances.voter_class = 'human' or (stances.voter_class = 'author' and stances.stance = 'dispute'))
    union all
    select learning_id, ts, false as held
    from {{ ref('int_decisions') }}
    where decision = 'reject' and learning_id is not null
    union all
    select learning_id, outcome_at, outcome = 'held' as held
    from {{ ref('usage') }}
    where
        voter_class <> 'bot'
        and (
            outcome_basis in ('error_recurred', 'error_fixed')
            or (outcome_basis in ('merged', 'reverted') and verdict in ('explicit', 'acknowledged'))
        )
),

dated as (
    select *, cast(date_trunc('month', ts) as date) - 1 as day
    from later
    where cast(ts as date) <= {{ as_of() }}
),

asked as (
    select distinct learning_id, day, cast(day + 1 as timestamp) as until_ts from dated
),

points as (
    select asked.learning_id, asked.day, standing.trust
    from asked
    asof inner join {{ ref('int_standing') }} as standing
        on asked.learning_id = standing.learning_id and asked.until_ts > standing.ts
),

{{ beliefs('points') }},

predicted as (
    select
        dated.held,
        beliefs.confidence,
        beliefs.teamai_confidence
    from dated
    inner join beliefs on dated.learning_id = beliefs.learning_id and dated.day = beliefs.day
),

figures as (
    {%- for method in methods %}
    select '{{ method }}' as method, 'both' as events, held, {{ method }} as chance
    from predicted
    where teamai_confidence is not null
    union all
    {%- endfor %}
    select 'confidence' as method, 'all' as events, held, confidence as chance from predicted
),

bounded as (
    select
        method,
        events,
        held,
        least(9, cast(floor(chance * 10) as integer)) as bin,
        cast(least(0.99::double, greatest(0.01::double, chance)) as decimal(38, 12)) as chance
    from figures
),

scored as (
    select
        *,
        cast(pow(chance::double - held::integer, 2) as decimal(38, 12)) as squared,
        cast(-ln(case when held then chance::double else 1 - chance::double end) as decimal(38, 12)) as surprise
    from bounded
)

select
    method,
    events,
    case when bin is null then 'all' else format('{:.1f}-{:.1f}', bin / 10.0, (bin + 1) / 10.0) end as bin,
    count(*) as n,
    round(cast(sum(chance) as double) / count(*), 9) as mean_predicted,
    round(count(*) filter (held) / cast(count(*) as double), 9) as observed,
    round(cast(sum(squared) as double) / count(*), 9) as brier,
    round(cast(sum(surprise) as double) / count(*), 9) as log_loss,
    count(*) >= {{ var('calibration_least') }} as enough
from scored
group by grouping sets ((method, events, bin), (method, events))
