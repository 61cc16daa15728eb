-- Every version of a learning's words: as the canonical claim has them (version 0), then one per decision that brings
-- new text. Of each field the latest decision that names it wins, so a second edit keeps what the first one changed;
-- an explicit null empties an optional field and says nothing of a required one.
-- `prior_sha256` is the text such a decision was made on, as it reads today.
{% set texts = ['title', 'when', 'do', 'kind'] %}
{% set options = ['because', 'rejected', 'severity'] %}
{% set lists = ['not_when', 'applies_to', 'self_check', 'tags'] %}
with base as (
    select
        claims.learning_id
        {%- for field in texts + options + lists %},
        claims."{{ field }}"
        {%- endfor %},
        claims.inferred
    from {{ ref('stg_claims') }} as claims
    inner join {{ ref('int_evidence') }} as evidence
        on claims.claim_id = evidence.claim_id and claims.signal_id = evidence.signal_id
    where evidence.serves
),

edits as (
    select learning_id, decision_id, ts, try_cast(new_text as json) as item
    from {{ ref('int_decisions') }}
    where decision in ('edit', 'approve') and learning_id is not null and new_text is not null
),

fields as (
    select
        learning_id,
        decision_id,
        ts,
        row_number() over so_far as version
        {%- for field in texts %},
        last_value(nullif(cast(json_extract(item, '$.{{ field }}') as varchar), 'null') ignore nulls) over so_far
            as "{{ field }}"
        {%- endfor %}
        {%- for field in options + lists %},
        last_value(cast(json_extract(item, '$.{{ field }}') as varchar) ignore nulls) over so_far as "{{ field }}"
        {%- endfor %}
    from edits
    window so_far as (partition by learning_id order by ts, decision_id rows unbounded preceding)
),

versions as (
    select
        learning_id,
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
    inner join base on fields.learning_id = base.learning_id
),

hashed as (
    select *, {{ text_sha256('title', '"do"', 'because', 'not_when') }} as text_sha256
    from versions
)

select
    *,
    lag(text_sha256) over (partition by learning_id order by version) as prior_sha256,
    row_number() over (partition by learning_id order by version desc) = 1 as served
from hashed
