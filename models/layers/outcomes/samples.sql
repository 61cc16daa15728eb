-- A sample for people to judge, one each ISO week: long enough to be judged by someone who looks once in a few days,
-- and two people who look on different days see the same. Drawn from what was candidate or active when the week began
-- and from what came in during the week, by the hash of week and id, so that nobody chose it and every night of the
-- week draws the same. What comes later in the week takes seats that are left and pushes nobody out of one.
-- Kinds of signal take turns, so that a rare one is seen too; what a person rejected meanwhile keeps its seat.
with weeks as (
    select
        strftime(first_day, '%G-W%V') as sample,
        first_day,
        least(first_day + 6, {{ as_of() }}) as last_day
    from (
        select cast(date_trunc('week', {{ as_of() }}) as date) - cast(7 * n as integer) as first_day
        from range({{ var('sample_weeks') }}) as back(n)
    )
),

before as (
    select weeks.sample, events.learning_id, max_by(events.to_state, events.ts) as state
    from weeks
    inner join {{ ref('learning_events') }} as events on events.ts < weeks.first_day
    group by weeks.sample, events.learning_id
),

drawable as (
    select
        weeks.sample,
        learnings.learning_id,
        learnings.state,
        evidence.kind as signal_kind,
        greatest(learnings.known_from, weeks.first_day) as drawn_on,
        sha256(weeks.sample || ':' || learnings.learning_id) as lot
    from weeks
    inner join {{ ref('learnings') }} as learnings on learnings.known_from <= weeks.last_day
    inner join {{ ref('int_evidence') }} as evidence
        on learnings.learning_id = evidence.learning_id and evidence.serves
    left join before on weeks.sample = before.sample and learnings.learning_id = before.learning_id
    where coalesce(before.state, 'candidate') in ('candidate', 'active')
),

turns as (
    select
        *,
        row_number() over (partition by sample, drawn_on, signal_kind order by lot, learning_id) as turn
    from drawable
),

seated as (
    select
        *,
        row_number() over (partition by sample order by drawn_on, turn, lot, learning_id) as seat
    from turns
),

approved as (
    select distinct learning_id
    from {{ ref('int_decisions') }}
    where decision in ('approve', 'edit', 'restore') and learning_id is not null
    union
    select distinct learning_id
    from {{ ref('int_stances') }}
    where stance = 'endorse' and voter_class = 'human' and until_ts is null
)

select
    seated.sample,
    seated.learning_id,
    seated.signal_kind,
    seated.seat,
    cast(seated.drawn_on as date) as drawn_on,
    case
        when seated.state in ('rejected', 'forgotten') then 'junk'
        when approved.learning_id is not null then 'kept'
        else 'open'
    end as ruling
from seated
left join approved on seated.learning_id = approved.learning_id
where seated.seat <= {{ var('sample_size') }}
