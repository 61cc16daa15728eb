-- The words that a person approved of an item that reads otherwise tonight: what a reviewer compares it with. The latest
-- approval whose words the lake can still make; none where it cannot.
select
    standing.learning_id,
    decisions.decision_id,
    texts.text_sha256,
    texts.title,
    texts."when",
    texts."do",
    texts.because,
    texts.not_when
from {{ ref('int_standing') }} as standing
inner join {{ ref('int_decisions') }} as decisions
    on standing.learning_id = decisions.learning_id and decisions.decision = 'approve'
inner join {{ ref('int_texts') }} as texts
    on standing.learning_id = texts.learning_id
    and case
        when decisions.new_text is null then decisions.decided_on_sha256 = texts.text_sha256
        else decisions.decision_id = texts.decision_id
    end
inner join {{ ref('int_texts') }} as now on standing.learning_id = now.learning_id and now.served
where standing.tonight and standing.text_changed and texts.text_sha256 <> now.text_sha256
qualify row_number() over (
    partition by standing.learning_id
    order by decisions.ts desc, decisions.decision_id desc, texts.known_from desc, texts.version desc
) = 1
