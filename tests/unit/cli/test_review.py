from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from lorelake.cli import run
from lorelake.formats.decisions import parse

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """A checkout with one commit on main and no remote."""
    folder = tmp_path / "ledger"
    folder.mkdir()
    for words in (
        ["init", "--quiet", "--initial-branch=main"], ["config", "user.name", "Ann"],
        ["config", "user.email", "ann@team.example"], ["commit", "--quiet", "--allow-empty", "-m", "Start"],
    ):  # fmt: skip
        subprocess.run(["git", *words], cwd=folder, check=True)
    return folder


@pytest.fixture
def call(published: Any, ledger: Path, capsys: pytest.CaptureFixture[str]) -> Call:
    def called(*arguments: str) -> tuple[int, str, str]:
        code = run(["review", "--home", str(published.root), "--into", str(ledger), *arguments])
        return code, *capsys.readouterr()

    return called


def written(ledger: Path) -> dict[str, Any]:
    (path,) = (ledger / "decisions").glob("*.yaml")
    return parse(path.read_text(encoding="utf-8"))


def test_the_queue_tells_why_what_is_missing_and_for_how_long(call: Call, ids: Callable[[str], str]) -> None:
    code, out, _ = call()
    assert code == 0
    line = next(line for line in out.splitlines() if line.startswith(ids("waits")[:16]))
    assert "candidate" in line
    assert line.endswith("Restart the worker after a config change")
    assert "1 item wait: the oldest" in out
    code, out, _ = call("--json")
    assert json.loads(out)["item"]["learning_id"] == ids("waits")


def test_show_has_the_words_the_quotes_where_they_stand_and_what_let_it_in(
    call: Call, ids: Callable[[str], str]
) -> None:
    code, out, _ = call("show", ids("waits")[:12])
    assert code == 0
    for part in (
        "nobody has looked at it yet", "| restart the worker afterwards", "claude-code/waits.jsonl:7",
        "characters 0-29, found again", "admitted: admitted",
    ):  # fmt: skip
        assert part in out


