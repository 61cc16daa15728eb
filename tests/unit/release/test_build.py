from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import date
from pathlib import Path

import duckdb
import msgspec
import polars as pl
import pytest

from lorelake import served
from lorelake.errors import ContractError, SettingsError
from lorelake.release.build import build_candidate, remove_tree
from lorelake.release.manifest import content_hash, read_manifest
from lorelake.settings import Settings, Team
from lorelake.tables import TABLES

AS_OF = date(2026, 3, 20)


def everything_written(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def searchable(folder: Path, name: str) -> str:
    """The words of a Parquet, SQLite or other file, decoded: compressed pages hide a word from a byte search."""
    path = folder / name
    if path.suffix == ".parquet":
        return str(pl.read_parquet(path).rows())
    if path.suffix == ".db":
        with sqlite3.connect(path) as db:
            return "\n".join(db.iterdump())
    return path.read_bytes().decode("utf-8", "replace")


@pytest.mark.parametrize(
    ("marker", "audience"),
    [("harbourmark", "project:harbour"), ("lanternmark", "project:lantern"), ("ochremark", "channel:C0PRIVATE")],
)
def test_words_of_an_audience_stand_in_its_own_folders_only(published, settings, marker, audience):
    folder = published.releases / published.current_release()
    own = served.audience_id(settings.team.id, audience)
    holding = {name for name in everything_written(folder) if marker in searchable(folder, name)}
    assert f"index/{own}/lexical.db" in holding
    tables_allowed = served.is_shared(audience)
    elsewhere = {n for n in holding if own not in n and not (tables_allowed and n.startswith("tables/"))}
    assert not elsewhere
    assert {n for n in holding if n.startswith("index/")} <= {n for n in everything_written(folder) if own in n}


def test_forgotten_words_stand_nowhere_and_the_row_stays(published, ids):
    folder = published.releases / published.current_release()
    assert not [name for name in everything_written(folder) if "forgetmark" in searchable(folder, name)]
    learnings = pl.read_parquet(folder / "tables/learnings.parquet")
    assert learnings.filter(pl.col("learning_id") == ids("gone"))["state"].to_list() == ["forgotten"]


def test_private_rows_are_counted_without_their_words(published, ids):
    folder = published.releases / published.current_release()
    row = pl.read_parquet(folder / "tables/learnings.parquet").row(
        by_predicate=pl.col("learning_id") == ids("secret_plan"), named=True
    )
    assert (row["title"], row["do"], row["said_by"], row["not_when"], row["because"]) == ("", "", "", [], None)
    assert row["confidence"] == 0.7
    ledger = pl.read_parquet(folder / "tables/ledger.parquet").row(0, named=True)
    assert (ledger["reason"], ledger["source_uri"], ledger["decision_id"]) == ("", "", "d1")


def test_who_moved_or_replaced_a_private_learning_is_withheld_and_features_stay_an_object(lake, settings, night, ids):
    """A link is private where one of its sides is; of shared learnings everything is told."""
    for name in ("secret_plan", "paths"):
        night.put("learning_events", learning_id=ids(name), to_state="active", reason="stated", actor="jonas")
    told = {"reason": "explicit", "status": "proposed", "actor": "jonas", "features": '{"word":"ochremark"}'}
    for older, newer in (("review", "secret_plan"), ("review", "paths")):
        night.put("supersession", older_id=ids(older), newer_id=ids(newer), quote="ochremark", **told)
    folder = build_candidate(lake, settings, AS_OF, night.tables(), {}) / "tables"
    moved = pl.read_parquet(folder / "learning_events.parquet").filter(pl.col("reason") == "stated")
    assert dict(moved.select("learning_id", "actor").iter_rows()) == {
        ids("secret_plan"): "withheld", ids("paths"): "jonas",
    }  # fmt: skip
    links = pl.read_parquet(folder / "supersession.parquet").filter(pl.col("older_id") == ids("review"))
    assert {row[0]: row[1:] for row in links.select("newer_id", "actor", "features", "quote").iter_rows()} == {
        ids("secret_plan"): ("withheld", "{}", None), ids("paths"): ("jonas", told["features"], "ochremark"),
    }  # fmt: skip


def test_admissions_lose_their_detail_where_no_signal_says_whose_they_are(lake, settings, night):
    tables = night.tables()
    del tables["signals"]
    folder = build_candidate(lake, settings, AS_OF, tables, {})
    assert set(pl.read_parquet(folder / "tables/admissions.parquet")["detail"]) == {""}


def test_the_branch_of_a_session_that_is_nobody_elses_is_left_out(lake, settings, night):
    night.put("sessions", unit_id="claude_code:s2", family_id="f", audience="project:harbour", branch="fix/login")
    night.put("sessions", unit_id="claude_code:s3", family_id="f", audience="person:mara", branch="ochremark")
    folder = build_candidate(lake, settings, AS_OF, night.tables(), {})
    branches = dict(pl.read_parquet(folder / "tables/sessions.parquet").select("unit_id", "branch").rows())
    assert (branches["claude_code:s2"], branches["claude_code:s3"]) == ("fix/login", None)


def test_what_a_private_audience_used_is_counted_and_not_named(lake, settings, night):
    plain = {"system": "teamai", "item_id": "ochremark", "also": ["ochremark"], "unit_id": "documents:ochremark.md"}
    night.put("imported_votes", **plain, total_id="a", recalled=3, audience="person:mara")
    night.put("imported_votes", **plain, total_id="b", recalled=4, audience="project:harbour")
    folder = build_candidate(lake, settings, AS_OF, night.tables(), {})
    table = pl.read_parquet(folder / "tables/imported_votes.parquet")
    assert table.select("total_id", "item_id", "also", "unit_id", "recalled").rows() == [
        ("a", "", [], None, 3),
        ("b", "ochremark", ["ochremark"], "documents:ochremark.md", 4),
    ]


def test_what_a_private_session_asked_and_said_is_counted_and_not_told(lake, settings, night):
    for name, audience in (("a", "person:mara"), ("b", "project:harbour")):
        night.put("recalls", recall_id=name, query="ochremark", searched=["person:mara"], returned=2, audience=audience)
        night.put(
            "exposures",
            exposure_id=name,
            claim_id="gitmem:bc376d1f",
            act="confirmed",
            evidence="ochremark",
            audience=audience,
        )
    folder = build_candidate(lake, settings, AS_OF, night.tables(), {})
    asked = pl.read_parquet(folder / "tables/recalls.parquet").select("recall_id", "query", "searched", "returned")
    assert asked.rows() == [("a", "", [], 2), ("b", "ochremark", ["person:mara"], 2)]
    said = pl.read_parquet(folder / "tables/exposures.parquet").filter(pl.col("act") == "confirmed")
    assert said.select("exposure_id", "evidence").rows() == [("a", None), ("b", "ochremark")]


def test_every_text_column_of_a_released_table_is_known_to_carry_words_or_not():
    """A new column must be looked at: private words may not reach the tables by being forgotten here."""
    from lorelake.release.privacy import _TEXT

    wordless = {
        "intake", "votes", "confidence", "tombstones", "funnel", "refusals", "source_health",
        "session_merge_requests", "aliases", "gate_funnel", "samples", "junk_rate", "signature_mapping",
        "decision_status", "usage", "decay", "calibration", "publishes", "servings",
    }  # fmt: skip
    keys = {
        "learnings": {
            "learning_id", "state_reason", "project", "audience", "text_sha256", "content_key", "superseded_by",
            "inferred",
        },
        "learning_evidence": {"learning_id", "signal_id", "claim_id", "quote_sha256", "family_id"},
        "learning_events": {"learning_id", "reason"},
        "learning_versions": {"learning_id", "state_reason", "text_sha256", "superseded_by"},
        "retirement_samples": {"learning_id", "reason", "newer_id"},
        "review_queue": {"learning_id", "audience", "missing"},
        "repeat_mistakes": {"learning_id", "family_id", "audience"},
        "topics": {"topic_id", "audience", "parent_id"},
        "topic_members": {"learning_id", "topic_id"},
        "topic_merges": {"from_id", "to_id", "audience"},
        "supersession": {"older_id", "newer_id", "older_evidence", "newer_evidence"},
        "ledger": {
            "decision_id", "claim_id", "other_claim_id", "content_key", "signature", "decided_on_sha256", "actor",
            "refused_because", "target", "claims",
        },
        "approved_texts": {"learning_id", "decision_id", "text_sha256"},
        "admissions": {"signal_id", "rule"},
        "sessions": {"unit_id", "family_id", "project", "audience", "person"},
        "imported_votes": {"total_id", "store", "voter", "audience"},
        "recalls": {"recall_id", "release_id", "unit_id", "family_id", "person", "project", "audience"},
        "exposures": {
            "exposure_id", "claim_id", "unit_id", "family_id", "person", "recall_id", "release_id", "audience",
        },
    }  # fmt: skip
    for table in TABLES.values():
        if table.released and table.name not in wordless:
            text = {c.name for c in table.columns if c.base in ("str", "list[str]") and not c.values}
            assert text == keys[table.name] | set(_TEXT[table.name]), table.name


def test_an_index_answers_to_the_ids_of_its_own_audience_only(lake, settings, night, ids):
    """Also to those that lead to what is not served, and to those that a tombstone took."""
    names = {"moved": "pnpm", "waited": "waits", "of_lantern": "cache"}
    old = {name: "lrn_" + digit * 32 for name, digit in zip((*names, "erased", "erased_there"), "12345", strict=True)}
    for name, of in names.items():
        night.put("aliases", reference=old[name], learning_id=ids(of), basis="served_before", audience="project:gone")
    for name, audience in (("erased", "project:harbour"), ("erased_there", "project:lantern")):
        night.put("aliases", reference=old[name], basis="forgotten", audience=audience)
    build_candidate(lake, settings, AS_OF, night.tables(), {})
    folder = lake.candidate / "index" / served.audience_id(settings.team.id, "project:harbour")
    with closing(sqlite3.connect(folder / "lexical.db")) as db:
        aliases = dict(db.execute("SELECT claim_id, learning_id FROM aliases"))
        retired = dict(db.execute("SELECT learning_id, state FROM retired"))
    assert aliases == {old["moved"]: ids("pnpm"), old["waited"]: ids("waits")}
    assert retired == {ids("waits"): "candidate", old["erased"]: "forgotten"}


def test_the_queue_lies_with_its_audience_and_has_the_quotes(published, settings, ids):
    folder = published.releases / published.current_release()
    queue = folder / "review" / served.audience_id(settings.team.id, "project:harbour") / "queue.json"
    (entry,) = msgspec.json.decode(queue.read_bytes())
    assert entry["learning_id"] == ids("waits")
    assert entry["quotes"][0]["words"] == "restart the worker afterwards"
    assert [path.parent.name for path in (folder / "review").glob("*/queue.json")] == [queue.parent.name]


def test_content_hash_does_not_see_order_of_rows_columns_or_the_tenth_digit(night):
    tables = night.tables()
    mixed = {name: data.reverse().select(sorted(data.columns)) for name, data in tables.items()}
    mixed["learnings"] = mixed["learnings"].with_columns(pl.col("confidence") + 1e-12)
    assert content_hash(tables) == content_hash(mixed)


@pytest.mark.parametrize("name", ["funnel", "learnings"])
def test_content_hash_covers_the_hashed_tables_only(night, name):
    before = content_hash(night.tables())
    night.rows[name].pop()
    assert (content_hash(night.tables()) != before) == TABLES[name].hashed


def test_a_change_only_a_private_audience_sees_names_a_new_release(lake, settings, night):
    first = read_manifest(build_candidate(lake, settings, AS_OF, night.tables(), {})).release_id
    night.learning("secret_plan")["do"] = "Never paste ochremark figures anywhere."
    assert read_manifest(build_candidate(lake, settings, AS_OF, night.tables(), {})).release_id != first


def test_same_rows_give_the_same_tables_and_twins_byte_for_byte(lake, settings, night):
    def stable() -> dict[str, bytes]:
        folder = build_candidate(lake, settings, AS_OF, night.tables(), {"ledger": "abc"})
        return {
            name: data
            for name, data in everything_written(folder).items()
            if ".lance" not in name and ".duckdb" not in name
        }

    assert stable() == stable()


def test_the_catalog_follows_its_release_when_it_is_moved(published, tmp_path):
    folder = published.releases / published.current_release()
    moved = tmp_path / "elsewhere"
    folder.rename(moved)
    with duckdb.connect(moved / "catalog.duckdb", read_only=True, config={"file_search_path": str(moved)}) as db:
        assert db.execute("SELECT count(*) FROM learnings").fetchone() == (8,)
        comment = db.execute(
            "SELECT comment FROM duckdb_columns() WHERE table_name='learnings' AND column_name='trust'"
        )
        assert comment.fetchone() == ("what its history proves",)


def test_a_missing_table_and_another_teams_lake_are_refused(lake, settings, night):
    tables = night.tables()
    build_candidate(lake, settings, AS_OF, tables, {})
    with pytest.raises(SettingsError, match="belongs to team `harbour-team`"):
        build_candidate(lake, Settings(team=Team(id="others")), AS_OF, tables, {})
    del tables["votes"]
    with pytest.raises(ContractError, match="votes"):
        build_candidate(lake, settings, AS_OF, tables, {})


def test_a_candidate_left_read_only_by_a_dead_run_is_built_over(lake, settings, night):
    folder = build_candidate(lake, settings, AS_OF, night.tables(), {})
    (folder / "leftover").write_text("x")
    for path in [*folder.rglob("*"), folder]:
        path.chmod(0o500 if path.is_dir() else 0o400)
    build_candidate(lake, settings, AS_OF, night.tables(), {})
    assert not (folder / "leftover").exists()
    remove_tree(folder)
    remove_tree(folder)


def test_no_learning_at_all_builds_a_release_without_an_index(lake, settings, night):
    for name in night.rows:
        night.rows[name] = night.rows[name] if name in ("intake", "sessions", "funnel") else []
    folder = build_candidate(lake, settings, AS_OF, night.tables(), {})
    assert read_manifest(folder).active == {}
    assert not (folder / "index").exists()
