"""Contract of stage learnings: claims from Python; trust, votes, states and queues from SQL."""

from __future__ import annotations

from lorelake.tables.shape import Column, Table
from lorelake.tables.words import ACTOR_CLASSES, ITEM_KINDS, SEVERITIES, SIGNAL_KINDS, STATES, TRUSTS

CLAIMS = Table(
    "claims",
    "learnings",
    "one item drawn from one admitted signal",
    ("claim_id", "signal_id"),
    (
        Column("claim_id", "str", "lrn_ + 32 hex of sha256(audience, normalised witness words); never of our phrasing"),
        Column("signal_id", "str", "the signal it was drawn from"),
        Column("learning_id", "str", "claim id of the canonical member of its cluster"),
        Column("is_canonical", "bool", "true for the member whose words are served"),
        Column("title", "str", "what it says, at most 80 characters"),
        Column("when", "str", "what triggers it: a path, command, error or situation"),
        Column("do", "str", "what to do, one to three sentences"),
        Column("because", "str?", "why"),
        Column("rejected", "str?", "the option that was turned down"),
        Column("not_when", "list[str]", "counter-arguments, each as `source: words`"),
        Column("kind", "str", "what sort of item", ITEM_KINDS),
        Column("severity", "str?", "how bad it is to ignore a scar", SEVERITIES),
        Column("applies_to", "list[str]", "paths, commands, packages and error signatures it applies to"),
        Column("self_check", "list[str]", "questions to ask oneself"),
        Column("tags", "list[str]", "topics"),
        Column("inferred", "list[str]", "fields with a word that stands in no quote: title, when, do, because, rejected"),
        Column("text_sha256", "str", "sha256 of title, do, because and not_when: what an approval is bound to"),
        Column("content_key", "str", "sha256 of the normalised witness words without the audience"),
        Column("trust_basis", "str", "what its own history proves", TRUSTS),
        Column("risks", "list[str]", "reasons why a person must look before it acts"),
        Column("document", "str?", "path of the document it comes from"),
        Column("tombstone", "str?", "id of the decision whose tombstone it meets"),
        Column("tombstone_match", "str?", "exact: suppressed; near: held for review", ("exact", "near")),
    ),
)

SUPERSESSION_CANDIDATES = Table(
    "supersession_candidates",
    "learnings",
    "one claim that may replace another",
    ("older_id", "newer_id", "reason"),
    (
        Column("older_id", "str", "claim id that may be replaced"),
        Column("newer_id", "str", "claim id that may replace it"),
        Column("reason", "str", "on what ground", ("explicit", "same_document")),
        Column("evidence", "str", "decision or document version that says so"),
        Column("actor", "str", "who said so"),
        Column("ts", "ts", "when it was said"),
    ),
)

LEARNINGS = Table(
    "learnings",
    "learnings",
    "one learning as it stands at the as-of day",
    ("learning_id",),
    (
        Column("learning_id", "str", "claim id of the canonical member"),
        Column("state", "str", "where it stands in its life", STATES),
        Column("state_reason", "str", "why it stands there"),
        Column("trust", "str", "what its history proves", TRUSTS),
        Column(
            "kind",
            "str",
            "what sort of item; a scar short of two counter-arguments is served as anti_pattern",
            ITEM_KINDS,
        ),
        Column("severity", "str?", "how bad it is to ignore it", SEVERITIES),
        Column("title", "str", "what it says"),
        Column("when", "str", "what triggers it"),
        Column("do", "str", "what to do"),
        Column("because", "str?", "why"),
        Column("rejected", "str?", "the option that was turned down"),
        Column("not_when", "list[str]", "counter-arguments, each as `source: words`"),
        Column("applies_to", "list[str]", "paths, commands, packages and error signatures"),
        Column("self_check", "list[str]", "questions to ask oneself"),
        Column("tags", "list[str]", "topics"),
        Column("inferred", "list[str]", "fields with a word that stands in no quote: title, when, do, because, rejected"),
        Column("project", "str", "project id, or `unknown` for what has none by nature"),
        Column("audience", "str", "who may read it"),
        Column("said_by", "str", "person or tool behind the canonical witness"),
        Column("people", "int", "distinct people behind it"),
        Column("families", "int", "distinct session families behind it"),
        Column("confidence", "float", "posterior mean that it holds when used, from 0 to 1"),
        Column("confidence_low", "float", "lower end of the 95 % interval"),
        Column("confidence_high", "float", "upper end of the 95 % interval"),
        Column("risks", "list[str]", "reasons why a person must look before it acts"),
        Column("text_sha256", "str", "what an approval is bound to"),
        Column("content_key", "str", "what a tombstone is bound to"),
        Column("first_said", "ts", "earliest evidence"),
        Column("last_said", "ts", "latest evidence"),
        Column("known_from", "date", "as-of day on which the lake could first know it"),
        Column("superseded_by", "str?", "learning that replaced it"),
    ),
    released=True,
    sql=True,
    hashed=True,
)