def test_what_changed_since_an_approval_is_shown(
    make_night: Any, publish_night: Any, lake: Any, settings: Any, ids: Callable[[str], str],
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    night = make_night()
    about = {"learning_id": ids("paths"), "decision_id": "d2", "text_sha256": "0" * 64}
    night.put("approved_texts", **about, title="Quote paths", do="Put double quotes around every path variable.")
    publish_night(lake, settings, night)
    assert run(["review", "--home", str(lake.root), "show", ids("paths")]) == 0
    out = capsys.readouterr().out
    assert "- Quote paths\n" in out
    assert "+ Quote every path in shell scripts\n" in out
    assert "- Put double quotes" not in out


SINGLE = {
    "approve": ({"text_sha256", "content_key"}, ()),
    "reject": ({"content_key"}, ()),
    "retire": ({"content_key"}, ()),
    "endorse": ({"text_sha256", "content_key"}, ()),
    "dispute": ({"text_sha256", "content_key"}, ()),
    "pin": ({"text_sha256", "content_key"}, ()),
    "restore": ({"content_key"}, ()),
    "edit": ({"text_sha256", "content_key", "new_text"}, ("--set", "do=Drain it, then restart.", "--set", "tags=ops")),
}


@pytest.mark.parametrize("verb", SINGLE)
def test_each_verb_on_an_item_writes_one_file_that_is_read_again(
    call: Call, ledger: Path, ids: Callable[[str], str], verb: str
) -> None:
    fields, more = SINGLE[verb]
    code, out, err = call(verb, ids("waits")[:16], *more, "--reason", "I looked: no, yes.")
    assert code == 0, err
    decision = written(ledger)
    assert decision.keys() == {"decision", "learning", "reason"} | fields
    assert (decision["decision"], decision["learning"]) == (verb, ids("waits"))
    assert decision["reason"] == "I looked: no, yes."
    (path,) = (ledger / "decisions").glob("*.yaml")
    assert f"written: {path}" in out
    status = subprocess.run(["git", "status", "--porcelain"], cwd=ledger, capture_output=True, text=True, check=True)
    assert status.stdout == "?? decisions/\n"


def test_the_verbs_on_two_name_both(call: Call, ledger: Path, ids: Callable[[str], str]) -> None:
    for verb in ("merge", "supersede"):
        code, _, err = call(verb, ids("paths"), ids("review"), "--reason", "One thing.")
        assert code == 0, err
        (path,) = (ledger / "decisions").glob(f"*-{verb}-*.yaml")
        decision = parse(path.read_text(encoding="utf-8"))
        assert (decision["learning"], decision["other"]) == (ids("paths"), ids("review"))


def test_a_merge_across_audiences_and_a_split_that_leaves_nothing_are_refused_at_once(
    call: Call, ledger: Path, ids: Callable[[str], str]
) -> None:
    code, _, err = call("merge", ids("pnpm"), ids("paths"), "--reason", "x")
    assert (code, "two audiences" in err) == (2, True)
    code, _, err = call("merge", ids("pnpm"), ids("pnpm"), "--reason", "x")
    assert (code, "one item already" in err) == (2, True)
    code, _, err = call("split", ids("pnpm"), ids("pnpm"), "--reason", "x")
    assert (code, "no claim would stay" in err) == (2, True)
    code, _, err = call("split", ids("pnpm"), ids("paths"), "--reason", "x")
    assert (code, "no claim of" in err) == (2, True)
    assert not (ledger / "decisions").exists()


def test_a_thread_is_dismissed_and_brought_back_by_its_id(call: Call, ledger: Path) -> None:
    thread = "thr_" + "a" * 32
    assert call("dismiss", thread, "--content-key", "b" * 64, "--reason", "Done long ago.")[0] == 0
    assert written(ledger) | {"reason": ""} == {
        "decision": "dismiss", "target": thread, "content_key": "b" * 64, "reason": "",
    }  # fmt: skip
    assert call("restore", thread, "--reason", "Not done.")[0] == 0
    assert call("dismiss", "anything", "--reason", "x")[0] == 2


def test_an_unknown_id_names_what_is_near_it(call: Call, ids: Callable[[str], str]) -> None:
    wrong = ids("waits")[:14] + "ff"
    code, _, err = call("approve", wrong, "--reason", "x")
    assert code == 2
    assert f"near it: {ids('waits')[:16]}" in err
    code, _, err = call("show", "worker")
    assert (code, ids("waits")[:16] in err) == (2, True)
    assert call("show", "lrn_1")[0] == 2


def test_what_was_forgotten_cannot_be_named(call: Call, ids: Callable[[str], str]) -> None:
    code, out, err = call("show", ids("gone"))
    assert (code, "forgetmark" in out + err) == (2, False)


def test_a_folder_closed_to_this_person_tells_nothing(
    call: Call, published: Any, settings: Any, ids: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from lorelake import served
    from lorelake.cli import review_items

    closed = served.audience_id(settings.team.id, "channel:C0PRIVATE")
    assert call("show", ids("secret_plan"))[0] == 0
    real = open

    def guarded(path: Any, *arguments: Any, **named: Any) -> Any:
        if closed in str(path):
            raise PermissionError(13, "Permission denied")
        return real(path, *arguments, **named)

    monkeypatch.setattr(review_items, "open", guarded, raising=False)
    code, out, err = call("show", ids("secret_plan"))
    assert (code, "ochremark" in out + err) == (2, False)
    assert "folders of 1 audiences are closed to you" in call()[2]


def test_a_decision_needs_a_reason_and_a_dry_run_writes_nothing(
    call: Call, ledger: Path, ids: Callable[[str], str]
) -> None:
    code, _, err = call("retire", ids("waits"))
    assert (code, "needs a reason" in err) == (2, True)
    code, out, _ = call("retire", ids("waits"), "--reason", "Old.", "--dry-run")
    assert (code, parse(out)["decision"]) == (0, "retire")
    assert not (ledger / "decisions").exists()


def test_the_same_decision_is_not_written_twice(call: Call, ids: Callable[[str], str]) -> None:
    assert call("retire", ids("waits"), "--reason", "Old.")[0] == 0
    code, _, err = call("retire", ids("waits"), "--reason", "Old.")
    assert (code, "lies there already" in err) == (1, True)


def test_commit_takes_that_file_and_no_other(call: Call, ledger: Path, ids: Callable[[str], str]) -> None:
    (ledger / "staged.txt").write_text("x")
    subprocess.run(["git", "add", "staged.txt"], cwd=ledger, check=True)
    assert call("retire", ids("waits"), "--reason", "Old.", "--commit")[0] == 0
    told = subprocess.run(
        ["git", "show", "--format=%ae %s", "--name-only", "HEAD"],
        cwd=ledger,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\n")
    assert told[0] == f"ann@team.example Retire {ids('waits')}"
    assert [line for line in told[1:] if line] == [
        next((ledger / "decisions").glob("*")).relative_to(ledger).as_posix()
    ]
    staged = subprocess.run(["git", "diff", "--cached", "--name-only"], cwd=ledger, capture_output=True, check=True)
    assert staged.stdout == b"staged.txt\n"


def test_edit_opens_the_editor_and_keeps_only_what_changed(
    call: Call, ledger: Path, ids: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def edited(text: str, extension: str) -> str:
        assert extension == ".yaml"
        assert "do: Restart the worker." in text
        return text.replace("do: Restart the worker.", "do: Drain it, then restart.")

    monkeypatch.setattr(click, "edit", edited)
    assert call("edit", ids("waits"), "--reason", "x")[0] == 0
    assert written(ledger)["new_text"] == {"do": "Drain it, then restart."}
    monkeypatch.setattr(click, "edit", lambda text, extension: text + "nobody: knows\n")
    assert call("edit", ids("waits"), "--reason", "x")[0] == 2
    monkeypatch.setattr(click, "edit", lambda text, extension: None)
    assert call("edit", ids("waits"), "--reason", "x")[0] == 1
    assert call("edit", ids("waits"), "--set", "colour=red", "--reason", "x")[0] == 2


def test_a_batch_takes_low_risk_only_up_to_a_ceiling(
    make_night: Any, publish_night: Any, lake: Any, settings: Any, ledger: Path, ids: Callable[[str], str],
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    night = make_night()
    kinds: dict[str, tuple[tuple[str, ...], list[str]]] = {
        "easy": (("candidate",), []),
        "machine": (("candidate",), ["data_loss"]),
        "risk": (("risky",), ["deploy"]),
        "near": (("near_tombstone",), []),
        "doubt": (("candidate", "disputed"), []),
        "agents": (("candidate", "agent_refuted"), []),
    }
    for name, (whys, risks) in kinds.items():
        night.add(name, "team", f"Say {name}", f"Do {name}.", f"we say {name}", state="candidate", risks=risks)
        for why in whys:
            night.put("review_queue", learning_id=ids(name), why=why, audience="team", risks=risks, title=name)
    publish_night(lake, settings, night)

    def call(*arguments: str) -> tuple[int, str, str]:
        where = ["--home", str(lake.root), "--into", str(ledger)]
        return run(["review", *where, "approve", "--reason", "Read.", *arguments]), *capsys.readouterr()

    assert call("--low-risk")[0] == 2  # nobody is there to say yes
    assert call("--low-risk", "--max", "21")[0] == 2
    assert call("--low-risk", ids("easy"))[0] == 2
    code, out, err = call("--low-risk", "--yes")
    assert code == 0, err
    assert "Say easy" in out
    assert {item["learning"] for item in written(ledger)["items"]} == {ids("easy"), ids("waits")}
    assert {len(item["text_sha256"]) for item in written(ledger)["items"]} == {64}


def test_status_tells_what_each_file_waits_for_and_what_is_broken(
    call: Call, ledger: Path, ids: Callable[[str], str]
) -> None:
    assert call("retire", ids("waits"), "--reason", "Old.")[0] == 0
    (ledger / "decisions" / "broken.yaml").write_text("decision: bury\n", encoding="utf-8")
    code, out, _ = call("--status", "--json")
    assert code == 0
    found = {one["file"]: one for one in map(json.loads, out.splitlines())}
    (name,) = (path.name for path in (ledger / "decisions").glob("*retire*"))
    assert (found[name]["state"], found[name]["detail"]) == ("pending", "it is not committed")
    assert found["broken.yaml"]["state"] == "unreadable"
    subprocess.run(["git", "checkout", "--quiet", "-b", "draft"], cwd=ledger, check=True)
    subprocess.run(["git", "add", "decisions"], cwd=ledger, check=True)
    subprocess.run(["git", "commit", "--quiet", "-m", "Retire"], cwd=ledger, check=True)
    assert "it is not on main yet" in call("--status")[1]
    subprocess.run(["git", "branch", "--force", "main", "draft"], cwd=ledger, check=True)
    assert "the next night takes it in" in call("--status")[1]
