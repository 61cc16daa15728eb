"""The suites of `expectations/`, run by Great Expectations on the tables as they lie.

Great Expectations takes seconds and two thousand modules to import, so it is imported inside `run_suites` and nowhere
else. An expectation that raised is an error of ours, never a finding about the data. See
https://docs.greatexpectations.io/docs/core/introduction/.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lorelake.errors import ContractError
from lorelake.lake import Lake, read_table
from lorelake.release import history
from lorelake.tables import CLAIMS, HISTORY, SERVED_IDS, SIGNALS, TABLES, Table
from lorelake_assets.dbt import project_dir

if TYPE_CHECKING:
    import pandas
    import polars

LONG_TEXT = {"raw_records": ("body",), "events": ("text", "attributes", "command"), "signals": ("payload",)}
"""Columns of which no expectation looks past the first characters; the rest would only fill memory."""

LONG_TEXT_KEPT = 64


@dataclass(frozen=True)
class SuiteResult:
    """What one suite said of one table.

    `findings` are broken rules of severity critical, which hold a release; `warnings` and `notes` do not.
    """

    table: str
    success: bool
    findings: list[str]
    rows: int
    warnings: list[str]
    notes: list[str]


def suites_dir() -> Path:
    """The folder of the suites."""
    return project_dir("_expectations", "expectations")


def read_tables(lake: Lake) -> dict[str, polars.DataFrame]:
    """What a release is built from: every released table whole, the signals and the claims."""
    return {
        table.name: _whole(lake, table) for table in TABLES.values() if table.released or table in (SIGNALS, CLAIMS)
    }


def judge_suites(lake: Lake) -> dict[str, Literal["pass", "fail"]]:
    """Run every suite on the candidate's own files, and on the lake's where the candidate has no copy.

    Returns:
        `suite <table>` to pass; or, for each broken critical rule, `suite <table>: <what>` to fail.
    """
    verdicts: dict[str, Literal["pass", "fail"]] = {}
    for result in run_suites(_judged(lake)):
        if result.success:
            verdicts[f"suite {result.table}"] = "pass"
        verdicts.update({f"suite {result.table}: {finding}": "fail" for finding in result.findings})
    return verdicts


def run_suites(frames: Mapping[str, polars.DataFrame]) -> list[SuiteResult]:
    """Validate each frame against the suite of its table, in order of table name.

    Raises:
        ContractError: a suite is missing, or Great Expectations could not judge it.
    """
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
    import great_expectations as gx
    from great_expectations.data_context.types.base import ProgressBarsConfig

    # This one logger is set to INFO by Great Expectations itself and tells of every temporary folder.
    logging.getLogger("great_expectations.data_context.types.base").setLevel(logging.WARNING)
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    # One definition serves all tables: each further one makes the context write down all that it has so far.
    asset = context.data_sources.add_pandas("tables").add_dataframe_asset("table")
    definition = asset.add_batch_definition_whole_dataframe("whole")
    results = []
    for name in sorted(frames):
        batch = definition.get_batch({"dataframe": _as_pandas(frames[name])})
        results.append(_judge(name, batch, frames[name].height))
    return results


def _judge(name: str, batch: Any, rows: int) -> SuiteResult:
    """Ask yes or no first, and for examples only where the answer is no: that halves the time."""
    broken = _broken(name, batch, _suite(name)["expectations"], "BOOLEAN_ONLY")
    asked_again = [
        {"type": rule.type, "kwargs": dict(rule.kwargs), "severity": rule.severity.value, "meta": dict(rule.meta)}
        for rule in (outcome.expectation_config for outcome in broken)
    ]
    for rule in asked_again:
        rule["kwargs"].pop("batch_id", None)
    said: dict[str, list[str]] = {"critical": [], "warning": [], "info": []}
    for outcome in _broken(name, batch, asked_again, "SUMMARY") if asked_again else ():
        said[outcome.expectation_config.severity.value].append(_words(outcome.expectation_config, outcome.result))
    return SuiteResult(
        name, not said["critical"], sorted(said["critical"]), rows, sorted(said["warning"]), sorted(said["info"])
    )


def _broken(name: str, batch: Any, rules: list[dict[str, Any]], result_format: str) -> list[Any]:
    """The outcomes that did not succeed.

    Raises:
        ContractError: an expectation raised, which Great Expectations by itself counts as a plain failure.
    """
    import great_expectations as gx

    outcomes = batch.validate(gx.ExpectationSuite(name=name, expectations=rules), result_format=result_format).results
    for outcome in outcomes:
        fault = _fault(outcome.exception_info)
        if fault:
            what = f"suite {name}: {outcome.expectation_config.type} could not be judged: {fault}"
            raise ContractError(what, where=f"{name}.json")
    return [outcome for outcome in outcomes if not outcome.success]


def _suite(name: str) -> dict[str, Any]:
    path = suites_dir() / f"{name}.json"
    try:
        suite: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ContractError(f"the suite of {name} cannot be read: {error}", where=str(path)) from None
    return suite


def _fault(info: Mapping[str, Any]) -> str | None:
    """The message of an expectation that raised. Great Expectations nests it one level deeper for metrics."""
    entries = [info] if "raised_exception" in info else list(info.values())
    return next((str(entry["exception_message"]) for entry in entries if entry["raised_exception"]), None)


def _words(rule: Any, result: Mapping[str, Any]) -> str:
    """One broken rule in words: what, how much, and why it is asked."""
    kwargs = rule.kwargs
    columns = kwargs.get("column_list") or [kwargs[key] for key in ("column", "column_A", "column_B") if key in kwargs]
    what = rule.type.removeprefix("expect_").replace("_", " ")
    where = f" ({', '.join(columns)})" if columns and "table" not in what.split() else ""
    if "unexpected_count" in result:
        examples = [repr(value)[:60] for value in result.get("partial_unexpected_list", [])[:3]]
        found = ", ".join([f"{result['unexpected_count']} of {result['element_count']} rows", *examples])
    else:
        found = f"found {result.get('observed_value')}"
    return f"{what}{where}: {found}. {rule.meta['why']}"


def _as_pandas(data: polars.DataFrame) -> pandas.DataFrame:
    """The frame as pandas has it; lists as one string, because Great Expectations hashes values."""
    import polars as pl

    lists = [name for name, kind in data.schema.items() if isinstance(kind, pl.List)]
    return data.with_columns(pl.col(lists).list.join("\x1f")).to_pandas()


def _judged(lake: Lake) -> dict[str, polars.DataFrame]:
    import polars as pl

    frames = {}
    for table in TABLES.values():
        copy = lake.candidate / "tables" / f"{table.name}.parquet"
        frame = read_table(table, copy) if table.released and copy.exists() else _whole(lake, table)
        frames[table.name] = frame.with_columns(
            pl.col(column).str.slice(0, LONG_TEXT_KEPT) for column in LONG_TEXT.get(table.name, ())
        )
    return frames


def _whole(lake: Lake, table: Table) -> polars.DataFrame:
    if table is HISTORY:
        return read_table(table, history.files(lake))
    if table is SERVED_IDS:
        return read_table(table, lake.served_ids())
    return read_table(table, lake.days(table) if table.partitioned else lake.table(table))
