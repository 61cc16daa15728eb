"""What the audit asks of the words that will be served: nobody else's, nothing withdrawn, no secret."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
import polars as pl

from lorelake import served
from lorelake.content.normalise import content_key
from lorelake.formats.record import digest
from lorelake.release.audit_tables import Frames, error, restored, some
from lorelake.release.build import REVIEW_FOLDER
from lorelake.release.rows import TEXT_COLUMNS, Redact
from lorelake.release.verdict import Finding

Items = Mapping[str, Sequence[served.Item]]
"""Served items by audience, as read back from the indexes."""

CANARY_CHARS = 16
"""Shorter titles are ordinary words that two audiences may share."""
CANARIES = 2000
"""How many titles and quotes of other audiences are searched for, chosen by hash."""
WITHDRAWN = ("superseded", "refuted", "rejected", "forgotten", "expired")


def check_words(candidate: Path, items: Items, frames: Frames, team: str, redact: Redact) -> list[Finding]:
    """All checks on words. `redact` is `Redactor.values` under the team's policy."""
    return [
        *_withdrawn(items, frames),
        *_tombstoned(items, frames, team),
        *_foreign_items(items, frames, team),
        *_foreign_words(items, team),
        *_private_words(items, frames),
        *_queues(candidate, frames, team),
        *_secrets(items, frames["learnings"], redact),
    ]


def _withdrawn(items: Items, frames: Frames) -> Iterator[Finding]:
    """No withdrawn text is served, whatever its id; what replaced it may say it again."""
    learnings = frames["learnings"].select("learning_id", "audience", "state", "text_sha256", "superseded_by")
    newer = dict(learnings.select("learning_id", "superseded_by").iter_rows())
    withdrawn: dict[tuple[str, str], list[str]] = defaultdict(list)
    for learning, audience, state, text, _ in learnings.iter_rows():
        if state in WITHDRAWN:
            withdrawn[audience, text].append(learning)
    every = [item for served_ in items.values() for item in served_]
    old = [
        item.learning_id
        for item in every
        if any(item.learning_id not in _replacing(id_, newer) for id_ in withdrawn[item.audience, item.text_sha256])
    ]
    if old:
        yield error("withdrawn_served", f"served though the same words were withdrawn: {some(old)}")


def _tombstoned(items: Items, frames: Frames, team: str) -> Iterator[Finding]:
    """Nothing that is shown of an item, its quotes included, has the words of a tombstone."""
    reached: dict[str, set[str]] = defaultdict(set)
    for key, reach in frames["tombstones"].select("content_key", "reach").iter_rows():
        reached[reach].add(key)
    brought_back = restored(frames)
    for audience, served_ in items.items():
        # The tables name a private audience by the id of its folder.
        out = reached[served.TEAM_AUDIENCE] | reached[audience] | reached[served.audience_id(team, audience)]
        back = [
            item.learning_id
            for item in served_
            if out and item.learning_id not in brought_back and not out.isdisjoint(shown_keys(item))
        ]
        if back:
            yield error("tombstone_served", f"served though a person rejected or forgot it: {some(back)}")


def shown_keys(item: served.Item) -> set[str]:
    """Content keys of everything that is shown of an item: its witness, title, advice and quotes."""
    return {item.content_key, *map(content_key, (item.title, item.do, *(quote.words for quote in item.quotes)))}


def _replacing(learning: str, newer: Mapping[str, str | None]) -> set[str]:
    met: set[str] = set()
    now = newer.get(learning)
    while now is not None and now not in met:
        met.add(now)
        now = newer.get(now)
    return met


def _foreign_items(items: Items, frames: Frames, team: str) -> Iterator[Finding]:
    """Each item lies in its learning's audience, and each quote is one of that learning's."""
    audience_of = dict(frames["learnings"].select("learning_id", "audience").iter_rows())
    quotes: dict[str, set[str]] = defaultdict(set)
    for learning, sha256 in frames["learning_evidence"].select("learning_id", "quote_sha256").iter_rows():
        quotes[learning].add(sha256)
    for audience, served_ in items.items():
        name = served.audience_id(team, audience)
        for item in served_:
            if item.audience != audience or audience_of.get(item.learning_id) != audience:
                yield error("foreign_item", f"{name} holds an item of another audience: {item.learning_id}")
            if any(_sha256(quote.words) not in quotes[item.learning_id] for quote in item.quotes):
                yield error("foreign_quote", f"{item.learning_id} is served with a quote that is not its own")


