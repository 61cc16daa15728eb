"""Under which topics a learning is filed, and how many lie under each. Pure, whole, and free of order.

Some topics are read from what is known of a learning (its project, paths, packages, channel, kind of error, the folder
of its document, who is mentioned in its quotes), others from the tags that people wrote. A topic belongs to one
audience: its words and its count come from that audience's learnings alone.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from lorelake.formats.record import digest
from lorelake.learnings.bulk import without_collector
from lorelake.learnings.topic_names import FREE_TAG, Merge, merged, named, shortened, without_kind
from lorelake.learnings.topic_people import MENTION, Present
from lorelake.tables import TOPIC_KINDS

MOST_TAGS = 4
"""Stated tags a learning is filed under; of more, those that file the most learnings of its audience."""
LIVE = ("candidate", "active")
FORGOTTEN = "forgotten"

_FILE = re.compile(r"[^\s/]+\.[A-Za-z]\w{0,7}")
_PATH = re.compile(r"(?!\w+://)(?:\.{0,2}/)?[^\s/:]+(?:/[^\s/:]+)*/?")
_GLOB = re.compile(r"(?:^|/)[^/]*[*?\[{].*$")
_PACKAGE = re.compile(r"(?:(?:npm|pypi|cargo|gem|package):|(?=@[\w.-]+/[\w.-]+(?:@|$)))(?P<name>@?[\w./-]+)")
_PINNED = re.compile(r"(?P<name>[A-Za-z][\w.-]*)(?:@|[=~><!]=)[~^]?v?\d\S*")
_INSTALL = re.compile(
    r"\b(?:pip3? install|uv (?:pip install|add)|poetry add|npm (?:install|i|add)|pnpm (?:add|install)|yarn add|bun add"
    r"|cargo add|go get|gem install|bundle add) (?P<names>[^;&|]{1,200})"
)
_VERSION = re.compile(r"(?<=.)(?:@|[=~><!]=|\[).*$")
_ERROR_TYPE = re.compile(r"[A-Za-z]\w{2,60}")
_PLAIN_FOLDERS = frozenset((
    "adr", "adrs", "architecture", "articles", "content", "data", "decisions", "doc", "docs", "documentation", "files",
    "knowledge", "learnings", "lessons", "notes", "pages", "posts", "records", "rfcs", "src", "til", "wiki",
))  # fmt: skip
"""Folders that say what sort of file lies in them, not what it is about."""


class Tag(NamedTuple):
    """One topic of one learning before canonical names: its kind, its key, the rule and the words it read."""

    kind: str
    key: str
    labels: tuple[str, ...]
    tagger: str
    found_in: str


class Topics(NamedTuple):
    """Rows of `TOPICS`, `TOPIC_MEMBERS`, `TOPIC_MERGES`; learnings without a topic; stated tags beyond the limit."""

    topics: list[dict[str, Any]]
    members: list[dict[str, Any]]
    merges: list[dict[str, Any]]
    without: list[str]
    tags_cut: int


def topic_id(audience: str, path: str) -> str:
    """32 hex over the audience and the path."""
    return digest(audience, path)[:32]


@without_collector()
def topics(
    learnings: Iterable[Mapping[str, Any]],
    evidence: Iterable[Mapping[str, Any]],
    signals: Mapping[str, Mapping[str, Any]],
    present: Present,
) -> Topics:
    """File every learning that is not forgotten. No order of input matters.

    Args:
        learnings: rows of `tables.LEARNINGS`; the tags and paths that a person edited are already theirs.
        evidence: rows of `tables.LEARNING_EVIDENCE`.
        signals: rows of `tables.SIGNALS` by id.
        present: who was present in the units of the signals, as far as tags or quotes name anybody.
    """
    behind: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in evidence:
        if row["signal_id"] in signals:
            behind[row["learning_id"]].append(signals[row["signal_id"]])
    filed = [row for row in learnings if row["state"] != FORGOTTEN]
    by_audience: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in sorted(filed, key=lambda row: str(row["learning_id"])):
        by_audience[row["audience"]].append(row)
    of_audiences = []
    for audience, rows in sorted(by_audience.items()):
        tags = {row["learning_id"]: _tags(row, behind[row["learning_id"]], present) for row in rows}
        of_audiences.append(_of_audience(audience, rows, tags))
    return Topics(
        [row for one in of_audiences for row in one.topics],
        [row for one in of_audiences for row in one.members],
        [row for one in of_audiences for row in one.merges],
        [learning for one in of_audiences for learning in one.without],
        sum(one.tags_cut for one in of_audiences),
    )


def names_somebody(learning: Mapping[str, Any], signal: Mapping[str, Any]) -> bool:
    """Whether it needs to be known who was present where this signal of the learning was said."""
    return any(_kind(tag)[0] == "person" for tag in learning["tags"]) or "@" in signal["quote"]


def _of_audience(audience: str, rows: Sequence[Mapping[str, Any]], tags: Mapping[str, Sequence[Tag]]) -> Topics:
    uses = Counter(key for found in tags.values() for key in {tag.key for tag in found if tag.kind == FREE_TAG})
    into = merged(uses)
    merges = {f"{FREE_TAG}/{key}": (f"{FREE_TAG}/{m.into}", m.rule, m.evidence) for key, m in into.items()}
    canonical = {learning: [_canonical(tag, into) for tag in found] for learning, found in tags.items()}
    files = Counter(path for found in canonical.values() for path in {_path(tag) for tag in found})
    chosen = {learning: _chosen(found, files) for learning, found in canonical.items()}
    members = [
        {"learning_id": learning, "topic_id": topic_id(audience, path), "tagger": tag.tagger, "found_in": tag.found_in}
        for learning, found in sorted(chosen.items())
        for path, tag in sorted(found.items())
    ]
    kept = {path for found in chosen.values() for path in found}
    return Topics(
        list(_rows(audience, rows, chosen, _labels(tags))),
        members,
        [
            {"from_id": topic_id(audience, path), "to_id": topic_id(audience, to), "audience": audience,
             "kind": path.partition("/")[0], "from_path": path, "to_path": to, "rule": rule, "evidence": evidence}
            for path, (to, rule, evidence) in sorted(merges.items())
            if to in kept
        ],
        [learning for learning, found in sorted(chosen.items()) if not found],
        sum(_cut(found, chosen[learning]) for learning, found in canonical.items()),
    )  # fmt: skip


def _canonical(tag: Tag, into: Mapping[str, Merge]) -> Tag:
    return tag._replace(key=into[tag.key].into) if tag.kind == FREE_TAG and tag.key in into else tag


def _path(tag: Tag) -> str:
    return f"{tag.kind}/{tag.key}"


def _chosen(found: Sequence[Tag], files: Mapping[str, int]) -> dict[str, Tag]:
    """Path to the tag that files a learning there: all that rules found, and the most used of the stated ones."""
    chosen: dict[str, Tag] = {}
    for tag in found:
        if tag.tagger != "tag":
            chosen.setdefault(_path(tag), tag)
    stated = {_path(tag): tag for tag in reversed(found) if tag.tagger == "tag"}
    for path in sorted(stated, key=lambda path: (-files[path], path))[:MOST_TAGS]:
        chosen.setdefault(path, stated[path])
    return chosen


def _cut(found: Sequence[Tag], chosen: Mapping[str, Tag]) -> int:
    return len({_path(tag) for tag in found if tag.tagger == "tag"} - chosen.keys())


def _labels(tags: Mapping[str, Sequence[Tag]]) -> dict[str, str]:
    """Path to its last part as most learnings have it, then the smaller spelling."""
    spelled: dict[str, Counter[str]] = defaultdict(Counter)
    for found in tags.values():
        for tag in dict.fromkeys(found):
            parts = tag.key.split("/")
            for depth, label in enumerate(tag.labels, start=1):
                spelled[f"{tag.kind}/{'/'.join(parts[:depth])}"][label] += 1
    return {path: min(counts, key=lambda label: (-counts[label], label)) for path, counts in spelled.items()}


def _rows(
    audience: str,
    rows: Sequence[Mapping[str, Any]],
    chosen: Mapping[str, Mapping[str, Tag]],
    labels: Mapping[str, str],
) -> Iterator[dict[str, Any]]:
    live: dict[str, set[str]] = defaultdict(set)
    active: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        learning = row["learning_id"]
        for path in chosen[learning]:
            for above in _and_above(path):
                here = live[above]
                if row["state"] in LIVE:
                    here.add(learning)
                if row["state"] == "active":
                    active[above].add(learning)
    for path, here in sorted(live.items()):
        parent = path.rpartition("/")[0]
        yield {
            "topic_id": topic_id(audience, path),
            "audience": audience,
            "path": path,
            "kind": path.partition("/")[0],
            "label": labels[path],
            "parent_id": topic_id(audience, parent) if "/" in parent else None,
            "learnings": len(here),
            "active": len(active[path]),
        }


def _and_above(path: str) -> Iterator[str]:
    """The path and every one above it, below the kind."""
    while "/" in path:
        yield path
        path = path.rpartition("/")[0]


def _tags(learning: Mapping[str, Any], signals: Sequence[Mapping[str, Any]], present: Present) -> list[Tag]:
    """Every tag of a learning, stated ones last; in an order that does not depend on that of its signals."""
    ordered = sorted(signals, key=lambda row: str(row["signal_id"]))
    found = [*_of_project(learning), *_of_applies_to(learning["applies_to"])]
    for signal in ordered:
        found += _of_signal(signal, present.get(signal["unit_id"], {}))
    here = {name: person for signal in ordered for name, person in present.get(signal["unit_id"], {}).items()}
    for tag in sorted(learning["tags"]):
        found += _stated(tag, here)
    return list(dict.fromkeys(found))


def _tag(kind: str, words: str, tagger: str, found_in: str) -> list[Tag]:
    key = named(words)
    return [Tag(kind, key.key, key.labels, tagger, found_in)] if key else []


def _of_project(learning: Mapping[str, Any]) -> list[Tag]:
    project = learning["project"]
    return _tag("project", project, "project", project) if project not in ("", "unknown") else []


def _of_applies_to(applies_to: Iterable[str]) -> list[Tag]:
    found = []
    for entry in sorted(applies_to):
        packages = list(_packages(entry))
        for name in packages:
            found += _tag("package", name, "package", entry)
        if not packages and ("/" in entry or _FILE.fullmatch(entry)) and _PATH.fullmatch(entry):
            found += _tag("path", _GLOB.sub("", entry), "path", entry)
    return found


def _packages(entry: str) -> Iterator[str]:
    for pattern in (_PACKAGE, _PINNED):
        exact = pattern.match(entry)
        if exact:
            yield _VERSION.sub("", exact["name"])
            return
    installed = _INSTALL.search(entry)
    for word in installed["names"].split() if installed else ():
        name = _VERSION.sub("", word.strip("'\""))
        if re.fullmatch(r"@?[A-Za-z][\w./-]*", name):
            yield name


def _of_signal(signal: Mapping[str, Any], here: Mapping[str, str]) -> list[Tag]:
    payload = json.loads(signal["payload"])
    item = payload.get("item") or {}
    found = []
    source, _, native = str(signal["unit_id"]).partition(":")
    channel = native.partition(":")[0]
    if source == "slack" and channel[:1] in ("C", "G"):
        found += _tag("channel", channel, "channel", channel)
    if (payload.get("seen") or {}).get("signature"):
        kind = str(item.get("witness") or "").partition(" ")[0]
        found += _tag("error", kind, "error", kind) if _ERROR_TYPE.fullmatch(kind) else []
    folder = _folder(str(item.get("document") or ""))
    found += _tag(FREE_TAG, folder, "folder", str(item.get("document"))) if folder else []
    for name in MENTION.findall(signal["quote"]):
        key = named(name)
        if key and key.key in here:
            found += _person(here[key.key], "mention", f"@{name}")
    return found


def _folder(document: str) -> str:
    """The nearest folder of a document that says what it is about; empty where none does."""
    folders = document.split("/")[:-1]
    return next((folder for folder in reversed(folders) if folder.lower() not in _PLAIN_FOLDERS), "")


def _person(person: str, tagger: str, found_in: str) -> list[Tag]:
    key = named(person)
    return [Tag("person", key.key.replace("/", "_"), (shortened(person),), tagger, found_in)] if key else []


def _kind(tag: str) -> tuple[str, str]:
    return without_kind(tag, TOPIC_KINDS)


def _stated(tag: str, here: Mapping[str, str]) -> list[Tag]:
    """A tag that a person wrote. Of people only those present are topics; a channel is where it was said, no tag."""
    kind, words = _kind(tag)
    if kind == "channel":
        return []
    if kind == "person":
        key = named(words.lstrip("@"))
        return _person(here[key.key], "tag", tag) if key and key.key in here else []
    return _tag(kind, words, "tag", tag)
