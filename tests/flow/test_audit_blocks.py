"""A failed check leaves the served release serving, in this run and in any later one."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from lorelake.tables import LEARNINGS

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("flow")]

SECRET = "AKIAIOSFODNN7EXAMPLE"


@pytest.fixture
def sql_as_it_lies(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tables that SQL made lie in the copied lake; what is tampered with comes after them."""
    from lorelake_assets import dbt

    monkeypatch.setattr(dbt, "build", lambda *_: dbt.DbtResult({table.name: 0 for table in dbt.OUTPUTS}, ()))
    monkeypatch.setattr(dbt, "remember", lambda *_: None)


def tampering(before: Callable[[dict[str, Any]], None], after: Callable[[Any], None]) -> Callable[..., Any]:
    """`build_candidate` with rows changed on the way in, and files changed on the way out."""
    from lorelake.release.build import build_candidate

    def build(lake: Any, settings: Any, day: Any, tables: Any, *more: Any) -> Any:
        tables = dict(tables)
        before(tables)
        folder = build_candidate(lake, settings, day, tables, *more)
        after(folder)
        return folder

    return build


def with_bad_rows(tables: dict[str, Any]) -> None:
    """An active item without a verified quote, one with a credential in it, and one that a person rejected."""
    learnings, evidence = tables["learnings"], tables["learning_evidence"]
    active = learnings.filter(pl.col("state") == "active")["learning_id"].sort()
    buried = tables["tombstones"]["content_key"]
    tables["learning_evidence"] = evidence.with_columns(
        quote_verified=pl.col("quote_verified") & (pl.col("learning_id") != active[0])
    )
    tables["learnings"] = learnings.with_columns(
        do=pl.when(pl.col("learning_id") == active[1]).then(pl.lit(f"Log in with {SECRET}.")).otherwise("do"),
        state=pl.when(pl.col("content_key").is_in(buried.implode())).then(pl.lit("active")).otherwise("state"),
    )
    assert not tables["learnings"].equals(learnings)


def nothing(_: Any) -> None:
    pass


def publish_alone(team: Any) -> Any:
    """The last step by itself, in a run of its own."""
    from lorelake_assets.definitions import build_defs
    from lorelake_assets.resources import Night

    job = build_defs(Night(settings_path=str(team.settings), as_of="2026-03-21")).resolve_job_def("nightly")
    import dagster as dg

    return job.execute_in_process(asset_selection=[dg.AssetKey("published")], raise_on_error=False)


def test_bad_rows_hold_the_release_and_are_named(
    team, night, told, monkeypatch, without_suites, sql_as_it_lies
) -> None:
    from lorelake_assets import release

    before, served = told(team.served), team.release
    monkeypatch.setattr(release, "build_candidate", tampering(with_bad_rows, nothing))
    said = night(team, "--as-of", "2026-03-21")
    assert said.code == 1
    assert "the audit holds the release back" in said.err
    assert f"release {served} goes on serving" in said.err
    verdict = json.loads((team.home / "releases" / ".candidate" / "verdict.json").read_text(encoding="utf-8"))
    codes = {finding["code"] for finding in verdict["findings"] if finding["severity"] == "error"}
    assert codes >= {"quarantined_share", "tombstone_active"}, verdict["findings"]
    for code in codes:
        assert code in said.err
    assert SECRET not in said.err + said.out + json.dumps(verdict)
    assert (team.release, told(team.served)) == (served, before)
    assert [path.name for path in (team.home / "releases").iterdir() if path.name != ".candidate"] == [served]

    alone = publish_alone(team)
    assert not alone.success
    failures = [event.step_failure_data.error for event in alone.all_events if event.event_type_value == "STEP_FAILURE"]
    assert "the audit refused this candidate" in failures[0].to_string()
    assert team.release == served


def test_a_table_changed_between_build_and_audit_is_seen(
    team, night, monkeypatch, without_suites, sql_as_it_lies
) -> None:
    from lorelake_assets import release

    def swap(folder: Any) -> None:
        path = folder / "tables" / "learnings.parquet"
        data = pl.read_parquet(path)
        active = data.filter(pl.col("state") == "active")["learning_id"].sort()
        from lorelake.lake import write_table

        changed = data.with_columns(
            state=pl.when(pl.col("learning_id") == active[0]).then(pl.lit("candidate")).otherwise("state")
        )
        write_table(LEARNINGS, changed, path)

    served = team.release
    monkeypatch.setattr(release, "build_candidate", tampering(nothing, swap))
    said = night(team, "--as-of", "2026-03-21")
    assert said.code == 1
    assert "index_rows" in said.err
    assert team.release == served


def test_a_table_changed_between_audit_and_publish_is_seen(
    team, night, monkeypatch, without_suites, sql_as_it_lies
) -> None:
    """Publish asks for a pass on exactly these files; a failing suite's word stands in the error too."""
    from lorelake_assets import checks, release

    monkeypatch.setattr(checks, "judge_suites", lambda lake: {"suite learnings: a broken rule": "fail"})
    served = team.release
    said = night(team, "--as-of", "2026-03-21")
    assert said.code == 1
    assert "suite learnings: a broken rule: fail" in said.err

    store = release.store_verdict

    def then_change(candidate: Any, *given: Any) -> Any:
        verdict = store(candidate, *given)
        (candidate / "catalog.duckdb").open("ab").write(b" ")
        return verdict

    monkeypatch.setattr(checks, "judge_suites", lambda lake: {})
    monkeypatch.setattr(release, "store_verdict", then_change)
    said = night(team, "--as-of", "2026-03-21")
    assert said.code == 1
    assert "the verdict was given on other files than these" in said.err
    assert team.release == served
