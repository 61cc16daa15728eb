"""What other memories counted of their own use: teamai's vote totals and GitMem's usage rows, by item and voter.

Pure over the events and units of all days, whatever their order. These are a tool's count of its own turns, so they
are kept apart: no vote, no exposure and no confidence of ours is made of them, only `teamai_confidence`.

teamai  A votes file is one member's, and its newest version counts, whichever branch it stood on. A member with
        several names has one sum. An id is looked up as a learning of the same store; one that was cited and never
        recalled is what teamai leaves of a namespaced id, so there the one learning of that name is meant.
GitMem  Each usage row, in its newest version, is one recall by an agent; `explicit` ones count as upvotes, `refuted`
        ones as such. An id is a learning's, or a title, which counts where one learning has it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec
import polars as pl

from lorelake import served
from lorelake.events.people import People
from lorelake.formats import documents, gitmem
from lorelake.formats.record import digest, parse_time
from lorelake.lake import Lake, read_table
from lorelake.tables import EVENTS, PEOPLE, SESSIONS

_IN_GIT = re.compile(r"(?P<path>.*)@(?P<root>[0-9a-f]{12})")
_OWN_FOLDER = ".teamai"
"""In a business repository teamai keeps its folders in this one; the store is the repository all the same."""
_MOST = 2**31
"""A greater count is damage; sums of smaller ones fit the table's integers."""
_COUNTS = ("recalled", "upvoted", "refuted")
_TIMES = ("last_recalled", "last_upvoted")


class Found(NamedTuple):
    """`imported_votes` rows, sorted by key, and how many entries state no count that can be read."""

    rows: list[dict[str, Any]]
    unread: int


class _Count(NamedTuple):
    """One count of one item, as one file or usage row states it."""

    key: tuple[str, str, str, str]
    """System, store, item id, voter."""
    told: Mapping[str, Any]
    units: Collection[str]
    """The documents that it may be about."""
    counted_at: datetime
    audience: str


def totals(events: pl.LazyFrame, units: pl.DataFrame, people: People) -> Found:
    """Every total that the lake's documents and GitMem stores state, once.

    Args:
        events: rows of `events`, all days.
        units: rows of `sessions`.
        people: the directory that names the voters.
    """
    known = units.filter(pl.col("unit_kind") == "document").select("unit_id", "audience")
    audiences = dict(known.sort("unit_id").iter_rows())
    told = _told(events)
    counts: dict[tuple[str, str, str, str], list[_Count]] = defaultdict(list)
    unread = 0
    for count in (*_of_teamai(told, _Learnings(audiences), people), *_of_gitmem(told, audiences, people)):
        if count is None:
            unread += 1
        else:
            counts[count.key].append(count)
    return Found([_row(key, counts[key], audiences) for key in sorted(counts)], unread)


def of_lake(lake: Lake) -> Found:
    """Every total from the events, sessions and people that lie in the lake."""
    days = lake.days(EVENTS)
    events = pl.scan_parquet(days) if days else pl.LazyFrame(schema=EVENTS.polars_schema())
    people = People(read_table(PEOPLE, lake.table(PEOPLE)).iter_rows(named=True))
    return totals(events, read_table(SESSIONS, lake.table(SESSIONS)), people)


def _told(events: pl.LazyFrame) -> dict[str, list[dict[str, Any]]]:
    """By unit, in order: the events that may count something, end a file that does, or give a learning its title."""
    kind, source, attributes = pl.col("kind"), pl.col("source"), pl.col("attributes")
    files = (kind == "document_deleted") | attributes.str.contains('"teamai":"votes"', literal=True)
    usage = (kind == "document_version") | attributes.str.contains('"gitmem":"usage"', literal=True)
    rows = (
        events.filter(((source == documents.NAME) & files) | ((source == gitmem.NAME) & usage))
        .select("unit_id", "seq", "ts", "kind", "path", "project", "audience", "attributes")
        .collect()
        .sort("unit_id", "seq", "ts", "attributes")
    )
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows.iter_rows(named=True):
        found[row["unit_id"]].append(row | {"attributes": msgspec.json.decode(row["attributes"])})
    return found


def _of_teamai(
    told: Mapping[str, Sequence[Mapping[str, Any]]], learnings: _Learnings, people: People
) -> Iterator[_Count | None]:
    newest: dict[tuple[str, str], tuple[Mapping[str, Any], bool]] = {}
    for unit_id, rows in told.items():
        held = [row for row in rows if row["attributes"].get("teamai") == "votes"]
        if held:
            # The path is redacted as people's names are, the unit's id is not.
            path = held[-1]["path"].rpartition("/")
            key = _store(unit_id, below=2), path[2].rpartition(".")[0]
            if key not in newest or newest[key][0]["ts"] <= held[-1]["ts"]:
                newest[key] = held[-1], rows[-1]["kind"] == "document_deleted"
    for (store, name), (file, is_deleted) in sorted(newest.items(), key=lambda one: one[0]):
        stated = file["attributes"]
        apart = set(stated["apart"])
        yield from (None for _ in stated["unread"])
        for entry in stated["votes"]:
            item = entry["document_id"]
            if max(entry["recalled"], entry["upvoted"]) > _MOST:
                yield None
                continue
            told_of = {
                **entry, "refuted": 0, "unsynced": stated["unsynced"], "is_apart": item in apart,
                "is_deleted": is_deleted, "last_recalled": parse_time(entry["last_recalled_at"]),
                "last_upvoted": parse_time(entry["last_upvoted_at"]),
            }  # fmt: skip
            only_cited = not entry["recalled"] and item not in apart
            fitting = learnings.with_id(store, item) or (learnings.named(store, item) if only_cited else ())
            voter = people.resolve(documents.NAME, name).person_id
            yield _Count(("teamai", store, item, voter), told_of, fitting, file["ts"], file["audience"])


