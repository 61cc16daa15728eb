"""What documents say of each other: the next version replaces the one before, a record names the record it replaces.

A document speaks only for its own audience and repository. A machine's document replaces nothing and is not said to be
replaced; a proposed or rejected one replaces nothing; one that was itself replaced later went on replacing till then
and still does. Of a document's statements those of its newest version count, from when they were first made.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, product
from typing import Any

import msgspec

from lorelake.content.normalise import normalise, words
from lorelake.learnings import supersession_said as grammar
from lorelake.learnings.supersession_names import Name, mask, named
from lorelake.learnings.supersession_rows import Link

_PAST = frozenset(("superseded", "deprecated", "obsolete", "replaced", "retired"))
_KEYS: dict[str, tuple[bool, bool]] = {
    "supersedes": (True, False), "replaces": (True, False), "obsoletes": (True, False), "deprecates": (True, False),
    "reverses": (True, False), "amends": (True, True), "partiallysupersedes": (True, True),
    "supersedesinpart": (True, True), "supersedespartially": (True, True),
    "supersededby": (False, False), "replacedby": (False, False), "obsoletedby": (False, False),
    "deprecatedby": (False, False), "reversedby": (False, False), "amendedby": (False, True),
    "partiallysupersededby": (False, True), "supersededinpartby": (False, True), "supersededpartiallyby": (False, True),
}  # fmt: skip
"""Key of the frontmatter, joints left out, to (this record is the newer one, in part)."""
_URL = re.compile(r"[a-z][a-z0-9+.-]*://[^/]*/", re.I)


class Version:
    """One version of one document, with the claim it makes, if it makes one."""

    def __init__(self, event: Mapping[str, Any], claim: Mapping[str, Any] | None) -> None:
        stated = event["attributes"]
        self.event = event
        self.claim = claim
        self.path = str(event["path"] or "")
        self.text = str(event["text"] or "")
        self.attributes: dict[str, Any] = json.loads(stated) if isinstance(stated, str) else dict(stated)
        front = self.attributes.get("frontmatter")
        self.front: dict[str, Any] = front if isinstance(front, dict) else {}

    @property
    def is_by_a_person(self) -> bool:
        """Whether a person wrote it."""
        return bool(self.event["actor_class"] == "human") and self.attributes.get("machine_written") is not True

    @property
    def place(self) -> str:
        """Path and revision, as evidence names it."""
        return f"{self.path}@{self.event['revision'] or self.event['event_id']}"


class Document:
    """One document: the versions that persons wrote, in order; at least one makes a claim."""

    def __init__(self, versions: Sequence[Version]) -> None:
        self.versions = versions
        self.claimed = [version for version in versions if version.claim is not None]
        self.newest = versions[-1]
        self.path = self.newest.path
        self.scope = (
            str(self.newest.event["unit_id"]).removeprefix(f"documents:{self.path}"),
            str(self.newest.event["audience"]),
        )
        number = self.newest.attributes.get("adr_number")
        self.number = int(number) if number is not None else None
        title = str(self.newest.attributes.get("title") or "")
        self.title = normalise(re.sub(r"^(?:ADR\W{0,2})?\d{1,5}\s*[.:)—–-]\s*", "", title, flags=re.I))

    @property
    def claim_id(self) -> str:
        """What it claims now."""
        return str(self._claim["claim_id"])

    @property
    def _claim(self) -> Mapping[str, Any]:
        return next(version.claim for version in reversed(self.versions) if version.claim is not None)

    @property
    def replaces(self) -> bool:
        """Whether it may replace another."""
        stated = self.newest.attributes.get("adr_status") or self.newest.front.get("status")
        status = re.match(r"\W*([a-z]+)", str(stated or ""), re.I)
        return bool(self._claim["trust_basis"] != "proposed") or bool(status and status[1].lower() in _PAST)


def links(
    claims: Iterable[Mapping[str, Any]], signals: Iterable[Mapping[str, Any]], events: Iterable[Mapping[str, Any]]
) -> Iterator[Link]:
    """Every link that documents give; arguments as `supersession.candidates` has them."""
    documents = _documents(claims, signals, events)
    records = Records(documents)
    for document in documents:
        yield from _within(document)
        yield from _stated(document, records)


def _documents(
    claims: Iterable[Mapping[str, Any]], signals: Iterable[Mapping[str, Any]], events: Iterable[Mapping[str, Any]]
) -> list[Document]:
    event_of = {row["signal_id"]: row["event_id"] for row in signals if row["kind"] == "authored"}
    claim_of = {event_of[row["signal_id"]]: row for row in claims if row["signal_id"] in event_of}
    units: dict[str, list[Version]] = {}
    for event in sorted(events, key=lambda row: (row["unit_id"], row["seq"])):
        if event["kind"] == "document_version":
            version = Version(event, claim_of.get(event["event_id"]))
            if version.is_by_a_person:
                units.setdefault(event["unit_id"], []).append(version)
    return [Document(versions) for versions in units.values() if any(version.claim for version in versions)]


def _within(document: Document) -> Iterator[Link]:
    for before, after in pairwise(document.claimed):
        if before.claim and after.claim and after.claim["trust_basis"] != "proposed":
            yield Link(
                older_id=str(before.claim["claim_id"]), newer_id=str(after.claim["claim_id"]), reason="same_document",
                evidence=after.place, actor=str(after.event["actor"]), ts=after.event["ts"],
                features={"document": document.path},
            )  # fmt: skip


class Records:
    """Documents by the names one may call them by, per repository and audience."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._by: dict[tuple[tuple[str, str], str, str], list[Document]] = defaultdict(list)
        self._titles: dict[tuple[str, str], set[str]] = defaultdict(set)
        for one in documents:
            base = posixpath.basename(one.path)
            stem = posixpath.splitext(base)[0]
            self._by[one.scope, "base", base].append(one)
            for slug in {stem.lower(), re.sub(r"^\d{1,5}[-_]", "", stem).lower()}:
                self._by[one.scope, "slug", slug].append(one)
            if one.number is not None:
                self._by[one.scope, "number", str(one.number)].append(one)
            if len(words(one.title)) > 1:
                self._by[one.scope, "title", one.title].append(one)
                self._titles[one.scope].add(one.title)

    def titles(self, document: Document) -> Collection[str]:
        """The titles that name a record where this document speaks."""
        return self._titles[document.scope]

    def find(self, document: Document, name: Name, linked: Collection[str], about: str) -> list[Document]:
        """The records a name may stand for; the document itself among them means itself.

        Args:
            document: who says it.
            name: what it says.
            linked: paths of the records the document names in a way that fits one only.
            about: the words of the sentence: of several records with one number they may tell which.
        """
        if name.kind == "link":
            found = self._at(document, name.value)
            if found or name.value.split("#")[0].endswith((".md", ".markdown")):
                return found
            inside = named(name.words, self._titles[document.scope])
            return [
                one for inner in inside if inner.kind != "link" for one in self.find(document, inner, linked, about)
            ]
        if name.kind == "path":
            return self._at(document, name.value)
        if name.kind in ("title", "slug"):
            found = self._by.get((document.scope, name.kind, name.value.lower()), [])
            return found if len(found) == 1 else []
        return self._numbered(document, int(name.value), linked, about) if name.kind == "number" else []

    def _at(self, document: Document, target: str) -> list[Document]:
        """The document at a path: beside the one that names it, from the root, or the only one whose path ends so."""
        plain = _URL.sub("", target).split("#")[0].split("?")[0].lstrip("/")
        fits = self._by.get((document.scope, "base", posixpath.basename(plain)), [])
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(document.path), plain))
        exact = [one for one in fits if one.path in (beside, posixpath.normpath(plain))]
        tail = "/" + re.sub(r"^(?:\.{1,2}/)+", "", plain)
        if _URL.match(target):
            tail = "/" + "/".join(plain.split("/")[-2:])
        return exact[:1] or ([one for one in fits if f"/{one.path}".endswith(tail)] if len(fits) == 1 else [])

    def _numbered(self, document: Document, number: int, linked: Collection[str], about: str) -> list[Document]:
        every = self._by.get((document.scope, "number", str(number)), [])
        folder = posixpath.dirname(document.path)
        fits = [one for one in every if posixpath.dirname(one.path) == folder] or every
        if document in fits:
            return [document]
        fits = [one for one in fits if one.path in linked] or fits
        if len(fits) < 2:
            return fits
        said = set(words(about))
        own = {one.path: set(words(one.title)) for one in fits}
        told = []
        for one in fits:
            others = {word for path, title in own.items() if path != one.path for word in title}
            if len(said & (own[one.path] - others)) > 1:
                told.append(one)
        return told if len(told) == 1 else fits


