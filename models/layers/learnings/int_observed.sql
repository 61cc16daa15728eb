-- What was seen to happen in a session family after a learning was shown there: mechanical facts and what people did,
-- never an agent's account. One row per learning, family and fact, with the last time.
--   error_recurred   the learning's own error came again, and was not mended after
--   error_fixed      the learning's own error went away: the command that had failed with it passed
--   merged           a merge request of the family was merged
--   reverted         it was taken back later, and not brought in again
--   stopped          a person refused what the agent was about to do, or stopped it
--   command_passed   some other failing command passed
with uses as (
    select learning_id, family_id, surfaced_at from {{ ref('int_uses') }}
),

sightings as (
    select family_id, signature, max(last_ts) as last_ts, max(fixed_ts) as fixed_ts
    from {{ ref('int_sightings') }}
    group by family_id, signature
),

own_errors as (
    select uses.learning_id, uses.family_id, uses.surfaced_at, sightings.last_ts, sightings.fixed_ts
    from uses
    inner join {{ ref('int_signatures') }} as signatures on uses.learning_id = signatures.learning_id
    inner join sightings
        on uses.family_id = sightings.family_id and signatures.signature = sightings.signature
),

other_passes as (
    select uses.learning_id, uses.family_id, max(sightings.fixed_ts) as ts
    from uses
    inner join sightings on uses.family_id = sightings.family_id and sightings.fixed_ts > uses.surfaced_at
    left join {{ ref('int_signatures') }} as signatures
        on uses.learning_id = signatures.learning_id and sightings.signature = signatures.signature
    where signatures.signature is null
    group by uses.learning_id, uses.family_id
),

families as (
    select unit_id, family_id from {{ ref('stg_sessions') }}
),

stops as (
    select families.family_id, events.ts
    from {{ ref('stg_events') }} as events
    inner join families on events.unit_id = families.unit_id
    where events.kind in ('rejection', 'interrupt') and events.on_live_path
),

requests as (
    select distinct families.family_id, joins.merge_request_id
    from {{ ref('stg_session_merge_requests') }} as joins
    inner join families on joins.session_id = families.unit_id
),

merges as (
    select unit_id as merge_request_id, max(ts) as ts
    from {{ ref('stg_events') }}
    where kind = 'merge_request_merged'
    group by unit_id
),

reverts as (
    select json_extract_string(payload, '$.seen.reverted') as merge_request_id, max(ts) as ts
    from {{ ref('stg_signals') }}
    where kind = 'revert' and coalesce(json_extract_string(payload, '$.seen.undone'), 'false') <> 'true'
    group by 1
),

of_requests as (
    select requests.family_id, merges.ts as merged_ts, reverts.ts as reverted_ts
    from requests
    inner join merges on requests.merge_request_id = merges.merge_request_id
    left join reverts on requests.merge_request_id = reverts.merge_request_id
)

select learning_id, family_id, 'error_recurred' as fact, max(last_ts) as ts
from own_errors
where last_ts > surfaced_at and (fixed_ts is null or fixed_ts <= last_ts)
group by learning_id, family_id
union all
select learning_id, family_id, 'error_fixed' as fact, max(fixed_ts) as ts
from own_errors
where fixed_ts > surfaced_at and fixed_ts > last_ts
group by learning_id, family_id
union all
select uses.learning_id, uses.family_id, 'merged' as fact, max(of_requests.merged_ts) as ts
from uses
inner join of_requests on uses.family_id = of_requests.family_id and of_requests.merged_ts > uses.surfaced_at
group by uses.learning_id, uses.family_id
union all
select uses.learning_id, uses.family_id, 'reverted' as fact, max(of_requests.reverted_ts) as ts
from uses
inner join of_requests
    on uses.family_id = of_requests.family_id
    and of_requests.merged_ts > uses.surfaced_at
    and of_requests.reverted_ts >= of_requests.merged_ts
group by uses.learning_id, uses.family_id
union all
select uses.learning_id, uses.family_id, 'stopped' as fact, max(stops.ts) as ts
from uses
inner join stops on uses.family_id = stops.family_id and stops.ts > uses.surfaced_at
group by uses.learning_id, uses.family_id
union all
select learning_id, family_id, 'command_passed' as fact, ts from other_passes
