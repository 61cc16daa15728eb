"""Consent that is withdrawn: nothing more is sent, and what was sent is erased."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from lorelake.errors import LakeBusyError, LorelakeError
from lorelake.landing import collect_run, collect_state, consent, delivery

NOW = datetime(2026, 3, 20, 12, tzinfo=UTC)
APP, QUAY = "github.com/tidewater/harbour-api", "github.com/tidewater/quay"


@pytest.fixture
def sent(machine: Any) -> Any:
    """A machine that delivered two sessions of one project and one of another."""
    api, quay = machine.checkout("api", f"git@{APP}.git"), machine.checkout("quay", f"git@{QUAY}.git")
    machine.claude("s1", api, "walrusmarmalade one")
    machine.claude("s2", api, "walrusmarmalade two")
    machine.claude("s3", quay, "three")
    machine.enable(APP, QUAY)
    machine.collect()
    return machine


def withdraw(machine: Any, project: str = APP) -> int:
    return collect_run.withdraw(machine.folders, machine.personal(), project, NOW)


def test_what_was_sent_is_erased_with_its_notes_and_the_rest_stays(sent: Any) -> None:
    assert withdraw(sent) == 2
    assert {note["project"] for note in sent.notes().values()} == {QUAY}
    left = sent.files(sent.landing)
    assert not any(b"walrusmarmalade" in data for data in left.values())
    assert len(left) == 3, "one file, its note, and the record of the withdrawal"
    assert not [path for path in sent.landing.rglob("*") if path.is_dir() and not any(path.iterdir())]


def test_the_record_names_who_and_when_and_ids_that_tell_nothing(sent: Any) -> None:
    names = {name.split("/")[3] for name in sent.delivered() if "/claude_code/" in name}
    withdraw(sent)
    record = json.loads((sent.landing / "transcripts/0a1b2c3d/withdrawn.json").read_bytes())
    assert record["lorelake"] == "withdrawn"
    (withdrawal,) = record["withdrawals"]
    assert withdrawal["actor"] == "ann@tidewater.example"
    assert withdrawal["time"] == "2026-03-20T12:00:00+00:00"
    assert withdrawal["project"] == APP
    assert len(withdrawal["ids"]) == 2
    assert {id_.removeprefix("claude_code/") for id_ in withdrawal["ids"]} < names
    assert "s1" not in json.dumps(record)


def test_nothing_more_is_sent_until_it_is_enabled_anew(sent: Any, count: Any) -> None:
    withdraw(sent)
    sent.claude("s1", str(sent.home / "src" / "api"), "one", "more")
    assert count(sent.collect().report) == {"unchanged": 1, "not_enabled": 2}
    sent.enable(APP)
    assert count(sent.collect().report) == {"delivered": 2, "unchanged": 1}
    assert withdraw(sent) == 2
    record = json.loads((sent.landing / "transcripts/0a1b2c3d/withdrawn.json").read_bytes())
    assert len(record["withdrawals"]) == 2


def test_it_needs_no_state_of_the_machine(sent: Any) -> None:
    (sent.folders.state / "state.json").unlink()
    assert withdraw(sent) == 2


def test_what_was_delivered_to_a_former_place_is_erased_there(sent: Any) -> None:
    new = sent.root / "new"
    changed = consent.Personal(
        str(new), "ann", "0a1b2c3d", sent.personal().key_file, former=(str(sent.landing),),
        projects=sent.personal().projects,
    )  # fmt: skip
    consent.save(sent.folders.config, changed)
    sent.collect()
    assert len([name for name in sent.files(new) if name.endswith(".jsonl")]) == 3
    assert withdraw(sent) == 4
    assert not any(b"walrusmarmalade" in data for place in (new, sent.landing) for data in sent.files(place).values())


def test_a_withdrawal_that_was_stopped_is_finished_by_the_next_run(sent: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    real = delivery.Folder.delete
    calls: list[str] = []

    def delete(place: delivery.Folder, name: str) -> bool:
        calls.append(name)
        if len(calls) == 2:
            raise LorelakeError("the bucket answers: no")
        return real(place, name)

    monkeypatch.setattr(delivery.Folder, "delete", delete)
    with pytest.raises(LorelakeError):
        withdraw(sent)
    monkeypatch.setattr(delivery.Folder, "delete", real)
    assert sent.personal().withdrawing == (APP,)
    assert APP not in sent.personal().enabled()
    outcome = sent.collect()
    assert outcome.erased == 2
    assert sent.personal().withdrawing == ()
    assert not any(b"walrusmarmalade" in data for data in sent.files(sent.landing).values())


def test_a_former_place_that_is_gone_for_good_stops_no_run_and_is_told(
    sent: Any, count: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(where: str) -> delivery.Place:
        if where == "s3://former":
            raise LorelakeError("the bucket answers: no such bucket", where=where)
        return delivery.Folder(Path(where))

    monkeypatch.setattr(collect_run, "open_place", gone)
    personal = sent.personal()
    consent.save(
        sent.folders.config,
        consent.Personal(
            personal.deliver_to, "ann", "0a1b2c3d", personal.key_file, former=("s3://former",),
            projects=personal.projects,
        ),
    )  # fmt: skip
    with pytest.raises(LorelakeError):
        withdraw(sent)
    assert not any(b"walrusmarmalade" in data for data in sent.files(sent.landing).values())
    sent.claude("s4", str(sent.home / "src" / "quay"), "new")
    outcome = sent.collect()
    assert count(outcome.report) == {"delivered": 1, "unchanged": 1, "not_enabled": 2}
    assert outcome.warnings[0].startswith(f"what was sent of {APP} is not erased yet: s3://former")


def test_what_is_not_erased_yet_cannot_be_enabled(sent: Any) -> None:
    consent.save(
        sent.folders.config,
        consent.Personal(str(sent.landing), "ann", "0a1b2c3d", sent.personal().key_file, withdrawing=(APP,)),
    )
    with pytest.raises(LorelakeError, match="not erased yet"):
        sent.enable(APP)


def test_it_does_not_start_beside_a_run(sent: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collect_run, "WAIT", 0.0)
    with collect_state.locked(sent.folders.state), pytest.raises(LakeBusyError):
        withdraw(sent)
    assert APP not in sent.personal().enabled(), "the run that is at work sees this before its next file"
    assert sent.collect().erased == 2


def test_a_damaged_record_of_earlier_withdrawals_is_not_overwritten(sent: Any) -> None:
    record = Path(sent.landing / "transcripts/0a1b2c3d/withdrawn.json")
    record.write_bytes(b'{"lorelake": "withdrawn", "withdr')
    with pytest.raises(LorelakeError, match="damaged"):
        withdraw(sent)
    assert record.read_bytes() == b'{"lorelake": "withdrawn", "withdr'


def test_what_a_killed_run_left_half_written_goes_too_and_nothing_else(sent: Any) -> None:
    mine = sent.landing / "transcripts" / "0a1b2c3d" / "claude_code" / "0011223344556677"
    theirs = sent.landing / "transcripts" / "ffffffff"
    half = ".transcript.jsonl.4711.tmp"
    for folder in (mine, theirs):
        folder.mkdir(parents=True)
        (folder / half).write_bytes(b'{"message": "walrusmarm')
    (sent.landing / half).write_bytes(b"somebody else's")
    assert withdraw(sent, "github.com/tidewater/third") == 0, "nothing of it was ever whole"
    assert not mine.exists()
    assert (theirs / half).exists()
    assert (sent.landing / half).exists()


def test_what_a_killed_run_left_half_written_is_cleared_away_with_the_file_it_was_to_be(sent: Any) -> None:
    before = len(sent.delivered())
    name = next(name for name in sent.delivered() if b'"three"' in sent.delivered()[name])
    half = (sent.landing / name).with_name(".s3.jsonl.4711.tmp")
    half.write_bytes(b'{"half')
    sent.claude("s3", str(sent.home / "src" / "quay"), "three", "four")
    sent.collect()
    assert not half.exists()
    assert len(sent.delivered()) == before


def test_a_file_of_two_projects_goes_with_either_and_is_sent_again_when_that_is_enabled_again(
    sent: Any, count: Any
) -> None:
    """A session that also worked in another checkout holds that project's text."""
    path = sent.claude("s5", str(sent.home / "src" / "quay"), "both")
    path.write_text(path.read_text() + sent.line("s5", 7, str(sent.home / "src" / "api"), "of them"))
    assert count(sent.collect().report) == {"delivered": 1, "unchanged": 3}
    assert withdraw(sent) == 3
    assert count(sent.collect().report) == {"held": 1, "unchanged": 1, "not_enabled": 2}
    sent.enable(APP)
    assert count(sent.collect().report) == {"delivered": 3, "unchanged": 1}


def test_who_thinks_long_about_enabling_does_not_undo_what_was_withdrawn_meanwhile(sent: Any) -> None:
    before, third = sent.personal(), "github.com/tidewater/third"
    collect_run.dry_run(sent.folders, before, third, [])
    withdraw(sent)
    with pytest.raises(LorelakeError, match="changed meanwhile"):
        collect_run.enable(sent.folders, before, third, [], NOW)
    assert sent.personal().enabled() == {QUAY}
    collect_run.disable(sent.folders, before, QUAY)
    assert sent.personal().enabled() == frozenset()
    withdraw(sent, QUAY)
    collect_run.withdraw(sent.folders, before, QUAY, NOW)
    assert sent.personal().enabled() == frozenset()
