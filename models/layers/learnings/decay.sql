-- How far a learning has faded, from 1 down to a floor. It moves the place in an answer, within the bound of ranking, and
-- nothing else: no state, no trust, no confidence.
-- Disuse: of the families of the last 90 days in which it was shown, how many ignored or refuted it; fewer than three say
-- nothing. What a bot does is not asked, and a family that is not closed may yet answer. Another showing that is
-- ignored can only lower it. Age: halved every half-life of its kind since somebody last said, decided or used it; a
-- showing is no use. A person's pin holds it at 1.
with shown as (
    select
        learning_id,
        count(*) filter (recent) as surfaced,
        count(*) filter (recent and verdict = 'none') as ignored,
        count(*) filter (recent and verdict = 'refuted') as refuted,
        max(surfaced_at) filter (verdict in ('explicit', 'acknowledged')) as last_used
    from (
        select *, cast(surfaced_at as date) > {{ as_of() }} - cast({{ var('decay_days') }} as integer) as recent
        from {{ ref('usage') }}
        where closed and voter_class <> 'bot'
    ) as usage
    group by learning_id
),

said as (
    select learning_id, max(ts) as ts from {{ ref('int_evidence') }} group by learning_id
),

decided as (
    select learning_id, max(ts) as ts, bool_or(decision = 'pin') as pinned
    from {{ ref('int_decisions') }}
    where decision in ('approve', 'edit', 'restore', 'endorse', 'pin') and learning_id is not null
    group by learning_id
),

parts as (
    select
        said.learning_id,
        coalesce(shown.surfaced, 0) as surfaced,
        coalesce(shown.ignored, 0) as ignored,
        coalesce(shown.refuted, 0) as refuted,
        coalesce(decided.pinned, false) as pinned,
        {{ days_since('greatest(said.ts, decided.ts, shown.last_used)') }} as silent_days,
        {{ ageing_half_life(served_kind('texts.kind', 'texts.severity', 'texts.not_when')) }} as half_life_days
    from said
    inner join {{ ref('int_texts') }} as texts on said.learning_id = texts.learning_id and texts.served
    left join shown on said.learning_id = shown.learning_id
    left join decided on said.learning_id = decided.learning_id
),

faded as (
    select
        *,
        case
            when surfaced >= {{ var('decay_surfacings') }}
                then 1 - {{ var('decay_share') }}::double * (ignored + refuted) / surfaced
            else 1.0::double
        end as disuse,
        case
            when half_life_days > 0 then pow(2.0::double, -silent_days::double / half_life_days)
            else 1.0::double
        end as ageing
    from parts
)

select
    learning_id,
    surfaced,
    ignored,
    refuted,
    round(disuse, 9) as disuse,
    silent_days,
    round(ageing, 9) as ageing,
    pinned,
    case when pinned then 1.0::double else round(greatest({{ var('decay_floor') }}::double, disuse * ageing), 9) end
        as decay
from faded
