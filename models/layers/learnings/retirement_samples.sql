-- What was taken away tonight without a decision of its own, drawn for people to look whether it was right: so many of
-- each kind, by the hash of as-of day and ids, so that nobody chooses and every night draws anew. Both sides' words
-- stand beside each other.
with words as (
    select evidence.learning_id, signals.quote
    from {{ ref('int_evidence') }} as evidence
    inner join {{ ref('stg_signals') }} as signals on evidence.signal_id = signals.signal_id
    where evidence.serves
),

links as (
    select
        case links.status when 'applied' then 'superseded' else 'in_part' end as kind,
        links.older_id as learning_id,
        links.reason,
        links.newer_id,
        coalesce(links.older_quote, older.quote) as quote,
        coalesce(links.newer_quote, newer.quote) as newer_quote,
        links.quote as said,
        links.actor,
        links.evidence,
        links.ts
    from {{ ref('supersession') }} as links
    inner join words as older on links.older_id = older.learning_id
    inner join words as newer on links.newer_id = newer.learning_id
    where links.status in ('applied', 'in_part')
),

states as (
    select
        learnings.state as kind,
        learnings.learning_id,
        learnings.state_reason as reason,
        cast(null as varchar) as newer_id,
        words.quote,
        cast(null as varchar) as newer_quote,
        cast(null as varchar) as said,
        events.actor,
        events.evidence,
        events.ts
    from {{ ref('learnings') }} as learnings
    inner join words on learnings.learning_id = words.learning_id
    inner join (
        select *
        from {{ ref('learning_events') }}
        qualify row_number() over (partition by learning_id order by ts desc) = 1
    ) as events on learnings.learning_id = events.learning_id
    where learnings.state in ('expired', 'refuted', 'archived') and learnings.state_reason <> 'retired'
),

drawn as (
    select
        *,
        row_number() over (
            partition by kind
            order by
                sha256(concat_ws('|', 'retirement', '{{ var("as_of") }}', kind, learning_id, newer_id, reason)),
                learning_id, newer_id, reason
        ) as seat,
        count(*) over (partition by kind) as drawn_from
    from (
        select * from links
        union all
        select * from states
    )
)

select
    kind, seat, learning_id, reason, newer_id, quote, newer_quote, said, actor, evidence, ts, drawn_from
from drawn
where seat <= {{ var('sample_size') }}
