-- Where an error was met: one row per session family, signature and audience, with the first and the last time, how
-- often, and when the command that had failed last passed. Mechanical: what commands printed, and nobody's account.
with told as (
    select
        signals.family_id,
        signals.audience,
        signals.project,
        json_extract_string(signals.payload, '$.seen.signature') as signature,
        signals.kind,
        signals.ts,
        -- As Python writes an instant of UTC: the offset is always zero.
        coalesce(
            try_cast(left(json_extract_string(signals.payload, '$.seen.last'), -6) as timestamp), signals.ts
        ) as last_ts,
        coalesce(cast(json_extract(signals.payload, '$.seen.count') as bigint), 1) as times,
        json_extract_string(signals.payload, '$.seen.passed_in') as passed_in
    from {{ ref('stg_signals') }} as signals
    where signals.kind in ('error_seen', 'error_fixed')
),

passes as (
    select event_id, ts from {{ ref('stg_events') }} where event_id in (select passed_in from told)
)

select
    told.family_id,
    told.signature,
    told.audience,
    told.project,
    min(told.ts) as first_ts,
    max(told.last_ts) as last_ts,
    coalesce(sum(told.times) filter (told.kind = 'error_seen'), count(*)) as times,
    max(passes.ts) as fixed_ts
from told
left join passes on told.passed_in = passes.event_id
where told.signature is not null
group by told.family_id, told.signature, told.audience, told.project
