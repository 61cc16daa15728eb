-- Every version of a learning's words: as the canonical claim has them (version 0), then one per decision that brings
-- new text. Of each field the latest decision that names it wins, so a second edit keeps what the first one changed;
-- an explicit null empties an optional field and says nothing of a required one.
-- `prior_sha256` is the text such a decision was made on, as it reads today.
-- What was known on a day is another row of versions, from known_from until before known_to: the claim first in place
-- among those kept by then, and the edits kept by then.
{% set texts = ['title', 'when', 'do', 'kind'] %}
{% set options = ['because', 'rejected', 'severity'] %}
{% set lists = ['not_when', 'applies_to', 'self_check', 'tags'] %}
with edits as (
    select learning_id, decision_id, ts, first_kept as kept, try_cast(new_text as json) as item
    from {{ ref('int_decisions') }}
    where decision in ('edit', 'approve') and learning_id is not null and new_text is not null
),

first_in_place as (
    select learning_id, claim_id, signal_id, first_kept as known
    from {{ ref('int_evidence') }}
    qualify
        place = min(place) over (partition by learning_id order by first_kept)
        and place = min(place) over (partition by learning_id, first_kept)
),

days as (
    select *, lead(known) over (partition by learning_id order by known) as known_to
    from (
        select learning_id, known from first_in_place
        union
        select edits.learning_id, edits.kept
        from edits
        inner join (select learning_id, min(known) as known from first_in_place group by learning_id) as start
            on edits.learning_id = start.learning_id and edits.kept > start.known
    )
),

base as (
    select
        days.learning_id,
        days.known as known_from,
        days.known_to
        {%- for field in texts + options + lists %},
        claims."{{ field }}"
        {%- endfor %},
        claims.inferred
    from days
    asof inner join first_in_place as chosen
        on days.learning_id = chosen.learning_id and days.known >= chosen.known
    inner join {{ ref('stg_claims') }} as claims
        on chosen.claim_id = claims.claim_id and chosen.signal_id = claims.signal_id
),

fields as (
    select
        base.learning_id,
        base.known_from,
        edits.decision_id,
        edits.ts,
        row_number() over so_far as version
        {%- for field in texts %},
        last_value(nullif(cast(json_extract(edits.item, '$.{{ field }}') as varchar), 'null') ignore nulls) over so_far
            as "{{ field }}"
        {%- endfor %}
        {%- for field in options + lists %},
        last_value(cast(json_extract(edits.item, '$.{{ field }}') as varchar) ignore nulls) over so_far as "{{ field }}"
        {%- endfor %}
    from edits
    inner join base on edits.learning_id = base.learning_id and edits.kept <= base.known_from
    window so_far as (
        partition by base.learning_id, base.known_from
        order by edits.ts, edits.decision_id rows unbounded preceding
    )
),

versions as (
    select
        learning_id,
        known_from,
        known_to,
        0 as version,
        cast(null as varchar) as decision_id,
        cast('-infinity' as timestamp) as from_ts
        {%- for field in texts + options + lists %},
        "{{ field }}"
        {%- endfor %},
        inferred
    from base
    union all
    select
        base.learning_id,
        base.known_from,
        base.known_to,
        fields.version,
        fields.decision_id,
        fields.ts as from_ts
        {%- for field in texts %},
        {{ edited_text('fields."%s"' % field, 'base."%s"' % field) }} as "{{ field }}"
        {%- endfor %}
        {%- for field in options %},
        {{ edited_option('fields."%s"' % field, 'base."%s"' % field) }} as "{{ field }}"
        {%- endfor %}
        {%- for field in lists %},
        {{ edited_list('fields."%s"' % field, 'base."%s"' % field) }} as "{{ field }}"
        {%- endfor %},
        -- What a person wrote is that person's words.
        list_filter([
            {%- for field in ['title', 'when', 'do', 'because', 'rejected'] %}
            case when list_contains(base.inferred, '{{ field }}') and fields."{{ field }}" is null then '{{ field }}' end
            {{- ',' if not loop.last }}
            {%- endfor %}
        ], lambda name: name is not null) as inferred
    from fields
    inner join base on fields.learning_id = base.learning_id and fields.known_from = base.known_from
),

hashed as (
    select *, {{ text_sha256('title', '"do"', 'because', 'not_when') }} as text_sha256
    from versions
)

select
    *,
    lag(text_sha256) over (partition by learning_id, known_from order by version) as prior_sha256,
    row_number() over (partition by learning_id order by known_from desc, version desc) = 1 as served
from hashed
