"""What a model said, kept in a lake over several nights. The model is a local program that counts its questions."""

import json
import stat
import sys
from datetime import date, timedelta

import msgspec
import polars as pl
import pytest

from lorelake.content.redaction import Redactor
from lorelake.evidence import days, model_answers
from lorelake.lake import Lake, frame, read_table, write_table
from lorelake.settings import Extract
from lorelake.tables import EVENTS, MODEL_ANSWERS, SESSIONS, SIGNALS

AS_OF = date(2026, 3, 5)
RULE = "we keep feature flags in the database, never in environment variables"
ITEM = {"statement": 1, "quote": RULE, "title": "Flags live in the database", "do": "Keep flags in the database."}
PROGRAM = """#!{python}
import json, sys
told = json.load(sys.stdin)
open({log!r}, "a").write(json.dumps(told["question"]) + "\\n")
sys.stdout.write(open({answer!r}).read())
"""


class Place:
    """A lake with the events of some units, and a program to ask."""

    def __init__(self, folder):
        self.lake = Lake(folder / "lake")
        self.log, self.answer = folder / "log", folder / "answer"
        self.program = folder / "oracle"
        self.program.write_text(PROGRAM.format(python=sys.executable, log=str(self.log), answer=str(self.answer)))
        self.program.chmod(self.program.stat().st_mode | stat.S_IXUSR)
        self.log.touch()
        self.says({"items": [ITEM]})
        self.units = []

    def says(self, answer):
        self.answer.write_text(answer if isinstance(answer, str) else json.dumps(answer))

    def put(self, *units):
        """Write the units as the events stage would."""
        self.units = units
        rows = [msgspec.structs.asdict(event) for unit in units for event in unit.events]
        for row in rows:
            row["attributes"] = json.dumps(row["attributes"])
        for day in sorted({row["day"] for row in rows}):
            of_day = [row for row in rows if row["day"] == day]
            write_table(EVENTS, frame(EVENTS, of_day), self.lake.table(EVENTS, day))

    @property
    def sessions(self):
        rows = []
        for unit in self.units:
            first, last = unit.events[0], unit.events[-1]
            rows.append({
                "unit_id": first.unit_id, "unit_kind": first.unit_kind, "source": first.source,
                "family_id": first.unit_id, "project": first.project, "project_assumed": False,
                "audience": first.audience, "person": "ana", "branch": None, "began": first.ts, "ended": last.ts,
                "day": first.day, "events": len(unit.events), "errors": 0,
            })  # fmt: skip
        return frame(SESSIONS, rows)

    def ask(self, as_of=AS_OF, **more):
        told = Extract(**({"command": (str(self.program),), "timeout_seconds": 20, "concurrency": 2} | more))
        before = len(self.asked)
        asked = model_answers.ask(self.lake, self.sessions, told, Redactor(b"k" * 32), as_of)
        return asked, len(self.asked) - before

    @property
    def asked(self):
        return self.log.read_text().splitlines()

    def kept(self):
        return read_table(MODEL_ANSWERS, self.lake.days(MODEL_ANSWERS)).to_dicts()

    def proposed(self):
        days.derive_days(self.lake, self.sessions)
        found = read_table(SIGNALS, self.lake.days(SIGNALS))
        return found.filter(pl.col("kind") == "proposed").to_dicts()


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


@pytest.fixture
def talk(new_unit):
    def make(name="s-1", said=f"Hold on, {RULE}.", **defaults):
        unit = new_unit(f"claude_code:{name}", **defaults)
        unit.add("prompt", said)
        return unit

    return make


def test_a_question_is_asked_once_and_its_answer_becomes_a_proposal(place, talk):
    place.put(talk())
    asked, questions = place.ask()
    assert (asked.answered, questions) == (1, 1)
    (row,) = place.kept()
    assert (row["unit_id"], row["model"], row["missing"]) == ("claude_code:s-1", "oracle", 0)
    (signal,) = place.proposed()
    assert signal["quote"] == RULE
    assert json.loads(signal["payload"])["item"]["trust_basis"] == "proposed"
    assert signal["first_kept"] == AS_OF  # not the record's own day: nobody knew it before it was asked
    _, questions = place.ask(as_of=AS_OF + timedelta(days=1))
    assert questions == 0


def test_a_unit_that_says_more_is_asked_about_again_and_the_old_answer_no_longer_counts(place, talk):
    unit = talk()
    place.put(unit)
    place.ask()
    unit.add("prompt", "and from today on the flags have an owner")
    place.put(unit)
    assert place.proposed() == []
    assert place.ask()[1] == 1
    assert len(place.kept()) == 2
    assert len(place.proposed()) == 1


