"""Group evidence: signals with quotes, the gates' verdicts, and what memory showed whom."""

from __future__ import annotations

import dagster as dg

from lorelake.evidence import days as evidence_days
from lorelake.evidence.gates import admit
from lorelake.lake import frame, read_table, write_table
from lorelake.tables import ADMISSIONS, EXPOSURES, LEDGER, SESSIONS, SIGNALS
from lorelake_assets import events
from lorelake_assets.resources import Night


@dg.asset(group_name="evidence", deps=[events.events, events.sessions], kinds={"python", "parquet"})
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


@dg.asset(group_name="evidence", deps=[events.events, events.sessions], kinds={"python", "parquet"})
def exposures(night: Night) -> dg.MaterializeResult[None]:
    """Read from transcripts what memory showed and what was cited."""
    lake = night.lake
    rows = evidence_days.exposure_rows(lake, read_table(SESSIONS, lake.table(SESSIONS)))
    write_table(EXPOSURES, frame(EXPOSURES, rows), lake.table(EXPOSURES))
    return dg.MaterializeResult(metadata={"exposures": len(rows)})
