-- How much of each sample people threw out. Nobody judged, no rate; few judged, a wide interval: Wilson's, which stays
-- inside 0 and 1 and does not collapse at 0 of 3. In a sample rare kinds of signal weigh more than in memory, so the
-- rate over `all` is that of the sample; those by kind can be carried over.
with counts as (
    select
        sample,
        coalesce(signal_kind, 'all') as signal_kind,
        count(*) as drawn,
        count(*) filter (ruling <> 'open') as judged,
        count(*) filter (ruling = 'junk') as junk
    from {{ ref('samples') }}
    group by grouping sets ((sample, signal_kind), (sample))
),

shares as (
    select
        *,
        cast(junk as double) / nullif(judged, 0) as share,
        cast({{ var('normal_quantile') }} as double) as z
    from counts
),

intervals as (
    select
        *,
        (share + z * z / (2 * judged)) / (1 + z * z / judged) as middle,
        z * sqrt(share * (1 - share) / judged + z * z / (4 * judged * judged)) / (1 + z * z / judged) as half
    from shares
)

select
    sample,
    signal_kind,
    drawn,
    judged,
    junk,
    round(share, 9) as rate,
    case when share is not null then round(greatest(0.0::double, middle - half), 9) end as rate_low,
    case when share is not null then round(least(1.0::double, middle + half), 9) end as rate_high
from intervals
