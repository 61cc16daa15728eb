"""What a release hands to its readers: the contract between `release`, which writes it, and `recall`, which reads it.

    releases/<release_id>/
      manifest.json                    `ReleaseHead` is the part a reader needs
      index/<audience id>/             one folder per audience: the unit of entitlement
        audience.json                  `AudienceCard`
        lexical.db                     `LEXICAL_SCHEMA`
        learnings.lance                the same rows for LanceDB: learning_id, title, text
      review/<audience id>/            for reviewers, same permission as that index
        queue.json                     what waits: items with why, reach and since when
        items.jsonl                    `Reviewed`, one a line by id: every item that may be named

As `tables` is for the stages, this module is for what leaves the lake. It loads nothing heavy.
"""

from __future__ import annotations

import re
from datetime import date

import msgspec

from lorelake.formats.record import digest

MANIFEST = "manifest.json"
INDEX_FOLDER = "index"
REVIEW_FOLDER = "review"
REVIEW_QUEUE = "queue.json"
REVIEW_ITEMS = "items.jsonl"
AUDIENCE_CARD = "audience.json"
LEXICAL_DB = "lexical.db"
LANCE_TABLE = "learnings"

TEAM_AUDIENCE = "team"
PROJECT_PREFIX = "project:"
RELEASE_ID = re.compile(r"\d{4}-\d{2}-\d{2}-[0-9a-f]{8}")

LEXICAL_SCHEMA = """
CREATE TABLE items (rowid INTEGER PRIMARY KEY, learning_id TEXT NOT NULL UNIQUE, item TEXT NOT NULL);
CREATE TABLE aliases (claim_id TEXT PRIMARY KEY, learning_id TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE retired (learning_id TEXT PRIMARY KEY, state TEXT NOT NULL, superseded_by TEXT) WITHOUT ROWID;
CREATE TABLE topics (path TEXT PRIMARY KEY, label TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE topic_items (path TEXT, learning_id TEXT, PRIMARY KEY (path, learning_id)) WITHOUT ROWID;
CREATE VIRTUAL TABLE search USING fts5(text, content='', tokenize='porter unicode61');
"""
"""`items.item` is an `Item` as JSON; `search` has one row per item under the same rowid. `aliases` maps every claim of
a served learning to it. `retired` names what is *not* served, without its words, so that an old id gets an answer.
`topics` has every topic with a served item at it or below, `topic_items` the items right at each."""


class Quote(msgspec.Struct, frozen=True):
    """Verbatim words behind an item, found again in the stored record at build. `source` says where they lie."""

    words: str
    said_by: str
    actor_class: str
    said: str
    source: str


class Item(msgspec.Struct, frozen=True):
    """One active learning as served, with its quotes, earliest first. `inferred` are fields with a word of ours."""

    learning_id: str
    audience: str
    project: str
    trust: str
    state: str
    kind: str
    severity: str | None
    title: str
    when: str
    do: str
    because: str | None
    rejected: str | None
    not_when: tuple[str, ...]
    applies_to: tuple[str, ...]
    self_check: tuple[str, ...]
    tags: tuple[str, ...]
    said_by: str
    people: int
    families: int
    confidence: float
    confidence_low: float
    confidence_high: float
    text_sha256: str
    content_key: str
    first_said: str
    last_said: str
    quotes: tuple[Quote, ...]
    inferred: tuple[str, ...] = ()
    replaced_parts: tuple[str, ...] = ()
    """Parts of it that another item replaced, each as `learning id: part`."""
    decay: float = 1.0
    """How far it has faded, by disuse and age; moves its place in an answer, and nothing else."""


class Wording(msgspec.Struct, frozen=True):
    """The words an approval is bound to."""

    title: str
    when: str
    do: str
    because: str | None
    not_when: tuple[str, ...]


class Passed(msgspec.Struct, frozen=True):
    """One signal behind an item: what it was, where its quote stands, and which rule of admission let it in."""

    signal_id: str
    kind: str
    start: int
    end: int
    verified: bool
    actor: str
    said: str
    source: str
    rule: str


class Change(msgspec.Struct, frozen=True):
    """One row of an item's history: a move between states, or a decision with what came of it."""

    ts: str
    what: str
    actor: str
    reason: str
    because: str | None = None


class Reviewed(msgspec.Struct, frozen=True):
    """What a reviewer is shown of one item. `approved` are the words a person approved, where it reads otherwise."""

    item: Item
    state_reason: str
    claims: tuple[str, ...]
    risks: tuple[str, ...]
    why: tuple[str, ...]
    reach: int
    missing: tuple[str, ...]
    waiting_days: int | None
    passed: tuple[Passed, ...]
    history: tuple[Change, ...]
    near: tuple[Change, ...]
    approved: Wording | None = None


class AudienceCard(msgspec.Struct, frozen=True):
    """audience.json: whose folder this is. Lies inside the folder, so that only those who may read it can."""

    audience: str
    items: int


class ReleaseHead(msgspec.Struct, frozen=True, kw_only=True):
    """The part of manifest.json that a reader needs. `active` counts served items by audience id."""

    release_id: str
    team: str
    as_of: date
    content_hash: str
    active: dict[str, int]


def audience_id(team: str, audience: str) -> str:
    """The opaque name of an audience's folders: 12 hex of sha256(team id, audience)."""
    return digest(team, audience)[:12]


def project_audience(project: str) -> str | None:
    """The audience of a project; None where the project is not known, which entitles to nothing of its own."""
    return None if project in ("", "unknown") else PROJECT_PREFIX + project


def is_shared(audience: str) -> bool:
    """Whether an audience's words may lie in the analysts' tables: the team's and projects'. All else is private."""
    return audience == TEAM_AUDIENCE or audience.startswith(PROJECT_PREFIX)
