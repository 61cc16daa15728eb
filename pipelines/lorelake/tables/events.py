"""Contract of stage events: people, units, what happened, and the ledger."""

from __future__ import annotations

from lorelake.tables.shape import Column, Table
from lorelake.tables.words import ACTOR_CLASSES, DECISIONS, EVENT_KINDS, SOURCES, UNIT_KINDS

PEOPLE = Table(
    "people",
    "events",
    "one name of a person",
    ("source", "alias"),
    (
        Column("source", "str", "where the name is used: a source family, or `settings`"),
        Column("alias", "str", "e-mail mark, login, Slack id or display name as the source has it"),
        Column("person_id", "str", "the person it folds to; `unknown:<source>:<alias>` for a placeholder"),
        Column("kind", "str", "human, agent or bot", ("human", "agent", "bot")),
        Column("is_reviewer", "bool", "may decide in the ledger"),
    ),
)

UNITS = Table(
    "units",
    "events",
    "one unit as its own day tells it",
    ("unit_id",),
    (
        Column("unit_id", "str", "source and native id"),
        Column("unit_kind", "str", "what sort of unit", UNIT_KINDS),
        Column("source", "str", "format family", SOURCES),
        Column("parent_unit", "str?", "unit it was started from, as it states itself"),
        Column("project", "str", "project id, or `unknown`"),
        Column("project_assumed", "bool", "true where the project comes from a folder rule"),
        Column("audience", "str", "narrowest audience of its source"),
        Column("person", "str", "who worked or wrote, or a placeholder"),
        Column("branch", "str?", "Git branch worked on, the last one recorded; of a merge request its source branch"),
        Column("began", "ts", "first event"),
        Column("ended", "ts", "last event so far"),
        Column("day", "date", "UTC day it began; the partition"),
        Column("events", "int", "events in it"),
        Column("errors", "int", "failed tool results in it"),
    ),
    partitioned=True,
)

SESSIONS = Table(
    "sessions",
    "events",
    "one agent session or other unit of work",
    ("unit_id",),
    (
        Column("unit_id", "str", "source and native id"),
        Column("unit_kind", "str", "what sort of unit", UNIT_KINDS),
        Column("source", "str", "format family", SOURCES),
        Column(
            "family_id", "str", "root of resumes, forks and sub-agents; counts as one wherever sessions are counted"
        ),
        Column("project", "str", "project id, or `unknown`"),
        Column("project_assumed", "bool", "true where the project comes from a folder rule"),
        Column(
            "audience",
            "str",
            "narrowest audience of its source: team, project:<id>, channel:<id>, dm:<id>, person:<id>",
        ),
        Column("person", "str", "who worked or wrote, or a placeholder"),
        Column("branch", "str?", "Git branch worked on, the last one recorded; of a merge request its source branch"),
        Column("began", "ts", "first event"),
        Column("ended", "ts", "last event so far"),
        Column("day", "date", "UTC day it began"),
        Column("events", "int", "events in it"),
        Column("errors", "int", "failed tool results in it"),
    ),
    released=True,
)

SESSION_MERGE_REQUESTS = Table(
    "session_merge_requests",
    "events",
    "one ground on which an agent session belongs to a merge request",
    ("session_id", "merge_request_id", "basis"),
    (
        Column("session_id", "str", "the session, a unit of `sessions`"),
        Column("merge_request_id", "str", "the merge request, a unit of `sessions`"),
        Column(
            "basis",
            "str",
            "what joins them: an address the session recorded or printed, a commit it made, the branch it worked on",
            ("pr_link", "commit", "branch"),
        ),
        Column("event_id", "str?", "first event that shows it; null where the session as a whole states the branch"),
        Column("ts", "ts", "when it was first shown"),
    ),
    released=True,
)

IMPORTED_VOTES = Table(
    "imported_votes",
    "events",
    "what another memory counted of one item's use by one voter",
    ("total_id",),
    (
        Column("total_id", "str", "32 hex of sha256(system, store, item, voter)"),
        Column("system", "str", "whose count it is", ("teamai", "gitmem")),
        Column("store", "str", "where it is counted: repository and folder, or folder; of GitMem the project"),
        Column("item_id", "str", "what is counted, as the system calls it: an id; of GitMem an id or a title"),
        Column("also", "list[str]", "other ids of the same item whose counts are added"),
        Column("voter", "str", "person id, or a placeholder; of GitMem the agent as one"),
        Column("unit_id", "str?", "the document it is about; null where the lake has none, or several that fit"),
        Column("recalled", "int", "how often it was shown, by the system's count"),
        Column("upvoted", "int", "how often it was of use, by the system's count"),
        Column("refuted", "int", "how often the agent said it did not hold; only GitMem counts this"),
        Column("last_recalled", "ts?", "when it was last shown"),
        Column("last_upvoted", "ts?", "when it was last of use"),
        Column("unsynced", "int", "entries of the voter's file that hold counts not synced, which are in no total"),
        Column("is_apart", "bool", "its counts may be another item's of that name"),
        Column("is_deleted", "bool", "the file was deleted after these counts"),
        Column("counted_at", "ts", "when the newest count was stated"),
        Column("audience", "str", "narrowest audience of the counts and the document"),
    ),
    released=True,
)

