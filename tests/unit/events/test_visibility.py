"""What was said in Slack and may be seen today: channels that turned private, messages that were deleted."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from lorelake.events import days as event_days
from lorelake.events import visibility
from lorelake.formats import slack
from lorelake.lake import Lake, frame, read_table, write_table
from lorelake.settings import Settings, Team
from lorelake.tables import EVENTS, RAW_RECORDS

ROOT, REPLY = "1772442000.000100", "1772442060.000300"


def row(unit: str, record: str, kind: str, value: dict[str, Any], ts: str | None, kept: int) -> dict[str, Any]:
    body = json.dumps(value, sort_keys=True)
    at = datetime.fromtimestamp(float(ts), UTC) if ts else None
    return {
        "source": "slack", "unit_id": f"slack:{unit}", "record_id": record, "body_sha256": body, "body": body,
        "record_type": kind, "ts": at, "ts_assumed": at is None, "unit_day": date(2026, 3, 2), "project_hint": None,
        "person_hint": None, "capture_sha256": "c", "source_uri": f"export/{unit}", "first_kept": date(2026, 3, kept),
    }  # fmt: skip


def listed(conversation: str, kind: str, kept: int, workspace: str = "T1") -> dict[str, Any]:
    value = {"conversation": {"id": conversation, "kind": kind}, "listed_in": str(kept)}
    return row(f"workspace:{workspace}", f"channel:{conversation}", "channel", value, None, kept)


def said(conversation: str, text: str, ts: str = ROOT, thread: str = ROOT, **more: Any) -> dict[str, Any]:
    message = {"type": "message", "user": "U1", "text": text, "ts": ts, "thread_ts": thread, **more}
    value = {"conversation": {"id": conversation, "kind": "public"}, "message": message}
    return row(f"{conversation}:{thread}", f"{conversation}:{ts}", "message", value, ts, 2)


def deleted(conversation: str, ts: str, thread: str | None = None, kept: int = 3) -> dict[str, Any]:
    message = {"type": "message", "subtype": "message_deleted", "ts": "1772450000.0", "deleted_ts": ts}
    value = {"conversation": {"id": conversation, "kind": "public"}, "message": message}
    return row(f"{conversation}:{thread or ts}", f"{conversation}:{ts}", "message_deleted", value, ts, kept)


def narrowed(*rows: dict[str, Any], include: tuple[str, ...] = ("public",)) -> dict[str, str | None]:
    return visibility.narrowed(frame(RAW_RECORDS, rows).lazy(), include)


def seen(folder: Path, *rows: dict[str, Any], include: tuple[str, ...] = ("public",)) -> list[tuple[str, str, str]]:
    """(kind, text, audience) of all events, by conversation and time."""
    lake = Lake(folder)
    write_table(RAW_RECORDS, frame(RAW_RECORDS, rows), lake.table(RAW_RECORDS, date(2026, 3, 2), "slack"))
    raw = event_days.scan_raw(lake)
    index = raw.select(event_days.INDEX).collect()
    hidden, gone = visibility.narrowed(raw, include), visibility.deleted_elsewhere(raw)
    inputs = event_days.Inputs(index, [], Settings(team=Team("t")), date(2026, 3, 20), hidden, gone)
    event_days.derive_days(lake, event_days.stale_days(lake, inputs), inputs, lambda _: slack)
    events = read_table(EVENTS, lake.days(EVENTS)).sort("ts", "unit_id")
    return list(events.select("kind", "text", "audience").iter_rows())


# --- channels ---------------------------------------------------------------------------------------------------


def test_a_channel_that_turned_private_is_withdrawn_in_any_order() -> None:
    """faults 19: the newest listing says who may read what a channel holds, whatever the order of rows."""
    turned = [listed("C1", "public", 2), listed("C1", "private", 3)]
    for order in permutations(turned):
        assert narrowed(*order) == {"slack:C1:": None}
        assert narrowed(*order, include=("public", "private")) == {"slack:C1:": "channel:C1"}
    assert narrowed(turned[0]) == {}


def test_a_channel_that_was_opened_is_public_and_one_that_closed_again_is_not() -> None:
    opened = [listed("C1", "private", 2), listed("C1", "public", 3)]
    again = [*opened, listed("C1", "private", 4)]
    for order in permutations(opened):
        assert narrowed(*order) == {}
    for order in permutations(again):
        assert narrowed(*order) == {"slack:C1:": None}


def test_of_two_listings_of_one_day_the_more_private_holds() -> None:
    for order in permutations([listed("C1", "public", 2), listed("C1", "private", 2), listed("C1", "dm", 2)]):
        assert narrowed(*order, include=("private", "dm")) == {"slack:C1:": "dm:C1"}


def test_a_channel_shared_by_two_workspaces_is_private_if_one_says_so() -> None:
    listings = [listed("C1", "public", 3, "T1"), listed("C1", "private", 2, "T2"), listed("C2", "public", 2, "T2")]
    for order in permutations(listings):
        assert narrowed(*order) == {"slack:C1:": None}


@pytest.mark.parametrize(("kind", "audience"), [("private", "channel:C1"), ("dm", "dm:C1")])
def test_what_was_said_in_it_goes_to_its_members_or_to_nobody(tmp_path: Path, kind: str, audience: str) -> None:
    """faults 19: and the channel whose id begins alike keeps its words."""
    rows = [said("C1", "the plan"), said("C11", "hello"), listed("C1", "public", 2), listed("C1", kind, 3)]
    assert seen(tmp_path / "default", *rows) == [("message", "hello", "team")]
    assert seen(tmp_path / "asked", *rows, include=("public", kind)) == [
        ("message", "hello", "team"), ("message", "the plan", audience),
    ]  # fmt: skip


def test_what_no_list_tells_of_keeps_its_audience(tmp_path: Path) -> None:
    """An export of one channel says nothing about the others: absence withdraws nothing."""
    rows = [said("C1", "the plan"), listed("C1", "public", 2), listed("C2", "public", 3)]
    assert seen(tmp_path, *rows) == [("message", "the plan", "team")]


# --- deletions --------------------------------------------------------------------------------------------------


def test_a_deletion_that_names_no_thread_reaches_the_reply_in_its_thread(tmp_path: Path) -> None:
    """faults 16: a message deleted through the API is gone, whichever unit its deletion lies in."""
    rows = [said("C1", "Root?"), said("C1", "The password is old.", REPLY), said("C1", "Thanks.", "1772442090.0")]
    assert [text for _, text, _ in seen(tmp_path / "before", *rows)] == ["Root?", "The password is old.", "Thanks."]
    for number, order in enumerate(permutations([*rows, deleted("C1", REPLY)])):
        assert seen(tmp_path / str(number), *order) == [
            ("message", "Root?", "team"), ("message_deleted", "", "team"), ("message", "Thanks.", "team"),
        ]  # fmt: skip


def test_a_deletion_in_the_thread_goes_before_one_beside_it() -> None:
    rows = [deleted("C1", REPLY, ROOT), deleted("C1", REPLY), said("C1", "Root?"), deleted("C2", ROOT)]
    for order in permutations(rows):
        assert visibility.deleted_elsewhere(frame(RAW_RECORDS, order).lazy()) == {
            ("slack", f"C1:{REPLY}"): f"slack:C1:{ROOT}", ("slack", f"C2:{ROOT}"): f"slack:C2:{ROOT}",
        }  # fmt: skip
