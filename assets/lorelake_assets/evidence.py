"""Group evidence: signals with quotes, the gates' verdicts, and what memory showed whom."""

from __future__ import annotations

from collections.abc import Iterator

import dagster as dg
import msgspec

from lorelake.evidence import days as evidence_days
from lorelake.evidence import memory_of_lake
from lorelake.evidence import model_answers as answers
from lorelake.evidence.gates import admit
from lorelake.evidence.signature_mapping import mapping_rows
from lorelake.lake import frame, read_table, write_table
from lorelake.tables import ADMISSIONS, EXPOSURES, LEDGER, RECALLS, SESSIONS, SIGNALS, SIGNATURE_MAPPING
from lorelake_assets import events
from lorelake_assets.progress import answers_on_terminal
from lorelake_assets.resources import Night, redactor


@dg.asset(group_name="evidence", deps=[events.events, events.sessions], kinds={"python", "parquet"})
def model_answers(night: Night) -> dg.MaterializeResult[None]:
    """Ask a model about what people said, where the settings name one; its answers are kept as input."""
    lake, settings = night.lake, night.settings
    found = read_table(SESSIONS, lake.table(SESSIONS))
    asked = answers.ask(lake, found, settings.extract, redactor(settings), night.day, answers_on_terminal)
    return dg.MaterializeResult(metadata=msgspec.to_builtins(asked))


@dg.asset(group_name="evidence", deps=[events.events, events.sessions, model_answers], kinds={"python", "parquet"})
def signals(night: Night) -> dg.MaterializeResult[None]:
    """Run every extractor over the days whose events or families are new."""
    lake = night.lake
    written = evidence_days.derive_days(lake, read_table(SESSIONS, lake.table(SESSIONS)))
    return dg.MaterializeResult(metadata={"days": len(written), "signals": sum(written.values())})


@dg.asset(group_name="evidence", deps=[signals, events.ledger_asset], kinds={"python", "parquet"})
def admissions(night: Night) -> dg.MaterializeResult[None]:
    """Send every signal through the gates; each refusal is a row with its rule."""
    lake = night.lake
    sessions, ledger = read_table(SESSIONS, lake.table(SESSIONS)), read_table(LEDGER, lake.table(LEDGER))
    found = read_table(SIGNALS, lake.days(SIGNALS))
    rows = admit(found.to_dicts(), evidence_days.gate_context(lake, sessions, ledger, found))
    write_table(ADMISSIONS, frame(ADMISSIONS, rows), lake.table(ADMISSIONS))
    return dg.MaterializeResult(metadata={"signals": len(rows), "admitted": sum(row["admitted"] for row in rows)})


@dg.asset(group_name="evidence", deps=[signals], kinds={"python", "parquet"})
def signature_mapping(night: Night) -> dg.MaterializeResult[None]:
    """Tell which key an error has now that had another under a former algorithm."""
    lake = night.lake
    rows = mapping_rows(read_table(SIGNALS, lake.days(SIGNALS)).iter_rows(named=True))
    write_table(SIGNATURE_MAPPING, frame(SIGNATURE_MAPPING, rows), lake.table(SIGNATURE_MAPPING))
    return dg.MaterializeResult(metadata={"pairs": len(rows)})


@dg.multi_asset(
    specs=[
        dg.AssetSpec(
            table.name,
            deps=[events.events, events.sessions],
            group_name="evidence",
            kinds={"python", "parquet"},
        )
        for table in (EXPOSURES, RECALLS)
    ]
)
def exposures(night: Night) -> Iterator[dg.MaterializeResult[None]]:
    """Read from transcripts what memories were asked, what they showed, and what was cited."""
    lake = night.lake
    found = memory_of_lake.rows(lake, read_table(SESSIONS, lake.table(SESSIONS)), memory_of_lake.known_ids(lake))
    for table, rows in ((EXPOSURES, found.exposures), (RECALLS, found.recalls)):
        write_table(table, frame(table, rows), lake.table(table))
        yield dg.MaterializeResult(asset_key=table.name, metadata={"rows": len(rows)})
