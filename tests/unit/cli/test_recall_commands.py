from __future__ import annotations

import json

import pytest

from lorelake.cli import run
from lorelake.content import markers


@pytest.fixture(autouse=True)
def _elsewhere(monkeypatch, tmp_path, published):
    """A person's folder without settings; the lake is named by the variable."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("LORELAKE_HOME", str(published.root))


@pytest.fixture
def call(capsys):
    def called(*arguments: str) -> tuple[int, str, str]:
        code = run(list(arguments))
        return code, *capsys.readouterr()

    return called


@pytest.mark.parametrize(
    ("question", "verdict"),
    [
        ("quote paths in shell", "RELEVANT"),
        ("quote paths zebra giraffe", "WEAK"),
        ("kubernetes autoscaler", "NOT_RELEVANT"),
    ],
)
def test_the_three_answers_are_exit_code_0(call, question, verdict):
    for command in ("recall", "check"):
        code, out, err = call(command, *question.split())
        assert (code, out.split()[0], err) == (0, verdict, "")
        code, out, err = call(command, question, "--json")
        assert (code, json.loads(out)["verdict"], err) == (0, verdict, "")


def test_unreachable_is_the_fourth_with_exit_code_1(call, tmp_path):
    nowhere = str(tmp_path / "nowhere")
    for command in (("recall", "paths"), ("check", "paths"), ("show", "lrn_00000000")):
        code, out, _ = call(*command, "--home", nowhere)
        assert (code, out.split()[0]) == (1, "UNREACHABLE")
        code, out, _ = call(*command, "--home", nowhere, "--json")
        assert (code, json.loads(out)["verdict"]) == (1, "UNREACHABLE")


def test_project_is_honoured_and_the_settings_are_its_default(call, ids, tmp_path):
    assert ids("pnpm")[:16] not in call("recall", "harbourmark")[1]
    assert ids("pnpm")[:16] in call("recall", "harbourmark", "--project", "harbour")[1]
    both = call("recall", "harbourmark lanternmark pnpm cache", "--project", "harbour", "--project", "lantern")[1]
    assert ids("pnpm")[:16] in both
    assert ids("cache")[:16] in both
    (tmp_path / "work" / "lorelake.toml").write_text(
        '[team]\nid = "harbour-team"\n[recall]\nprojects = ["harbour"]\nlimit = 1\n'
    )
    assert ids("pnpm")[:16] in call("recall", "harbourmark")[1]
    assert ids("pnpm")[:16] not in call("recall", "harbourmark", "--project", "lantern")[1]
    many = "quote paths, schema migrations, pnpm install"
    assert json.loads(call("recall", many, "--json")[1])["returned"] == 1
    assert json.loads(call("recall", many, "--json", "--limit", "2")[1])["returned"] == 2


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_every_answer_leaves_its_marker(call, published, ids, form):
    """What is read from a transcript afterwards is what was printed: verdict, counts, and each item once."""
    release, question = published.current_release(), "quote paths in shell"
    asked, shown = markers.standing(call("recall", question, *form)[1])
    assert shown == markers.Marker("shown", release, (ids("paths"),))
    assert (asked.kind, asked.release_id, asked.verdict.verdict, asked.verdict.returned) == (
        "recall", release, "RELEVANT", 1,
    )  # fmt: skip
    (checked,) = markers.standing(call("check", question, *form)[1])
    assert (checked.verdict.verdict, checked.verdict.returned, checked.verdict.total) == ("RELEVANT", 0, 1)
    (nothing,) = markers.standing(call("recall", "kubernetes autoscaler", *form)[1])
    assert (nothing.verdict.verdict, nothing.verdict.total) == ("NOT_RELEVANT", 0)
    assert markers.standing(call("show", ids("paths"), *form)[1]) == [
        markers.Marker("opened", release, (ids("paths"),))
    ]
    (lost,) = markers.standing(call("recall", question, "--home", "/nowhere", *form)[1])
    assert lost.verdict == markers.Verdict("UNREACHABLE")


def test_what_was_typed_cannot_come_back_as_a_marker(call, ids, published):
    """An error echoes the id that was asked for: with line ends in it, a marker would stand on a line of its own."""
    forged = markers.shown_marker(published.current_release(), [ids("paths")])
    for arguments in (("show", f"lrn_unknown\n{forged}\n"), ("recall", "paths", "--home", f"/nowhere\n{forged}\n")):
        code, out, err = call(*arguments)
        assert code == 1
        assert [m for m in markers.standing(out + err) if m.kind != "recall"] == []


def test_engine_lance_answers_too(call, ids):
    found = json.loads(call("recall", "quoting paths", "--engine", "lance", "--json")[1])
    assert (found["searched"]["engine"], found["hits"][0]["learning_id"]) == ("lance", ids("paths"))


def test_show_gives_the_whole_item_by_prefix(call, ids):
    code, out, _ = call("show", ids("paths")[:14])
    assert code == 0
    for words in ("Quote every path", "globs must stay outside", "scripts/deploy.sh", "please quote the paths"):
        assert words in out
    code, out, _ = call("show", ids("paths_old"))
    assert (code, "superseded" in out, "Quote every path" in out) == (0, True, True)


def test_a_foreign_id_is_not_found_and_nothing_of_it_is_told(call, ids):
    code, out, err = call("show", ids("cache"), "--project", "harbour")
    assert (code, out) == (1, "")
    assert "no item" in err
    assert "lantern" not in err.replace("lanternmark", "lantern-words")
    assert call("show", "lrn_")[0] == 2


@pytest.mark.parametrize("projects", [("harbour",), ()])
def test_no_command_tells_one_project_of_another(call, ids, projects):
    """faults 30: search, list, get by id, counts, explanations and errors say nothing of what is not the reader's."""
    given = [word for project in projects for word in ("--project", project)]
    told = []
    questions = ("clear the tile cache before a release", "lanternmark", "ochremark figures in a ticket", "use pnpm")
    forms = [("recall",), ("recall", "--json"), ("recall", "--limit", "50"), ("check",), ("check", "--json")]
    for question in questions:
        for command, *form in forms:
            told += call(command, question, *given, *form)[1:]
    for name in ("cache", "secret_plan"):
        for form in ((), ("--json",)):
            code, *words = call("show", ids(name), *given, *form)
            assert code == 1
            told += [text.replace(ids(name), "") for text in words]  # the id was the asker's own word
    everything = "\n".join(told).lower()
    for foreign in ("tiles-clean", "tile cache with", "project:lantern", "never paste", "c0private"):
        assert foreign not in everything
    assert ("pnpm install" in everything) == bool(projects)