def _foreign_words(items: Items, team: str) -> Iterator[Finding]:
    """No title or quote of one audience stands in another's folder, unless that audience's own witnesses said it."""
    canaries = {audience: _canaries(served_) for audience, served_ in items.items()}
    for audience, served_ in items.items():
        own = "\n".join(quote.words for item in served_ for quote in item.quotes)
        text = "\n".join(string for item in served_ for string in _strings(msgspec.to_builtins(item)))
        others = set().union(*(found for other, found in canaries.items() if other != audience))
        leaked = [canary for canary in _sample(others) if canary in text and canary not in own]
        if leaked:
            name = served.audience_id(team, audience)
            yield error("foreign_words", f"{name} holds words of another audience: sha256 {_hashes(leaked)}")


def _private_words(items: Items, frames: Frames) -> Iterator[Finding]:
    """Words of private audiences stand in no table, unless a witness of a shared audience said them too."""
    columns = frames["learnings"].select("learning_id", "audience", *TEXT_COLUMNS).iter_rows()
    exposed = [id_ for id_, audience, *texts in columns if not served.is_shared(audience) and any(texts)]
    if exposed:
        yield error("private_words", f"tables hold the words of private learnings: {some(exposed)}")
    canaries = set().union(*(_canaries(found) for audience, found in items.items() if not served.is_shared(audience)))
    if not canaries:
        return
    own = "\n".join(frames["learning_evidence"]["quote"])
    text = "\n".join(_table_strings(frames))
    leaked = [canary for canary in _sample(canaries) if canary in text and canary not in own]
    if leaked:
        yield error("private_words", f"tables hold words of a private audience: sha256 {_hashes(leaked)}")


def _queues(candidate: Path, frames: Frames, team: str) -> Iterator[Finding]:
    """What reviewers of an audience get holds its own learnings only, and nothing that was forgotten."""
    state = {
        id_: (audience, s)
        for id_, audience, s in frames["learnings"].select("learning_id", "audience", "state").iter_rows()
    }
    for path, learning in _to_review(candidate / REVIEW_FOLDER):
        audience, now = state.get(learning, ("", ""))
        if served.audience_id(team, audience) != path.parent.name or now == "forgotten":
            yield error("queue_foreign", f"{path.parent.name}/{path.name} holds what it may not: {learning}")


def _to_review(folder: Path) -> Iterator[tuple[Path, str]]:
    """Every learning in a file that reviewers get."""
    for path in sorted(folder.glob(f"*/{served.REVIEW_QUEUE}")):
        yield from ((path, entry["learning_id"]) for entry in msgspec.json.decode(path.read_bytes()))
    for path in sorted(folder.glob(f"*/{served.REVIEW_ITEMS}")):
        lines = path.read_bytes().splitlines()
        yield from ((path, msgspec.json.decode(line)["item"]["learning_id"]) for line in lines)


def _secrets(items: Items, learnings: pl.DataFrame, redact: Redact) -> Iterator[Finding]:
    every = [item for served_ in items.values() for item in served_]
    ids = [*(item.learning_id for item in every), *learnings["learning_id"]]
    texts = [[item.title, *_strings(msgspec.to_builtins(item))] for item in every]
    texts += [list(_strings(list(row))) for row in learnings.select(TEXT_COLUMNS).rows()]
    leaks = {id_ for id_, old, new in zip(ids, texts, redact(list(texts)), strict=True) if old != new}
    if leaks:
        yield error("secret", f"a text holds what the redaction rules recognise: {some(leaks)}")


def _canaries(items: Sequence[served.Item]) -> set[str]:
    found = {item.title for item in items} | {quote.words for item in items for quote in item.quotes}
    return {text for text in found if len(text) >= CANARY_CHARS}


def _sample(canaries: Iterable[str]) -> list[str]:
    return sorted(canaries, key=digest)[:CANARIES]


def _hashes(texts: Iterable[str]) -> str:
    """Findings are read more widely than the words they are about: they name hashes."""
    return some(digest(text)[:12] for text in texts)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _strings(inner)


def _table_strings(frames: Frames) -> Iterator[str]:
    for table, data in frames.items():
        for name, kind in data.schema.items():
            if kind in (pl.String, pl.List(pl.String)) and (table, name) != ("learning_evidence", "quote"):
                column = data[name].explode() if kind == pl.List(pl.String) else data[name]
                yield from (
                    text for text in column.drop_nulls().unique(maintain_order=True) if len(text) >= CANARY_CHARS
                )


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
