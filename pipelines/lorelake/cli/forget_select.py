"""What `lorelake forget` is asked for: exact learnings, units and records, by id, words, person or place."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import msgspec
import polars as pl

from lorelake.content.erasure import (
    SHORTEST_TEXT,
    Erased,
    label_of,
    person_hmacs,
    record_hmac,
    text_hmac,
    unit_hmac,
)
from lorelake.content.redaction import Redactor
from lorelake.errors import UsageError
from lorelake.events import days as event_days
from lorelake.events.derive import units_of
from lorelake.formats import registry
from lorelake.formats.record import digest
from lorelake.lake import Lake, read_table
from lorelake.settings import Settings
from lorelake.tables import ALIASES, EVENTS, LEARNING_EVIDENCE, LEARNINGS, PEOPLE, SESSIONS, SIGNALS

SHORTEST_QUOTE = 24
"""Characters below which a quote is no reason to erase another record that holds it too."""


@dataclass(frozen=True)
class Criteria:
    """What was given; all that is given must hold. Days are UTC, both ends included."""

    ids: tuple[str, ...] = ()
    query: str | None = None
    person: str | None = None
    source: str | None = None
    channel: str | None = None
    project: str | None = None
    since: date | None = None
    until: date | None = None
    mentions: bool = False

    @property
    def by_item(self) -> bool:
        """Whether learnings are named, and not where or by whom something was said."""
        return bool(self.ids or self.query)

    @property
    def by_place(self) -> bool:
        """Whether something but learnings is named."""
        return any((self.person, self.source, self.channel, self.project, self.since, self.until))


@dataclass
class Names:
    """A person's names: every alias, and those of them that stand for the person wherever they are met in a text."""

    person_id: str
    aliases: set[str] = field(default_factory=set)
    anywhere: set[str] = field(default_factory=set)
    decides: bool = False


@dataclass
class Selected:
    """What was found. `kept` are learnings that lose a witness and stand on others' words; `records` are the HMACs of
    an erasure; `persons` those of a person's names, of whom `names` knows them in plain."""

    learnings: list[dict[str, Any]] = field(default_factory=list)
    kept: list[dict[str, Any]] = field(default_factory=list)
    records: list[str] = field(default_factory=list)
    persons: tuple[str, ...] = ()
    names: Names | None = None

    def erased(self, key: bytes) -> Erased:
        """What this selection would keep out."""
        label = label_of(self.persons) if self.persons else ""
        deciders = frozenset((label,)) if self.names and self.names.decides else frozenset[str]()
        return Erased(key, frozenset(self.records), dict.fromkeys(self.persons, label), deciders)


