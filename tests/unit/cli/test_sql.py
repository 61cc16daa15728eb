from __future__ import annotations

import io
import json

import pytest

from lorelake.cli import run
from lorelake.cli.sql import connect, query
from lorelake.errors import UsageError


@pytest.fixture
def folder(published):
    return (published.releases / published.current_release()).resolve()


@pytest.fixture
def call(published, capsys, monkeypatch):
    def called(*arguments: str, typed: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        code = run(["sql", *arguments, "--home", str(published.root)])
        return code, *capsys.readouterr()

    return called


def test_a_query_answers_with_an_aligned_table(call):
    code, out, _ = call(
        "select trust, count(*) as items from learnings where state = 'active' group by trust order by 1"
    )
    assert (code, out) == (0, "trust     items\n--------  -----\nreviewed      1\nstated        4\n")


def test_csv_and_json(call):
    statement = "select state, applies_to from learnings where trust = 'reviewed'"
    assert call(statement, "--csv")[1] == 'state,applies_to\nactive,"[""scripts/deploy.sh""]"\n'
    assert json.loads(call(statement, "--json")[1]) == {"state": "active", "applies_to": ["scripts/deploy.sh"]}


@pytest.mark.parametrize(
    "statement",
    [
        "copy learnings to '{out}'",
        "copy learnings to '{release}/tables/x.parquet'",
        "explain analyze copy learnings to '{release}/tables/x.parquet'",
        "explain (analyze) copy learnings to '{release}/tables/x.parquet'",
        "attach '{out}'",
        "install httpfs",
        "load httpfs",
        "create table mine as select 1",
        "set enable_external_access = true",
        "set lock_configuration = false",
        "pragma enable_profiling",
        "export database '{out}'",
        "select * from read_text('/etc/hostname')",
        "select * from read_csv('/etc/passwd')",
        "select * from '/etc/passwd'",
        "select * from glob('/etc/*')",
        "select * from glob('{release}/index/*/*')",
        "select * from read_blob('{release}/tables/../manifest.json')",
        "select * from read_csv('https://example.invalid/x.csv')",
        "select 1; copy learnings to '{out}'",
        "explain select 1; copy learnings to '{out}'",
        "prepare p as copy learnings to '{out}'",
        "call pragma_version()",
    ],
)
def test_nothing_can_be_written_nor_read_elsewhere(folder, tmp_path, statement):
    before = sorted(folder.rglob("*"))
    with connect(folder) as db:
        with pytest.raises(UsageError):
            query(db, statement.format(out=tmp_path / "out", release=folder))
        assert query(db, "select count(*) from learnings")[1] == [(8,)]
    assert not (tmp_path / "out").exists()
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize(
    "statement",
    ["select 1", "from learnings limit 1", "with x as (select 1 as a) select a from x", "describe learnings",
     "summarize votes",
     "explain select * from learnings", "explain analyze select 1", "show tables", "values (1)", "select 1;"],
)  # fmt: skip
def test_every_kind_of_query_runs(folder, statement):
    with connect(folder) as db:
        assert query(db, statement)[1]


def test_a_wrong_name_is_answered_with_the_nearest(call):
    code, _, err = call("select * from learning")
    assert code == 2
    assert "no table `learning`" in err
    assert "did you mean `learnings`" in err
    assert "source_health" in err
    code, _, err = call("select confidense from learnings")
    assert code == 2
    assert "no column `confidense`" in err
    assert "`confidence`" in err
    code, _, err = call("selekt 1")
    assert (code, "syntax" in err.lower()) == (2, True)


def test_without_a_statement_lines_are_read_to_the_semicolon(call):
    code, out, _ = call("--csv", typed="select 1 as a,\n 2 as b;\n.tables\nselect 3 as c;\n.quit\nselect 4 as d;\n")
    assert code == 0
    assert out.startswith("a,b\n1,2\n")
    assert "one learning as it stands" in out
    assert out.endswith("c\n3\n")
    assert call("--csv", typed="select 5 as e")[1] == "e\n5\n"


def test_an_older_release_is_asked_by_id(call, published):
    assert call("select 1", "--release", published.current_release())[0] == 0
    assert call("select 1", "--release", "2026-01-01-00000000")[0] == 1
    assert call("select 1", "--release", "../../x")[0] == 2


def test_a_damaged_table_is_named_with_the_way_to_find_out(published, capsys):
    victim = published.releases / published.current_release() / "tables/votes.parquet"
    victim.chmod(0o640)
    victim.write_bytes(b"")
    assert run(["sql", "select 1", "--home", str(published.root)]) == 1
    err = capsys.readouterr().err
    assert err.startswith("lorelake: error: ")
    assert "votes.parquet" in err
    assert "`lorelake release verify`" in err