class _Meant(msgspec.Struct, frozen=True):
    """A claim that a name stands for."""

    claim_id: str
    path: str
    replaces: bool


def _stated(document: Document, records: Records) -> Iterator[Link]:
    """What the newest version says of itself and others.

    A number that fits several records gives an ambiguous link to each, unless the document also names one of them
    clearly in the same direction.
    """
    said_here = list(_statements(document, records))
    linked = _linked(document, records) if said_here else set()
    clear: list[Link] = []
    doubtful: list[list[Link]] = []
    for statement, quote in said_here:
        older = _side(document, records, statement.older, linked, quote)
        newer = _side(document, records, statement.newer, linked, quote)
        for before, after in product(older, newer):
            found = [_link(document, statement, quote, one, other) for one, other in product(before, after)]
            pairs = [link for link in found if link is not None and link.older_id != link.newer_id]
            if len(before) * len(after) == 1:
                clear += pairs
            elif pairs:
                fits = sorted({one.path for one in (*before, *after) if one.path != document.path})
                doubtful.append([_doubted(link, fits) for link in pairs])
    yield from clear
    said = {(link.older_id, link.newer_id) for link in clear}
    for group in doubtful:
        if not any((link.older_id, link.newer_id) in said for link in group):
            yield from group


def _doubted(link: Link, fits: list[str]) -> Link:
    return msgspec.structs.replace(link, is_ambiguous=True, features={**link.features, "fits": fits})


