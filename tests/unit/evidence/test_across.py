"""Rules over all units: what a late unit, a folded person or a vanished unit does to days that were written before."""

import json
from datetime import UTC, date, datetime, timedelta
from itertools import permutations

import msgspec
import polars as pl
import pytest

from lorelake.evidence import across, days
from lorelake.evidence.signals import EXTRACTORS
from lorelake.lake import Lake, frame, read_table, write_table
from lorelake.tables import EVENTS, SESSIONS, SIGNAL_KINDS, SIGNALS

ASK = "Please note every new setting in the operators' handbook."
DAYS = {"1": date(2026, 3, 2), "2": date(2026, 3, 4), "3": date(2026, 3, 6), "9": date(2026, 3, 8)}


class Nights:
    """A lake to which requests are written a day each, as the events stage would, and the nights over it."""

    def __init__(self, root):
        self.lake = Lake(root)
        self.units = {}

    def put(self, unit):
        self.units[unit.unit["unit_id"]] = unit
        rows = [msgspec.structs.asdict(event) | {"attributes": json.dumps(event.attributes)} for event in unit.events]
        write_table(EVENTS, frame(EVENTS, rows), self.lake.table(EVENTS, rows[0]["day"]))

    def take(self, unit):
        self.lake.table(EVENTS, unit.events[0].day).unlink()
        del self.units[unit.unit["unit_id"]]

    def night(self):
        """The days written again."""
        rows = [
            {
                "unit_id": unit_id, "unit_kind": "merge_request", "source": "github", "family_id": unit_id,
                "project": "shop", "project_assumed": False, "audience": unit.events[0].audience, "person": "ana",
                "branch": None, "began": unit.events[0].ts, "ended": unit.events[-1].ts, "day": unit.events[0].day,
                "events": len(unit.events), "errors": 0,
            }
            for unit_id, unit in self.units.items()
        ]  # fmt: skip
        return sorted(days.derive_days(self.lake, frame(SESSIONS, rows)))

    def repeated(self):
        found = read_table(SIGNALS, self.lake.days(SIGNALS))
        return found.filter(pl.col("kind") == "review_repeated").to_dicts()

    def bytes(self):
        return {path.parent.name: path.read_bytes() for path in self.lake.days(SIGNALS)}


@pytest.fixture
def nights(tmp_path):
    return lambda name="lake": Nights(tmp_path / name)


@pytest.fixture
def request_with(new_unit):
    """A merge request on which one reviewer makes one comment."""

    def make(number, reviewer, text=ASK, kept=date(2026, 3, 9), audience="project:shop"):
        unit = new_unit(f"github:acme/shop#{number}", "merge_request", audience=audience)
        at = {"day": DAYS[number], "ts": datetime.combine(DAYS[number], datetime.min.time(), UTC), "first_kept": kept}
        unit.add("merge_request_opened", "Read the rates", actor="ana", **at)
        at["ts"] += timedelta(hours=1)
        unit.add("review_comment", text, actor=reviewer, path=f"app/part{number}.py", line=3, **at)
        return unit

    return make


def test_every_kind_has_one_rule_over_one_unit_or_over_all():
    assert not set(EXTRACTORS) & set(across.ACROSS)
    assert set(across.ACROSS) <= set(SIGNAL_KINDS)


def test_the_third_request_redoes_the_day_of_the_first_comment_and_no_other(nights, request_with):
    lake = nights()
    lake.put(request_with("1", "ben"))
    lake.put(request_with("2", "cleo"))
    assert lake.night() == ["2026-03-02", "2026-03-04"]
    assert lake.repeated() == []
    lake.put(request_with("3", "ben"))
    assert lake.night() == ["2026-03-02", "2026-03-06"]
    (row,) = lake.repeated()
    assert (row["day"], row["quote"], row["actor"]) == (date(2026, 3, 2), ASK, "ben")
    assert lake.night() == []


def test_it_is_known_only_since_the_third_request_was_kept(nights, request_with):
    lake = nights()
    for number, kept in (("1", 2), ("2", 4), ("3", 11)):
        lake.put(request_with(number, "ben" if number == "1" else "cleo", kept=date(2026, 3, kept)))
    lake.night()
    assert lake.repeated()[0]["first_kept"] == date(2026, 3, 11)


def test_two_names_folded_into_one_person_take_it_back(nights, request_with):
    lake = nights()
    for number, reviewer in (("1", "ben"), ("2", "benjamin"), ("3", "ben")):
        lake.put(request_with(number, reviewer))
    lake.night()
    assert len(lake.repeated()) == 1
    lake.put(request_with("2", "ben"))
    assert lake.night() == ["2026-03-02", "2026-03-04"]
    assert lake.repeated() == []


def test_what_a_vanished_request_supported_goes_with_it(nights, request_with):
    lake = nights()
    third = request_with("3", "cleo")
    for unit in (request_with("1", "ben"), request_with("2", "ben"), third):
        lake.put(unit)
    lake.night()
    assert len(lake.repeated()) == 1
    lake.take(third)
    assert lake.night() == ["2026-03-02"]
    assert lake.repeated() == []
    assert not lake.lake.table(SIGNALS, date(2026, 3, 6)).exists()


def test_nights_in_any_order_end_in_the_same_bytes(nights, request_with):
    reviewers = {"1": "ben", "2": "cleo", "3": "ben"}
    ends = []
    for order in permutations(reviewers):
        lake = nights("".join(order))
        for number in order:
            lake.put(request_with(number, reviewers[number]))
            lake.night()
        ends.append(lake.bytes())
    assert all(end == ends[0] for end in ends)
    at_once = nights("at-once")
    for number, reviewer in reviewers.items():
        at_once.put(request_with(number, reviewer))
    at_once.night()
    assert at_once.bytes() == ends[0]


def test_a_comment_of_another_audience_counts_for_nothing(nights, request_with):
    lake = nights()
    lake.put(request_with("1", "ben"))
    lake.put(request_with("2", "cleo"))
    lake.put(request_with("3", "dora", audience="project:hidden"))
    lake.night()
    assert lake.repeated() == []
    lake.put(request_with("9", "dora"))
    lake.night()
    (row,) = lake.repeated()
    assert json.loads(row["payload"])["seen"] == {"comments": 3, "merge_requests": 3, "reviewers": 3}


def test_a_digest_knows_no_order_and_every_word(request_with):
    units = {n: request_with(n, who) for n, who in (("1", "ben"), ("2", "cleo"), ("3", "ben"))}
    found = across.ACROSS["review_repeated"].extract({n: unit.events for n, unit in units.items()})
    (signal,) = found["github:acme/shop#1"]
    other = msgspec.structs.replace(signal, seen={"comments": 4})
    assert across.digest_of([signal, other]) == across.digest_of([other, signal])
    assert across.digest_of([signal]) != across.digest_of([other])
