"""From an id to everything behind it, as far as what is here tells: the lake, a release's tables, or an index alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from lorelake import served
from lorelake.cli.explain_files import Place, place_of
from lorelake.cli.explain_seen import Seen, seen_of
from lorelake.cli.release_tables import table_of
from lorelake.errors import LorelakeError, ReleaseError, UsageError
from lorelake.evidence.gate_readings import Reading, readings
from lorelake.lake import Lake, read_table
from lorelake.recall.reader import SHORTEST_PREFIX
from lorelake.settings import Settings
from lorelake.tables import (
    ADMISSIONS,
    ALIASES,
    CLAIMS,
    CONFIDENCE,
    LEARNING_EVENTS,
    LEARNING_EVIDENCE,
    LEARNINGS,
    LEDGER,
    SESSIONS,
    SIGNALS,
    SUPERSESSION,
    TOPIC_MEMBERS,
    TOPICS,
    VOTES,
    Table,
)

if TYPE_CHECKING:
    import polars

    from lorelake.evidence.gates import Context

Row = dict[str, Any]
LEARNING_PREFIX = "lrn_"


class SignalTrace(msgspec.Struct, frozen=True, kw_only=True):
    """One signal: what was seen, by which rule, where it lies, and what each gate said of it."""

    signal_id: str
    kind: str
    quote: str
    quote_verified: bool | None
    actor: str
    actor_class: str
    ts: str
    unit_id: str | None
    audience: str | None
    first_kept: str | None
    seen: list[Seen]
    place: Place
    admitted: bool
    gates: list[Reading]
    claim_id: str | None
    learning_id: str | None


class ClaimTrace(msgspec.Struct, frozen=True):
    """One claim of the learning, an alias of it, with the signals it was drawn from."""

    claim_id: str
    is_served: bool
    trust_basis: str | None
    signals: list[SignalTrace]


class LearningTrace(msgspec.Struct, frozen=True, kw_only=True):
    """A learning and everything behind it. `withheld` says why words are left out, where they are."""

    asked: str
    release: str
    read_from: str
    learning: Row
    withheld: str | None
    confidence: Row | None
    votes: list[Row]
    history: list[Row]
    supersession: list[Row]
    decisions: list[Row]
    topics: list[Row]
    claims: list[ClaimTrace]


class Here(NamedTuple):
    """What there is to read: a release with tables, and the lake it came from, if that is here."""

    folder: Path
    lake: Lake | None
    settings: Settings | None
    audiences: tuple[str, ...]


def here_of(
    root: Path, folder: Path, settings: Settings | None, projects: Sequence[str], audiences: Sequence[str]
) -> Here:
    """What there is at a lake or a copy of a release. Without `audiences`, a reader has the team and the projects."""
    lake = Lake(root.resolve())
    if not audiences:
        named = (served.project_audience(project) for project in projects)
        audiences = [served.TEAM_AUDIENCE, *(audience for audience in named if audience)]
    whole = lake.table(CLAIMS).exists() and lake.table(ADMISSIONS).exists()
    return Here(folder, lake if whole else None, settings, tuple(dict.fromkeys(audiences)))


class Tracer:
    """Answers ids over one release. Tables are read once, when asked for.

    Args:
        here: what there is to read, and whose words may be shown.
    """

    def __init__(self, here: Here) -> None:
        self._here = here

    @property
    def read_from(self) -> str:
        """In words: what the answer rests on."""
        return "the lake and the tables of its release" if self._here.lake else "the tables of a release"

    def trace(self, asked: str) -> LearningTrace | SignalTrace:
        """Everything behind one id: a learning's, a claim's (an alias), or a signal's; a prefix if it is the only one.

        Raises:
            UsageError: the prefix is too short, or begins several ids.
            LorelakeError: nothing of that id is here for this reader.
        """
        wanted = asked.strip().lower()
        if len(wanted) < SHORTEST_PREFIX:
            raise UsageError(f"`{wanted}` is too short", remedy=f"give at least {SHORTEST_PREFIX} characters of the id")
        if wanted.startswith(LEARNING_PREFIX):
            return self._learning(self._the_one(wanted, self._aliases, self._audience_of_learning), wanted)
        return self._signal(self._the_one(wanted, self._signal_ids, self._audience_of_signal))

    def _the_one(self, wanted: str, known: Mapping[str, str], audience_of: Mapping[str, str]) -> str:
        """What the id stands for, among what this reader may read."""
        meant = {known[wanted]} if wanted in known else {to for id_, to in known.items() if id_.startswith(wanted)}
        mine = sorted(one for one in meant if audience_of.get(one, served.TEAM_AUDIENCE) in self._here.audiences)
        if len(mine) > 1:
            raise UsageError(f"`{wanted}` begins {len(mine)} ids", remedy=f"one of {', '.join(mine[:5])}")
        if mine:
            return mine[0]
        self._refuse_what_a_tombstone_took(wanted)
        others = {audience_of[one] for one in meant}
        projects = {a.removeprefix(served.PROJECT_PREFIX) for a in others if a.startswith(served.PROJECT_PREFIX)}
        remedy = f"`--project {min(projects)}` reads it" if projects else "`--project` names another one"
        what = "item" if wanted.startswith(LEARNING_PREFIX) else "signal"
        raise LorelakeError(
            f"no {what} `{wanted}`", where=f"searched {', '.join(self._here.audiences) or 'nothing'}", remedy=remedy
        )

    def _refuse_what_a_tombstone_took(self, wanted: str) -> None:
        for row in self._named:
            mine = row["learning_id"] is None and row["audience"] in self._here.audiences
            if mine and row["reference"].startswith(wanted):
                raise LorelakeError(f"`{wanted}` was {row['basis']}: a tombstone took it, and nothing of it is kept")

    # what is known

    def _released(self, table: Table) -> list[Row]:
        return table_of(self._here.folder, table).to_dicts()

    def _of(self, table: Table, learning: str, *columns: str) -> list[Row]:
        return [row for row in self._released(table) if learning in [row[c] for c in columns or ("learning_id",)]]

    @cached_property
    def _learnings(self) -> dict[str, Row]:
        return {row["learning_id"]: row for row in self._released(LEARNINGS)}

    @cached_property
    def _evidence(self) -> list[Row]:
        return self._released(LEARNING_EVIDENCE)

    @cached_property
    def _verdicts(self) -> dict[str, Row]:
        rows = self._lake_table(ADMISSIONS).to_dicts() if self._here.lake else self._released(ADMISSIONS)
        return {row["signal_id"]: row for row in rows}

    @cached_property
    def _claims(self) -> list[Row]:
        return self._lake_table(CLAIMS).to_dicts() if self._here.lake else []

    @cached_property
    def _signals(self) -> dict[str, Row]:
        lake = self._here.lake
        rows = read_table(SIGNALS, lake.days(SIGNALS)).iter_rows(named=True) if lake else ()
        return {row["signal_id"]: row for row in rows}

    def _lake_table(self, table: Table) -> polars.DataFrame:
        if self._here.lake is None:
            raise ReleaseError(f"`{table.name}` is only where the lake is")
        return read_table(table, self._here.lake.table(table))

    @cached_property
    def _named(self) -> list[Row]:
        path = self._here.folder / "tables" / f"{ALIASES.name}.parquet"
        return self._released(ALIASES) if path.exists() else []

    @cached_property
    def _aliases(self) -> dict[str, str]:
        found = {row["claim_id"]: row["learning_id"] for row in (*self._claims, *self._evidence)}
        found |= {row["reference"]: row["learning_id"] for row in self._named if row["learning_id"] is not None}
        found |= {learning: learning for learning in self._learnings}
        return {claim: learning for claim, learning in found.items() if learning in self._learnings}

    @cached_property
    def _audience_of_learning(self) -> dict[str, str]:
        return {id_: row["audience"] for id_, row in self._learnings.items()}

    @cached_property
    def _signal_ids(self) -> dict[str, str]:
        return {id_: id_ for id_ in {*self._verdicts, *self._signals}}

    @cached_property
    def _audience_of_signal(self) -> dict[str, str]:
        """Of a signal that only the tables know: its learning's audience; a refused one's words are not in them."""
        found = {row["signal_id"]: self._audience_of_learning.get(row["learning_id"], "") for row in self._evidence}
        found = dict.fromkeys(self._verdicts, served.TEAM_AUDIENCE) | found
        return found | {id_: row["audience"] for id_, row in self._signals.items()}

    # traces

    def _learning(self, learning: str, asked: str) -> LearningTrace:
        row = self._learnings[learning]
        withheld = _withheld(row)
        confidence = self._of(CONFIDENCE, learning)
        claims = [] if withheld else self._claims_of(learning)
        aliases = {alias for alias, to in self._aliases.items() if to == learning}
        return LearningTrace(
            asked=asked,
            release=self._here.folder.name,
            read_from=self.read_from,
            learning={name: value for name, value in row.items() if not withheld or name in _WITHOUT_WORDS},
            withheld=withheld,
            confidence=confidence[0] if confidence else None,
            votes=self._of(VOTES, learning),
            history=self._of(LEARNING_EVENTS, learning),
            supersession=[
                {**link, "older_title": self._title(link["older_id"]), "newer_title": self._title(link["newer_id"])}
                for link in self._of(SUPERSESSION, learning, "older_id", "newer_id")
            ],
            decisions=[
                decision
                for decision in self._released(LEDGER)
                if any(_names(decision[name], aliases) for name in ("claim_id", "other_claim_id"))
            ],
            topics=[] if withheld else self._topics_of(learning),
            claims=claims,
        )

    def _title(self, learning: str) -> str:
        """The title of another item, where its words may be shown."""
        row = self._learnings.get(learning)
        shown = row is not None and row["audience"] in self._here.audiences and _withheld(row) is None
        return str(row["title"]) if row and shown else ""

    def _topics_of(self, learning: str) -> list[Row]:
        paths = {row["topic_id"]: row["path"] for row in self._released(TOPICS)}
        filed = [{**row, "path": paths[row["topic_id"]]} for row in self._of(TOPIC_MEMBERS, learning)]
        return sorted(filed, key=lambda row: str(row["path"]))

    def _claims_of(self, learning: str) -> list[ClaimTrace]:
        basis = {(row["claim_id"], row["signal_id"]): row for row in self._claims}
        behind = {(row["claim_id"], row["signal_id"]) for row in self._evidence if row["learning_id"] == learning}
        behind |= {pair for pair, row in basis.items() if row["learning_id"] == learning}
        found: dict[str, list[SignalTrace]] = {}
        trust: dict[str, str] = {}
        served_by = {pair[0] for pair in behind if basis.get(pair, {}).get("is_canonical")} or {learning}
        for claim, signal in sorted(behind):
            found.setdefault(claim, []).append(self._signal(signal))
            if (claim, signal) in basis:
                trust[claim] = basis[claim, signal]["trust_basis"]
        return [
            ClaimTrace(
                claim, claim in served_by, trust.get(claim), sorted(signals, key=lambda one: (one.ts, one.signal_id))
            )
            for claim, signals in sorted(found.items(), key=lambda entry: (entry[0] not in served_by, entry[0]))
        ]

    def _signal(self, signal: str) -> SignalTrace:
        row = self._signals.get(signal)
        behind = next((entry for entry in self._evidence if entry["signal_id"] == signal), None)
        verdict = self._verdicts.get(signal) or {"admitted": behind is not None, "rule": "admitted", "detail": ""}
        known: Row = row or behind or {}
        claim = next((entry for entry in self._claims if entry["signal_id"] == signal), behind)
        learning = self._learnings.get(claim["learning_id"]) if claim else None
        quiet = (learning is not None and _withheld(learning) is not None) or self._meets_forgotten(verdict)
        return SignalTrace(
            signal_id=signal,
            kind=known.get("kind", ""),
            quote="" if quiet else known.get("quote", ""),
            quote_verified=known.get("quote_verified"),
            actor=known.get("actor", ""),
            actor_class=known.get("actor_class", ""),
            ts=known["ts"].isoformat() if known else "",
            unit_id=known.get("unit_id"),
            audience=known.get("audience"),
            first_kept=known["first_kept"].isoformat() if "first_kept" in known else None,
            seen=[] if quiet or row is None else seen_of(row, self._here.lake),
            place=place_of(known, self._here.lake if row else None, self._here.settings) if known else Place(""),
            admitted=verdict["admitted"],
            gates=readings(verdict, row, self._context if row else None, self._beside(row) if row else ()),
            claim_id=claim["claim_id"] if claim else None,
            learning_id=claim["learning_id"] if claim else None,
        )

    def _meets_forgotten(self, verdict: Mapping[str, Any]) -> bool:
        """Whether it was refused for saying again what a person had forgotten."""
        forgotten = {row["decision_id"] for row in self._released(LEDGER) if row["decision"] == "forget"}
        return verdict["rule"] == "tombstone" and any(decision in verdict["detail"] for decision in forgotten)

    @cached_property
    def _admitted_by_family(self) -> dict[str, list[Row]]:
        found: dict[str, list[Row]] = {}
        for id_, row in self._signals.items():
            if self._verdicts.get(id_, {}).get("admitted"):
                found.setdefault(row["family_id"], []).append(row)
        return found

    def _beside(self, signal: Row) -> Sequence[Row]:
        family = self._admitted_by_family.get(signal["family_id"], ())
        return [row for row in family if row["signal_id"] != signal["signal_id"]]

    @cached_property
    def _context(self) -> Context | None:
        """What the gates compared with. Texts given to sessions are read once for all signals asked for."""
        from lorelake.evidence.days import gate_context

        if self._here.lake is None:
            return None
        seen = read_table(SIGNALS, self._here.lake.days(SIGNALS))
        return gate_context(self._here.lake, self._lake_table(SESSIONS), self._lake_table(LEDGER), seen)


_WITHOUT_WORDS = ("learning_id", "state", "state_reason", "trust", "kind", "audience", "first_said", "last_said")


def _withheld(learning: Mapping[str, Any]) -> str | None:
    if learning["state"] == "forgotten":
        return "it was forgotten: its words are shown nowhere"
    if learning["state_reason"] == "row_secret":
        return "a text of it still holds a secret: its words are shown nowhere"
    return None


def _names(reference: str | None, aliases: Iterable[str]) -> bool:
    return bool(reference) and any(alias.startswith(str(reference)) for alias in aliases)