def _of_gitmem(
    told: Mapping[str, Sequence[Mapping[str, Any]]], audiences: Mapping[str, str], people: People
) -> Iterator[_Count | None]:
    titled: dict[str, set[str]] = defaultdict(set)
    for unit_id, rows in told.items():
        if unit_id.startswith(f"{gitmem.NAME}:learning:"):
            for row in rows:
                titled[row["attributes"].get("title", "")].add(unit_id)
    for rows in told.values():
        row = rows[-1]
        stated = row["attributes"]
        if stated.get("gitmem") != "usage":
            continue
        item, agent, said = (stated.get(name, "") for name in ("scar_id", "agent", "reference_type"))
        if not isinstance(item, str) or not item or not isinstance(agent, str):
            yield None
            continue
        by_id = f"{gitmem.NAME}:learning:{item}"
        fitting = {by_id} if by_id in audiences else titled.get(item, set())
        when = parse_time(stated.get("surfaced_at")) or row["ts"]
        upvoted = said == "explicit"
        told_of = {
            "recalled": 1, "upvoted": int(upvoted), "refuted": int(said == "refuted"), "last_recalled": when,
            "last_upvoted": when if upvoted else None, "unsynced": 0, "is_apart": False, "is_deleted": False,
        }  # fmt: skip
        key = (gitmem.NAME, row["project"], item, people.resolve(gitmem.NAME, agent).person_id)
        yield _Count(key, told_of, fitting, row["ts"], row["audience"])


def _row(key: tuple[str, str, str, str], counts: Sequence[_Count], audiences: Mapping[str, str]) -> dict[str, Any]:
    system, store, item, voter = key
    units = {unit for count in counts for unit in count.units}
    about = [audiences[unit] for unit in units if unit in audiences]
    sums = {name: sum(count.told[name] for count in counts) for name in (*_COUNTS, "unsynced")}
    times = {name: max((found for count in counts if (found := count.told[name])), default=None) for name in _TIMES}
    return {
        "total_id": digest(*key)[:32],
        "system": system,
        "store": store,
        "item_id": item,
        "also": sorted({count.told["also"] for count in counts if "also" in count.told}),
        "voter": voter,
        "unit_id": units.pop() if len(units) == 1 else None,
        **sums,
        **times,
        "is_apart": any(count.told["is_apart"] for count in counts),
        "is_deleted": all(count.told["is_deleted"] for count in counts),
        "counted_at": max(count.counted_at for count in counts),
        "audience": _narrowest([*(count.audience for count in counts), *about]),
    }


def _narrowest(audiences: Iterable[str]) -> str:
    """The one that fewest belong to; of several such the first by name, so that a private one is never widened."""
    return min(audiences, key=lambda name: (served.is_shared(name), name == served.TEAM_AUDIENCE, name))


class _Learnings:
    """The learnings of every teamai store, by the id under which teamai counts them.

    Args:
        audiences: unit id of each document to its audience.
    """

    def __init__(self, audiences: Mapping[str, str]) -> None:
        self._by_id: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._by_name: dict[tuple[str, str], set[str]] = defaultdict(set)
        for unit_id in audiences:
            rest = documents.learnings_path(_path(unit_id)[1]) if unit_id.startswith(f"{documents.NAME}:") else None
            if rest:
                store, item = _store(unit_id, below=rest.count("/") + 2), rest.rpartition(".")[0]
                self._by_id[store, item].add(unit_id)
                self._by_name[store, item.rpartition("/")[2]].add(unit_id)

    def with_id(self, store: str, item: str) -> Collection[str]:
        """Units of the learnings with this id."""
        return self._by_id.get((store, item), ())

    def named(self, store: str, name: str) -> Collection[str]:
        """Units of the learnings whose id ends in this name."""
        return self._by_name.get((store, name), ())


def _path(unit_id: str) -> tuple[str, str]:
    """The repository a document lies in, if any, and its path."""
    native = unit_id.partition(":")[2]
    git = _IN_GIT.fullmatch(native)
    return (git["root"], git["path"]) if git else ("", native)


def _store(unit_id: str, below: int) -> str:
    """The store a file belongs to: its repository, and the path without the parts that lie in teamai's own folder."""
    root, path = _path(unit_id)
    before = path.split("/")[:-below]
    if before[-1:] == [_OWN_FOLDER]:
        before.pop()
    return "/".join(filter(None, (root, *before))) or "."