def test_turned_off_nothing_is_asked_and_what_was_answered_counts(place, talk):
    place.put(talk())
    place.ask()
    assert place.ask(command=()) == (model_answers.Asked(), 0)
    assert len(place.proposed()) == 1


def test_a_second_day_of_signals_is_redone_only_where_an_answer_came(place, talk):
    other = talk("s-2", said="let me see what this does")
    other.events[:] = [
        msgspec.structs.replace(e, day=date(2026, 3, 1), ts=e.ts - timedelta(days=1)) for e in other.events
    ]
    place.put(talk(), other)
    days.derive_days(place.lake, place.sessions)
    assert days.derive_days(place.lake, place.sessions) == {}
    place.says({"items": []})
    place.ask(calls=1)  # the newest day first
    assert list(days.derive_days(place.lake, place.sessions)) == ["2026-03-02"]


def test_what_is_private_or_still_going_on_is_not_shown_to_a_model(place, talk):
    secret = talk("s-1", audience="channel:C1")
    place.put(secret, talk("s-2"))
    assert place.ask(as_of=date(2026, 3, 2))[1] == 0  # said on that very day: it may go on
    place.ask()
    assert [row["unit_id"] for row in place.kept()] == ["claude_code:s-2"]
    place.ask(private=True)
    assert len(place.kept()) == 2


def test_broken_json_is_kept_and_not_asked_for_again(place, talk):
    place.says("I would rather not say.")
    place.put(talk())
    assert place.ask()[0].unusable == 1
    (row,) = place.kept()
    assert (row["is_json"], row["missing"]) == (False, 0)
    assert place.proposed() == []
    assert place.ask()[1] == 0


def test_made_up_quotes_are_counted_and_become_nothing(place, talk):
    place.says({"items": [ITEM | {"quote": "flags belong into a vault in the mountains"}, ITEM]})
    place.put(talk())
    assert (place.ask()[0].missing, place.ask()[0].unusable) == (1, 0)
    (row,) = place.kept()
    assert row["missing"] == 1
    assert len(place.proposed()) == 1


def test_an_answer_is_redacted_before_it_is_kept(place, talk):
    token = "ghp_" + "a1B2c3D4e5" * 4
    place.says({"items": [ITEM | {"because": f"the token {token} is in it"}]})
    place.put(talk())
    place.ask()
    assert token not in place.kept()[0]["answer"]
    assert "[redacted:" in place.kept()[0]["answer"]
    assert all(token.encode() not in path.read_bytes() for path in place.lake.root.rglob("*") if path.is_file())


def test_what_the_budget_leaves_is_asked_the_next_night(place, talk):
    place.put(*(talk(f"s-{n}", said=f"{RULE}, and this is number {n}") for n in range(5)))
    asked, questions = place.ask(calls=2)
    assert (questions, asked.left) == (2, 3)
    assert model_answers.last_asked(place.lake).left == 3
    assert place.ask()[1] == 3
    assert place.ask()[1] == 0


def test_a_killed_night_keeps_what_was_answered(place, talk, monkeypatch):
    place.put(*(talk(f"s-{n}", said=f"{RULE}, and this is number {n}") for n in range(4)))

    def stop_after_two(texts, *rest):
        for number, found in enumerate(ask_all(texts, *rest)):
            if number == 2:
                raise KeyboardInterrupt
            yield found

    ask_all = model_answers.ask_all
    monkeypatch.setattr(model_answers, "ask_all", stop_after_two)
    with pytest.raises(KeyboardInterrupt):
        place.ask(concurrency=1)
    assert len(place.kept()) == 2
    monkeypatch.setattr(model_answers, "ask_all", ask_all)
    place.ask()
    assert len(place.kept()) == 4


def test_another_model_is_asked_anew_and_the_one_asked_last_counts(place, talk):
    place.put(talk())
    place.ask(model="first")
    place.says({"items": []})
    place.ask(model="second", as_of=AS_OF + timedelta(days=1))
    assert {row["model"] for row in place.kept()} == {"first", "second"}
    assert place.proposed() == []


def test_settings_that_name_no_model_one_can_ask_end_the_asking_and_not_the_night(place, talk, monkeypatch):
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    place.put(talk())
    asked, questions = place.ask(command=(), endpoint="http://127.0.0.1:1/v1", model="m", key_variable="NO_SUCH_KEY")
    assert questions == 0
    assert (asked.sent, asked.answered) == (0, 0)
    assert asked.left > 0
    assert "the variable NO_SUCH_KEY is not set" in asked.stopped
    assert model_answers.last_asked(place.lake) == asked
    assert place.ask()[0].answered == asked.left, "nothing was taken for answered"
