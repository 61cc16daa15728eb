"""`lorelake sample`: the learnings drawn for people to judge this week, and how many of them were junk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lorelake.cli.release_tables import find_release, table_of
from lorelake.cli.sample_retired import show_retired
from lorelake.cli.text_table import count, on_terminal, plain
from lorelake.errors import UsageError
from lorelake.recall.answer import ID_SHOWN
from lorelake.tables import JUNK_RATE, LEARNING_EVIDENCE, LEARNINGS, RETIREMENT_SAMPLES, SAMPLES

if TYPE_CHECKING:
    import polars

LONGEST_QUOTE = 300
ALL = "all"


@click.command()
@click.argument("week", required=False)
@click.option("--open", "only_open", is_flag=True, help="Only those nobody ruled on yet.")
@click.option("--kind", help="Only those that this kind of signal gave, as rejection or review_change.")
@click.option("--retired", is_flag=True, help="Instead: what was taken away without a decision, drawn anew each night.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, with the words and all quotes.")
@click.option("--release", "release_id", help="A release id; default the one that is served.")
@click.option("--home", type=click.Path(path_type=Path), help="The lake; default LORELAKE_HOME or the settings'.")
def sample(
    week: str | None,
    only_open: bool,
    kind: str | None,
    retired: bool,
    as_json: bool,
    release_id: str | None,
    home: Path | None,
) -> None:
    """Show the learnings drawn for people to judge in WEEK (as 2026-W12; default the latest), with their quotes.

    \b
    lorelake sample                    this week's twenty
    lorelake sample --open             what is still to be judged
    lorelake sample 2026-W11 --json    an earlier week, for a program
    lorelake sample --retired          what replaced, refuted or outlived what, with both sides' words

    One sample is drawn for each ISO week, by the hash of week and id: nobody chooses it, and it is the same on every
    day of the week. To judge one is to decide on it in the ledger: reject and forget say that it is junk; approve,
    edit, restore and endorse that it is worth keeping. The rate follows with the next night; `junk_rate` has it in SQL.
    """
    folder = find_release(home, release_id)
    if retired:
        if week or only_open or kind:
            raise UsageError("--retired stands alone", remedy="leave out the week, --open and --kind")
        show_retired(table_of(folder, RETIREMENT_SAMPLES), table_of(folder, LEARNINGS), as_json)
        return
    seats = table_of(folder, SAMPLES)
    chosen = _week(seats, week)
    rows = [row for row in seats.sort("seat").iter_rows(named=True) if row["sample"] == chosen]
    _check_kind(kind, rows)
    shown = [
        row
        for row in rows
        if (kind is None or row["signal_kind"] == kind) and not (only_open and row["ruling"] != "open")
    ]
    items = _with_words(folder, shown)
    if as_json:
        import msgspec

        for item in items:
            click.echo(msgspec.json.encode(item).decode())
        return
    for item in items:
        click.echo(on_terminal("\n".join(_lines(item))) + "\n")
    for line in rate_lines(table_of(folder, JUNK_RATE), chosen):
        click.echo(line)
    if len(shown) < len(rows):
        click.echo(f"{len(shown)} of {len(rows)} are shown")


def _week(seats: polars.DataFrame, week: str | None) -> str | None:
    """The sample asked for; None where nothing was ever drawn and none was asked for."""
    known = sorted(set(seats["sample"]))
    if week is None:
        return known[-1] if known else None
    if week not in known:
        raise UsageError(f"no sample `{week}`", remedy=f"there are: {', '.join(known) or 'none'}")
    return week


def _check_kind(kind: str | None, rows: list[dict[str, Any]]) -> None:
    known = sorted({row["signal_kind"] for row in rows})
    if kind is not None and kind not in known:
        raise UsageError(f"nothing of kind `{kind}` in this sample", remedy=f"there are: {', '.join(known) or 'none'}")


def _with_words(folder: Path, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each seat with what is shown of its learning. Private audiences' words are not in the tables."""
    learnings = {row["learning_id"]: row for row in table_of(folder, LEARNINGS).iter_rows(named=True)}
    wanted = {row["learning_id"] for row in rows}
    quotes: dict[str, list[dict[str, str]]] = {}
    for row in table_of(folder, LEARNING_EVIDENCE).sort("ts", "signal_id").iter_rows(named=True):
        if row["learning_id"] in wanted and row["quote"]:
            said = {"words": row["quote"], "said_by": row["actor"], "source": row["source_uri"]}
            quotes.setdefault(row["learning_id"], []).append({**said, "said": row["ts"].date().isoformat()})
    names = ("state", "trust", "kind", "audience", "title", "when", "do", "because")
    return [
        {**row, **{name: learnings[row["learning_id"]][name] for name in names},
         "quotes": quotes.get(row["learning_id"], [])}
        for row in rows
    ]  # fmt: skip


def _lines(item: Mapping[str, Any]) -> Iterator[str]:
    id_ = item["learning_id"][:ID_SHOWN]
    about = f"[{id_}]  {item['signal_kind']} · {item['state']} · {item['trust']} · {item['ruling']}"
    if not item["title"]:
        why = "forgotten" if item["state"] == "forgotten" else f"in the index of {item['audience']} alone"
        yield plain(f"{item['seat']:>2}. (words {why})  {about}")
        return
    yield plain(f"{item['seat']:>2}. {item['title']}")
    yield plain(f"    {about}")
    for name in ("when", "do", "because"):
        if item[name]:
            yield plain(f"    {name}: {' '.join(item[name].split())}")
    for quote in item["quotes"][:1]:
        words = " ".join(quote["words"].split())
        words = words if len(words) <= LONGEST_QUOTE else words[: LONGEST_QUOTE - 1] + "…"
        yield plain(f'    said: "{words}" ({quote["said_by"]}, {quote["said"]}, {quote["source"]})')
    if len(item["quotes"]) > 1:
        more = len(item["quotes"]) - 1
        yield f"    and {count(more, 'more quote')}: lorelake explain {id_}"


def rate_lines(rates: polars.DataFrame, week: str | None) -> list[str]:
    """A sample's junk rate in words: over all, then of each kind that was judged in part."""
    rows = [row for row in rates.iter_rows(named=True) if row["sample"] == week]
    if not rows:
        return ["sample: nothing to draw from yet"]
    whole = next(row for row in rows if row["signal_kind"] == ALL)
    kinds = sorted((row for row in rows if row["signal_kind"] != ALL), key=lambda row: str(row["signal_kind"]))
    told = [f"  {row['signal_kind']}: {_rate(row)}" for row in kinds if row["judged"]]
    return [f"sample {week}: {whole['drawn']} drawn, {_rate(whole)}", *(told if len(kinds) > 1 else [])]


def _rate(row: Mapping[str, Any]) -> str:
    if row["rate"] is None:
        return "nobody judged one yet, so there is no junk rate"
    interval = f"{row['rate_low']:.2f} to {row['rate_high']:.2f}"
    return f"{row['judged']} judged, junk rate {row['rate']:.2f} (n={row['judged']}, {interval})"