EVENTS = Table(
    "events",
    "events",
    "one thing that happened",
    ("event_id",),
    (
        Column("event_id", "str", "32 hex of sha256(unit, record, part)"),
        Column("unit_id", "str", "source and native id of the unit"),
        Column("unit_kind", "str", "what sort of unit", UNIT_KINDS),
        Column("source", "str", "format family", SOURCES),
        Column("seq", "int", "order within the unit, from 0"),
        Column("ts", "ts", "when"),
        Column("day", "date", "UTC day the unit began; the partition"),
        Column("actor", "str", "person id, agent or tool name"),
        Column("actor_class", "str", "who speaks; only humans and mechanical facts can be witnesses", ACTOR_CLASSES),
        Column("kind", "str", "what happened", EVENT_KINDS),
        Column("tool", "str?", "tool name of a call or result"),
        Column("call_id", "str?", "joins a tool result, rejection or denial to its call"),
        Column(
            "reply_to", "str?", "event this one answers: thread root, review comment, or the event a rejection followed"
        ),
        Column("is_error", "bool?", "whether a tool result failed; null where the source does not say"),
        Column("exit_code", "int?", "exit code of a command, if stated"),
        Column("command", "str?", "shell command of a tool call"),
        Column("path", "str?", "file the call, comment or document is about"),
        Column("line", "int?", "line of a review comment, as first written"),
        Column("revision", "str?", "commit the comment, commit or document version is at"),
        Column("text", "str", "what was said or printed, redacted"),
        Column("text_sha256", "str", "sha256 of text"),
        Column("on_live_path", "bool", "false for rewound turns, which are evidence of nothing"),
        Column("project", "str", "project id, or `unknown`"),
        Column("audience", "str", "narrowest audience of its source"),
        Column(
            "attributes",
            "str",
            "JSON object of what only this source knows (thread state, frontmatter, reactions, tokens)",
        ),
        Column("source_uri", "str", "where the record lies"),
        Column("first_kept", "date", "as-of day on which the lake first kept the record"),
    ),
    partitioned=True,
)

LEDGER = Table(
    "ledger",
    "events",
    "one decision by a person on one item",
    ("decision_id",),
    (
        Column("decision_id", "str", "32 hex of sha256(repository path, content, which of its items)"),
        Column("decision", "str", "what was decided", DECISIONS),
        Column("claim_id", "str?", "the item decided on; null where it names a target or only what to erase"),
        Column("other_claim_id", "str?", "for supersede: the item that replaces it; for merge: the one it goes into"),
        Column("target", "str?", "for dismiss, and restore after it: thread, topic or proposal"),
        Column("claims", "list[str]", "for split: the claims that leave the item"),
        Column("content_key", "str?", "content key of the item, audience left out; keys a tombstone"),
        Column("signature", "list[str]", "similarity signature of the item's words, for a tombstone's near hits"),
        Column("decided_on_sha256", "str?", "sha256 of the text the decision was made on"),
        Column("new_text", "str?", "for edit and approve: JSON object of the item's fields as the person wants them"),
        Column("revalidate_by", "date?", "day by which the item must be looked at again, where the person set one"),
        Column("reach", "str", "for reject and forget: `team`, or the audience whose memory it is kept out of"),
        Column("erase", "bool", "for forget: taken out of every file, not only out of memory"),
        Column("experiment", "str?", "for experiment: JSON object of what is tried"),
        Column("actor", "str", "committer or merger on the protected ref; the local person without Git"),
        Column("actor_basis", "str", "what names the actor", ("commit", "local")),
        Column("is_signed", "bool", "whether the commit carries a signature; whose it is, the forge has checked"),
        Column("reason", "str", "why, in the person's words"),
        Column("ts", "ts", "commit time; of commits of one second, a microsecond later for each before it on the ref"),
        Column(
            "verdict",
            "str",
            "whether it may count; what came of it stands in `decision_status`",
            ("applies", "refused"),
        ),
        Column("refused_because", "str?", "rule code where it does not count"),
        Column("source_uri", "str", "file and commit"),
        Column("first_kept", "date", "as-of day on which the lake first kept it"),
    ),
    released=True,
    hashed=True,
)
