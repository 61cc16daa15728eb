"""What the audit asks of the tables a candidate carries. Each check returns findings; none changes anything."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import polars as pl

from lorelake import served
from lorelake.errors import ContractError
from lorelake.lake import checked
from lorelake.release.rows import ROW_RULES, witnessed
from lorelake.release.verdict import Finding
from lorelake.tables import TABLES

Frames = Mapping[str, pl.DataFrame]

QUARANTINE_SHARE = 0.02
SHRINK_SHARE = 0.20
NEVER_EMPTY = ("intake", "sessions", "funnel")
"""Tables that say what was looked at: a run that looked at nothing is not published."""
SHRINK_WATCHED = ("learnings", "learning_evidence", "sessions", "exposures", "ledger")
SHARES = {
    "learnings": ("confidence", "confidence_low", "confidence_high"),
    "confidence": ("confidence", "confidence_low", "confidence_high"),
}


def error(code: str, message: str) -> Finding:
    """A finding that blocks the publish."""
    return Finding(code, "error", message)


def some(ids: Iterable[object]) -> str:
    """Up to five ids, and how many more."""
    listed = sorted(map(str, ids))
    more = f" and {len(listed) - 5} more" if len(listed) > 5 else ""
    return ", ".join(listed[:5]) + more


def read_tables(folder: Path) -> tuple[dict[str, pl.DataFrame], list[Finding]]:
    """Every released table of a candidate or release from its files, held against the contract."""
    frames: dict[str, pl.DataFrame] = {}
    findings = []
    for table in TABLES.values():
        if not table.released:
            continue
        try:
            frames[table.name] = checked(table, pl.read_parquet(folder / f"{table.name}.parquet"))
        except (OSError, pl.exceptions.PolarsError, ContractError) as problem:
            findings.append(error("table_unreadable", f"{table.name}: {problem}"))
    return frames, findings


def check_tables(frames: Frames, previous: Frames, allow_shrink: bool) -> list[Finding]:
    """All checks that need the tables alone.

    Args:
        frames: the candidate's released tables.
        previous: the served release's, as far as it has them; empty before the first publish.
        allow_shrink: a person expects rows to go.
    """
    checks: list[Callable[[], Iterator[Finding]]] = [
        lambda: _empty(frames),
        lambda: _sources(frames["source_health"]),
        lambda: _quarantined(frames["learnings"]),
        lambda: _without_witness(frames),
        lambda: _tombstoned(frames),
        lambda: _votes(frames),
        lambda: _supersession(frames),
        lambda: _topic_orphans(frames),
        lambda: _values(frames),
    ]
    findings = [finding for check in checks for finding in check()]
    return findings if allow_shrink else findings + list(_shrunk(frames, previous))


def _empty(frames: Frames) -> Iterator[Finding]:
    for name in NEVER_EMPTY:
        if frames[name].is_empty():
            yield error("table_empty", f"{name} has no row: nothing was looked at")
    if frames["learnings"].is_empty():
        yield Finding("no_learnings", "warning", "the release has no learning")


def _sources(health: pl.DataFrame) -> Iterator[Finding]:
    """A source that fell silent or cannot be read is no fault of the release, and nobody else would notice it."""
    told = health.filter(pl.col("status") != "fine").sort("source").select("source", "status", "why")
    for source, status, why in told.iter_rows():
        yield Finding(f"source_{status}", "warning", f"{source}: {why}")


def _quarantined(learnings: pl.DataFrame) -> Iterator[Finding]:
    moved = learnings.filter((pl.col("state") == "quarantined") & pl.col("state_reason").is_in(list(ROW_RULES)))
    if len(moved) > QUARANTINE_SHARE * len(learnings):
        rules = ", ".join(sorted(moved["state_reason"].unique()))
        yield error(
            "quarantined_share",
            f"{len(moved)} of {len(learnings)} learnings broke a row rule ({rules}): {some(moved['learning_id'])}",
        )


def _without_witness(frames: Frames) -> Iterator[Finding]:
    # Quotes of private audiences are emptied in the tables; that they are there is asked of the index.
    evidence = frames["learning_evidence"].with_columns(quote=pl.lit("kept"))
    active = frames["learnings"].filter(pl.col("state") == "active")["learning_id"]
    missing = set(active) - set(witnessed(evidence))
    if missing:
        yield error("no_witness", f"active without a verified quote of a person or a fact: {some(missing)}")


def _tombstoned(frames: Frames) -> Iterator[Finding]:
    """No claim of an active learning has words that somebody took out, whatever the learning itself reads."""
    active = frames["learnings"].filter(pl.col("state") == "active").select("learning_id", "audience", "content_key")
    keys = frames["aliases"].filter(pl.col("basis") == "claim").select("learning_id", "content_key")
    held = pl.concat([active, active.drop("content_key").join(keys, on="learning_id").select(active.columns)])
    met = held.join(frames["tombstones"].select("content_key", "reach"), on="content_key")
    back = met.filter((pl.col("reach") == served.TEAM_AUDIENCE) | (pl.col("reach") == pl.col("audience")))
    ids = set(back["learning_id"]) - restored(frames)
    if ids:
        yield error("tombstone_active", f"active though a person rejected or forgot what it says: {some(ids)}")


def restored(frames: Frames) -> set[str]:
    """Learnings that a decision brought back by name: the tombstone may stand for others that say the same."""
    ledger = frames["ledger"].filter((pl.col("decision") == "restore") & (pl.col("verdict") == "applies"))
    named = ledger.select(reference="claim_id").drop_nulls()
    return set(frames["aliases"].join(named, on="reference", how="semi")["learning_id"].drop_nulls())


def _votes(frames: Frames) -> Iterator[Finding]:
    """A counted vote rests on a showing in its session family, or on a decision of the ledger.

    Transcripts hold ids as they were shown, which are prefixes. What another memory showed has a name of its own there,
    which SQL resolves: of its votes only that something was shown in the family is asked.
    """
    ids = frames["aliases"].select("reference", "learning_id").drop_nulls().sort("reference").rows()
    references = [reference for reference, _ in ids]
    acts = frames["exposures"].filter(pl.col("act").is_in(["shown", "opened"])).select("claim_id", "family_id")
    shown: set[tuple[str, str]] = set()
    elsewhere: set[str] = set()
    for prefix, family in acts.unique().iter_rows():
        if not prefix.startswith("lrn_"):
            elsewhere.add(family)
        first, last = bisect_left(references, prefix), bisect_left(references, prefix + "~")
        shown |= {(learning, family) for _, learning in ids[first:last]}
    decided = set(frames["ledger"].filter(pl.col("verdict") == "applies")["decision_id"])
    counted = frames["votes"].filter(
        (pl.col("voter_class") != "bot") & (pl.col("recalled") | pl.col("upvoted") | pl.col("refuted"))
    )
    unfounded = {
        f"{learning} in {family}"
        for learning, family in counted.select("learning_id", "family_id").iter_rows()
        if (learning, family) not in shown and family not in decided and family not in elsewhere
    }
    if unfounded:
        yield error("vote_unfounded", f"votes without a showing or a decision: {some(unfounded)}")


def _supersession(frames: Frames) -> Iterator[Finding]:
    applied = frames["supersession"].filter(pl.col("status") == "applied").select("older_id", "newer_id").rows()
    state = dict(frames["learnings"].select("learning_id", "state").iter_rows())
    newer_of: dict[str, set[str]] = {}
    for older, newer in applied:
        newer_of.setdefault(older, set()).add(newer)
    try:
        TopologicalSorter(newer_of).prepare()
    except CycleError as cycle:
        yield error("supersession_cycle", f"items replace each other in a circle: {some(set(cycle.args[1]))}")
    both = {older for older, newer in applied if state.get(older) == "active" and state.get(newer) == "active"}
    if both:
        yield error("superseded_active", f"replaced and still active: {some(both)}")
    linked = {newer for newer in frames["learnings"]["superseded_by"] if newer is not None}
    linked |= {learning for pair in applied for learning in pair}
    if linked - state.keys():
        yield error("supersession_dangling", f"a replacement names what is not there: {some(linked - state.keys())}")


def _topic_orphans(frames: Frames) -> Iterator[Finding]:
    """Every member, merge and topic hangs on what is there, and no topic is empty."""
    topics, members, merges = (frames[name] for name in ("topics", "topic_members", "topic_merges"))
    known = set(topics["topic_id"])
    lost = set(members["learning_id"]) - set(frames["learnings"]["learning_id"])
    lost |= (set(members["topic_id"]) | set(merges["to_id"]) | set(topics["parent_id"].drop_nulls())) - known
    empty = known - set(members["topic_id"]) - set(topics["parent_id"])
    if lost | empty:
        yield error("topic_orphan", f"topics without learnings, or filed under what is not there: {some(lost | empty)}")


def _values(frames: Frames) -> Iterator[Finding]:
    for name, columns in SHARES.items():
        outside = [~(pl.col(column).is_finite() & pl.col(column).is_between(0, 1)) for column in columns]
        inside = pl.col("confidence").is_between("confidence_low", "confidence_high")
        # A row that is quarantined keeps the value it was held for.
        held = pl.col("learning_id").is_in(
            frames["learnings"].filter(pl.col("state") == "quarantined")["learning_id"].implode()
        )
        wrong = frames[name].filter((pl.any_horizontal(outside) | ~inside) & ~held)
        if len(wrong):
            yield error(
                "value_range", f"{name}: a confidence outside 0 to 1 or its interval: {some(wrong['learning_id'])}"
            )
    for name, data in frames.items():
        for column in TABLES[name].columns:
            if column.values:
                strange = data.filter(~pl.col(column.name).is_in(column.values))[column.name].drop_nulls().unique()
                if len(strange):
                    yield error("value_unknown", f"{name}.{column.name} holds {some(strange)}")


def _shrunk(frames: Frames, previous: Frames) -> Iterator[Finding]:
    for name in SHRINK_WATCHED:
        if name not in previous or previous[name].is_empty():
            continue
        gone = len(previous[name].join(frames[name], on=list(TABLES[name].key), how="anti"))
        if gone > SHRINK_SHARE * len(previous[name]):
            yield error(
                "shrunk",
                f"{name}: {gone} of {len(previous[name])} rows of the served release are gone; "
                "`--allow-shrink` if that is meant",
            )