class Selector:
    """Looks for what is asked in a lake's own tables.

    Args:
        key: the team's key, for the HMACs.
    """

    def __init__(self, lake: Lake, settings: Settings, key: bytes) -> None:
        self._lake, self._settings, self._key = lake, settings, key
        self._redactor = Redactor(key, settings.redaction.emails, settings.redaction.phones)
        self._evidence = read_table(LEARNING_EVIDENCE, lake.table(LEARNING_EVIDENCE))
        self._signals = read_table(SIGNALS, lake.days(SIGNALS))
        self._learnings = read_table(LEARNINGS, lake.table(LEARNINGS))

    def select(self, asked: Criteria, erase: bool) -> Selected:
        """What meets the criteria.

        Args:
            erase: also the records; else learnings alone.

        Raises:
            UsageError: an id or a person that is not known here.
        """
        names = self.names(asked.person, asked.mentions) if asked.person else None
        said = self._said(asked, names)
        found = Selected(names=names)
        named = self._named(asked)
        if named is None:
            all_ids = self._evidence.filter(pl.col("signal_id").is_in(said["signal_id"].implode()))["learning_id"]
            others = self._evidence.filter(~pl.col("signal_id").is_in(said["signal_id"].implode()))["learning_id"]
            gone = set(all_ids) - set(others)
            found.kept = self._rows(set(all_ids) & set(others))
        else:
            gone = named
            if asked.by_place:
                touched = self._evidence.filter(pl.col("signal_id").is_in(said["signal_id"].implode()))
                gone &= set(touched["learning_id"])
        found.learnings = self._rows(gone)
        if erase:
            behind = self._evidence.filter(pl.col("learning_id").is_in(sorted(gone)))
            found.records = sorted(set(self._records(asked, names, behind, said)))
            if names and not asked.by_item:
                found.persons = person_hmacs(self._key, names.aliases, names.anywhere)
        return found

    def named(self, asked: Criteria, found: Selected) -> Selected:
        """The same selection with the plain words of the person's name, as `mentions` would have it."""
        names = self.names(asked.person or "", mentions=True)
        persons = person_hmacs(self._key, names.aliases, names.anywhere)
        return Selected(records=found.records, persons=persons, names=names)

    def names(self, person: str, mentions: bool = False) -> Names:
        """Every name of a person, from the settings, the people table, and the sources' own user objects.

        Args:
            mentions: plain words of their name count as well, wherever they stand.

        Raises:
            UsageError: nobody here is called so.
        """
        known = read_table(PEOPLE, self._lake.table(PEOPLE))
        wanted = person.lower()
        ids = set(known.filter(pl.col("alias").str.to_lowercase() == wanted)["person_id"])
        ids |= {one for one in known["person_id"] if one.lower() == wanted}
        sessions = read_table(SESSIONS, self._lake.table(SESSIONS))["person"]
        placeholders = {one for one in [*sessions, *self._signals["actor"], *known["person_id"]] if ":" in one}
        ids |= {one for one in placeholders if wanted in (one.lower(), one.rpartition(":")[2].lower())}
        for one in self._settings.people:
            if wanted in {name.lower() for name in (one.id, one.name, *one.emails, *one.logins, *one.slack)}:
                ids.add(one.id)
        if len(ids) != 1:
            why = "nobody here is called so" if not ids else f"it names several: {', '.join(sorted(ids))}"
            raise UsageError(why, where=f"--person {person}", remedy="the table `people` lists every name")
        found = Names(ids.pop())
        rows = known.filter(pl.col("person_id") == found.person_id)
        found.aliases = {found.person_id, found.person_id.rpartition(":")[2], *rows["alias"]}
        found.decides = bool(rows["is_reviewer"].any())
        logins = {alias for alias in rows["alias"] if alias != found.person_id}
        if ":" in found.person_id:  # a person of one source, whom the settings do not know
            logins.add(found.person_id.rpartition(":")[2])
        plain = {found.person_id}
        for one in self._settings.people:
            if one.id == found.person_id:
                marks = {self._redactor.text(email) for email in one.emails}
                found.aliases |= {one.id, one.name, *one.emails, *marks, *one.logins, *one.slack} - {""}
                logins |= {*one.emails, *marks, *one.logins, *one.slack}
                plain |= set(one.name.split())
        for name in self._own_objects(found.aliases):
            found.aliases.add(name)
            plain |= set(name.split()) if " " in name else set()
        lower = {word.lower() for word in plain}
        found.anywhere = {login for login in logins if login.lower() not in lower and not login.startswith("id:")}
        if mentions:
            found.anywhere |= plain
        return found

    def _own_objects(self, aliases: Collection[str]) -> Iterator[str]:
        """Names in the objects by which sources describe this person."""
        probe = Erased(self._key, persons=dict.fromkeys(person_hmacs(self._key, aliases), "erased:"))
        texts = [msgspec.json.encode(alias).decode() for alias in aliases if not alias.startswith("id:")]
        rows = event_days.scan_raw(self._lake).filter(pl.col("body").str.contains_any(texts)).select("body").collect()
        for body in rows["body"]:
            yield from probe.own_names(msgspec.json.decode(body))

    def _named(self, asked: Criteria) -> set[str] | None:
        """Learnings that are named by id or words; None where neither is given."""
        if not asked.by_item:
            return None
        found: set[str] = set()
        known = read_table(ALIASES, self._lake.table(ALIASES))
        for id_ in asked.ids:
            rows = known.filter(pl.col("reference").str.starts_with(id_), pl.col("learning_id").is_not_null())
            hits = set(rows["learning_id"]) | {one for one in self._learnings["learning_id"] if one.startswith(id_)}
            if len(hits) != 1:
                why = "no item has this id" if not hits else f"{len(hits)} items begin with it"
                raise UsageError(why, where=f"--id {id_}", remedy="`lorelake recall` and `lorelake show` tell ids")
            found |= hits
        if asked.query:
            words = asked.query.lower().split()
            quotes = self._evidence.group_by("learning_id").agg(pl.col("quote").str.join(" "))
            texts = self._learnings.join(quotes, on="learning_id", how="left").select(
                "learning_id",
                pl.concat_str("title", "when", "do", "because", "quote", separator=" ", ignore_nulls=True),
            )
            found |= {id_ for id_, text in texts.iter_rows() if all(word in text.lower() for word in words)}
        return found

    def _rows(self, ids: Collection[str]) -> list[dict[str, Any]]:
        columns = ("learning_id", "state", "audience", "title", "content_key", "said_by", "project")
        return self._learnings.filter(pl.col("learning_id").is_in(sorted(ids))).select(columns).to_dicts()

    def _said(self, asked: Criteria, names: Names | None) -> pl.DataFrame:
        """Signals that meet the criteria of place, person and time."""
        rows = self._signals
        if names:
            rows = rows.filter(pl.col("actor") == names.person_id)
        if asked.source:
            rows = rows.filter(pl.col("unit_id").str.starts_with(f"{asked.source}:"))
        if asked.channel:
            rows = rows.filter(pl.col("unit_id").str.starts_with(f"slack:{self.channel(asked.channel)}:"))
        if asked.project:
            rows = rows.filter(pl.col("project") == asked.project)
        return rows.filter(*_within(asked, pl.col("ts").dt.date()))

    def channel(self, name: str) -> str:
        """The id of a channel, by id or name. Raises UsageError."""
        raw = event_days.scan_raw(self._lake).filter(pl.col("source") == "slack")
        entries = raw.filter(pl.col("record_type") == "channel").select("body").collect()["body"]
        listed = [msgspec.json.decode(body).get("entry") or {} for body in entries]
        known = {entry["id"]: entry.get("name") for entry in listed if "id" in entry}
        units = set(raw.select("unit_id").unique().collect()["unit_id"].str.split(":").list.get(1))
        hits = {id_ for id_ in known.keys() | units if name in (id_, known.get(id_))}
        if len(hits) != 1:
            raise UsageError("no such channel" if not hits else "several channels", where=f"--channel {name}")
        return str(hits.pop())

    def _records(self, asked: Criteria, names: Names | None, behind: pl.DataFrame, said: pl.DataFrame) -> Iterator[str]:
        if asked.by_item:
            signals = self._signals.filter(pl.col("signal_id").is_in(behind["signal_id"].implode()))
            if asked.by_place:
                signals = signals.filter(pl.col("signal_id").is_in(said["signal_id"].implode()))
            yield from self._of_signals(signals)
        elif names and not (asked.source or asked.channel or asked.project or asked.since or asked.until):
            yield from self._of_person(names)
        else:
            yield from self._of_place(asked, names)

    def _of_signals(self, signals: pl.DataFrame) -> Iterator[str]:
        """The records that hold the quotes: those they were found in, and those that repeat them."""
        wanted = set(signals["event_id"])
        for source, record_id, event_id, _, text in self._events(signals["unit_id"].unique()):
            if event_id in wanted:
                yield record_hmac(self._key, source, record_id)
                yield from self._text(text)
        quotes = [
            msgspec.json.encode(quote).decode()[1:-1] for quote in signals["quote"] if len(quote) >= SHORTEST_QUOTE
        ]
        if quotes:
            raw = event_days.scan_raw(self._lake).filter(pl.col("body").str.contains_any(quotes))
            for source, record_id in raw.select("source", "record_id").collect().iter_rows():
                yield record_hmac(self._key, source, record_id)

    def _of_person(self, names: Names) -> Iterator[str]:
        """Their sessions whole; elsewhere what they said; and where memory or others repeat their quoted words."""
        sessions = read_table(SESSIONS, self._lake.table(SESSIONS))
        own = sessions.filter(pl.col("person") == names.person_id, pl.col("unit_kind") == "session")["unit_id"]
        for unit in own:
            yield unit_hmac(self._key, unit)
        events = pl.scan_parquet(self._lake.days(EVENTS)).filter(pl.col("actor") == names.person_id)
        mine = events.select("event_id", "unit_id").collect()
        rows = event_days.scan_raw(self._lake).filter(pl.col("unit_id").is_in(own.implode())).collect()
        for source, record_id in rows.select("source", "record_id").iter_rows():
            yield record_hmac(self._key, source, record_id)
        wanted = set(mine["event_id"])
        for source, record_id, event_id, kind, text in self._events(mine["unit_id"].unique()):
            if event_id in wanted and source != "decisions" and not kind.endswith("deleted"):
                yield from self._text(text)
                if kind not in ("merge_request_merged", "merge_request_closed", "system_note"):
                    yield record_hmac(self._key, source, record_id)
        yield from self._of_signals(self._signals.filter(pl.col("actor") == names.person_id))

    def _of_place(self, asked: Criteria, names: Names | None) -> Iterator[str]:
        """Whole units where all of one is meant, else single records."""
        raw = event_days.scan_raw(self._lake).select("source", "unit_id", "record_id", "ts", "first_kept")
        sessions = read_table(SESSIONS, self._lake.table(SESSIONS))
        if asked.source:
            raw = raw.filter(pl.col("source") == asked.source)
        if asked.project:
            units = sessions.filter(pl.col("project") == asked.project)["unit_id"]
            raw = raw.filter(pl.col("unit_id").is_in(units.implode()))
        if asked.channel:
            id_ = self.channel(asked.channel)
            about = pl.col("record_id").is_in([f"channel:{id_}", f"name:{id_}"])
            raw = raw.filter(
                pl.col("unit_id").str.starts_with(f"slack:{id_}:") | ((pl.col("source") == "slack") & about)
            )
        rows = raw.filter(pl.col("source") != "decisions").collect()
        meant = rows.filter(*_within(asked, pl.coalesce(pl.col("ts").dt.date(), "first_kept")))
        if names:
            meant = meant.join(self._by(names, meant["unit_id"].unique()), on=["source", "record_id"], how="semi")
        every = dict(rows.group_by("unit_id").len().iter_rows())
        for (unit,), part in meant.group_by("unit_id"):
            if part.height == every[str(unit)] and not names:
                yield unit_hmac(self._key, str(unit))
            for source, record_id in part.select("source", "record_id").iter_rows():
                yield record_hmac(self._key, source, record_id)

    def _by(self, names: Names, units: pl.Series) -> pl.DataFrame:
        events = pl.scan_parquet(self._lake.days(EVENTS)).filter(pl.col("actor") == names.person_id)
        wanted = set(events.select("event_id").collect()["event_id"])
        found = [(source, record) for source, record, event, _, _ in self._events(units) if event in wanted]
        return pl.DataFrame(
            found, schema=["source", "record_id"], orient="row", schema_overrides={"record_id": pl.String}
        )

    def _text(self, text: str) -> Iterator[str]:
        found = text_hmac(self._key, text) if len(text) >= SHORTEST_TEXT else None
        if found:
            yield found

    def _events(self, units: pl.Series | Sequence[str]) -> Iterator[tuple[str, str, str, str, str]]:
        """(source, record id, event id, kind, text) of every event of some units, as their formats tell them."""
        rows = event_days.scan_raw(self._lake).filter(pl.col("unit_id").is_in(pl.Series(units).implode())).collect()
        for unit in units_of(rows, {}, date.max):
            if unit.source == "decisions":
                continue
            for event in registry.by_name(unit.source).events(unit):
                id_ = digest(unit.unit_id, event.record_id, event.part)[:32]
                yield unit.source, event.record_id, id_, event.kind, event.text


def _within(asked: Criteria, day: pl.Expr) -> list[pl.Expr]:
    found = []
    if asked.since:
        found.append(day >= asked.since)
    if asked.until:
        found.append(day <= asked.until)
    return found