def _linked(document: Document, records: Records) -> set[str]:
    """Paths of the records that the text names by more than a number."""
    found: set[str] = set()
    for names in mask(document.newest.text, records.titles(document)).names:
        for name in names:
            if name.kind != "number":
                fits = records.find(document, name, (), "")
                found.update(one.path for one in fits if len(fits) == 1)
    return found


def _side(
    document: Document, records: Records, side: grammar.Side, linked: Collection[str], about: str
) -> list[list[_Meant]]:
    """For each name of one side the claims it may stand for; one list with this record where nobody is named."""
    if not side:
        return [[_Meant(document.claim_id, document.path, document.replaces)]]
    found = []
    for name in (name for names in side for name in names):
        if name.kind == "claim":
            found.append([_Meant(name.value, "", True)])
        else:
            fits = records.find(document, name, linked, about)
            found.append([_Meant(one.claim_id, one.path, one.replaces) for one in fits])
    return [fits for fits in found if fits]


def _statements(document: Document, records: Records) -> Iterator[tuple[grammar.Statement, str]]:
    """Each statement of the newest version with its verbatim words."""
    newest, titles = document.newest, records.titles(document)
    for key, value in newest.front.items():
        known = _KEYS.get(re.sub(r"[-_ ]", "", str(key)).lower())
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, str | int) and not isinstance(one, bool):
                quote = str(one)
                if known:
                    yield _of_key(str(key), quote, *known, titles), quote
                elif str(key).lower() in ("status", "state"):
                    for statement in grammar.stated_in(quote, titles):
                        yield statement, quote
    start = int(newest.attributes.get("body_start") or 0)
    for statement in grammar.statements(newest.text, titles, start):
        yield statement, newest.text[statement.start : statement.end]


def _of_key(key: str, value: str, is_newer: bool, is_partial: bool, titles: Collection[str]) -> grammar.Statement:
    names = (named(value, titles) or (Name("slug", "", value),),)
    older, newer = (names, ()) if is_newer else ((), names)
    return grammar.Statement(older, newer, is_partial, None, key, "frontmatter", 0, len(value))


def _link(document: Document, statement: grammar.Statement, quote: str, older: _Meant, newer: _Meant) -> Link | None:
    is_own = document.claim_id in (older.claim_id, newer.claim_id)
    if not newer.replaces or not (is_own or document.replaces):
        return None
    first = _first_said(document, quote)
    return Link(
        older_id=older.claim_id, newer_id=newer.claim_id, reason="explicit", evidence=first.place, quote=quote,
        actor=str(first.event["actor"]), ts=first.event["ts"], is_partial=statement.is_partial, part=statement.part,
        features={"verb": statement.verb, "zone": statement.zone},
    )  # fmt: skip


def _first_said(document: Document, quote: str) -> Version:
    """The version since which the words have stood there."""
    words_only = " ".join(quote.split())
    first = document.versions[-1]
    for version in reversed(document.versions):
        if words_only not in " ".join(version.text.split()) and quote not in map(str, _values(version.front)):
            break
        first = version
    return first


def _values(front: Mapping[str, Any]) -> Iterator[Any]:
    for value in front.values():
        yield from value if isinstance(value, list) else [value]