LEARNING_EVIDENCE = Table(
    "learning_evidence",
    "learnings",
    "one signal behind one learning",
    ("learning_id", "signal_id"),
    (
        Column("learning_id", "str", "the learning"),
        Column("signal_id", "str", "the signal"),
        Column("claim_id", "str", "claim through which it counts; an alias of the learning"),
        Column("kind", "str", "which rule saw it", SIGNAL_KINDS),
        Column("quote", "str", "verbatim words"),
        Column("quote_start", "int", "character offset in the stored event text"),
        Column("quote_end", "int", "end offset, exclusive"),
        Column("quote_sha256", "str", "sha256 of the quote"),
        Column("quote_verified", "bool", "found again at that place"),
        Column("actor", "str", "whose words"),
        Column("actor_class", "str", "class of the witness", ACTOR_CLASSES),
        Column("family_id", "str", "session family"),
        Column("ts", "ts", "when"),
        Column("source_uri", "str", "where the record lies"),
    ),
    released=True,
    sql=True,
    hashed=True,
)

LEARNING_EVENTS = Table(
    "learning_events",
    "learnings",
    "one change of state of one learning",
    ("learning_id", "ts", "to_state", "reason"),
    (
        Column("learning_id", "str", "the learning"),
        Column("ts", "ts", "when it took effect"),
        Column("from_state", "str?", "state before; null for the first", STATES),
        Column("to_state", "str", "state after", STATES),
        Column("reason", "str", "rule code"),
        Column("actor", "str", "person, or `rule` where a rule did it"),
        Column("evidence", "str", "signal, decision or document behind it"),
    ),
    released=True,
    sql=True,
    hashed=True,
)

VOTES = Table(
    "votes",
    "learnings",
    "learning x voter x session family",
    ("learning_id", "voter", "family_id"),
    (
        Column("learning_id", "str", "the learning"),
        Column("voter", "str", "person whose session or decision it was"),
        Column("family_id", "str", "session family, or the decision"),
        Column(
            "voter_class",
            "str",
            "weight class: human decides, agent cited it, author is its own source, bot counts nothing",
            ("human", "agent", "author", "bot"),
        ),
        Column("recalled", "bool", "it was shown there"),
        Column("upvoted", "bool", "shown and cited there, or endorsed by a person; once a family"),
        Column("refuted", "bool", "disputed by a person"),
        Column("ts", "ts", "latest act"),
    ),
    released=True,
    sql=True,
    hashed=True,
)

CONFIDENCE = Table(
    "confidence",
    "learnings",
    "learning",
    ("learning_id",),
    (
        Column("learning_id", "str", "the learning"),
        Column("support", "float", "decayed weight of what speaks for it, prior included"),
        Column("against", "float", "decayed weight of what speaks against it, prior included"),
        Column("confidence", "float", "support / (support + against), to 9 digits"),
        Column("confidence_low", "float", "lower end of the 95 % interval"),
        Column("confidence_high", "float", "upper end of the 95 % interval"),
        Column(
            "teamai_confidence", "float?", "teamai-cli's formula on the same votes, for comparison; null without votes"
        ),
    ),
    released=True,
    sql=True,
    hashed=True,
)

SUPERSESSION = Table(
    "supersession",
    "learnings",
    "older -> newer",
    ("older_id", "newer_id", "reason"),
    (
        Column("older_id", "str", "learning that is replaced"),
        Column("newer_id", "str", "learning that replaces it"),
        Column("reason", "str", "on what ground", ("explicit", "same_document")),
        Column(
            "status",
            "str",
            "applied: the older one is not served; proposed: waits for a person",
            ("applied", "proposed"),
        ),
        Column("actor", "str", "who said so"),
        Column("evidence", "str", "decision or document version that says so"),
        Column("ts", "ts", "when it was said"),
    ),
    released=True,
    sql=True,
    hashed=True,
)

TOMBSTONES = Table(
    "tombstones",
    "learnings",
    "one content key that may not come back",
    ("content_key",),
    (
        Column("content_key", "str", "sha256 of the normalised words, audience left out"),
        Column("signature", "list[str]", "similarity signature of the words; never the words"),
        Column("reason", "str", "rejected or forgotten", ("rejected", "forgotten")),
        Column("actor", "str", "who decided"),
        Column("decision_id", "str", "the decision"),
        Column("ts", "ts", "when"),
        Column("suppressed", "int", "claims it holds back tonight"),
        Column("held", "int", "near hits it holds for review tonight"),
    ),
    released=True,
    sql=True,
    hashed=True,
)

REVIEW_QUEUE = Table(
    "review_queue",
    "learnings",
    "one learning that waits for a person",
    ("learning_id", "why"),
    (
        Column("learning_id", "str", "the learning"),
        Column("why", "str", "what waits", ("candidate", "risky", "near_tombstone", "disputed", "text_changed")),
        Column("audience", "str", "who may review it"),
        Column("title", "str", "what it says"),
        Column("risks", "list[str]", "why a person must look"),
        Column("reach", "int", "how often it was shown, plus the session families behind it"),
        Column("missing", "list[str]", "fields it lacks"),
        Column("waiting_days", "int", "days since its latest evidence"),
    ),
    released=True,
    sql=True,
    hashed=True,
)
