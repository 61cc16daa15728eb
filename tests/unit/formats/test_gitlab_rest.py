from __future__ import annotations

import io
import json
import random
from collections import Counter
from typing import Any

import pytest
from gitlab_samples import export, note, on_line, read, request, told, units
from hypothesis import given, settings
from hypothesis import strategies as st

from lorelake.formats import gitlab, registry
from lorelake.formats.record import Capture, Event, Member, Record, Refusal

PAGE = "https://gitlab.example.com/harbour/web/-/merge_requests/4"
ANA = {"id": 1, "username": "ana-r", "name": "Person 1", "state": "active"}
BO = {"id": 2, "username": "bo", "name": "Person 2", "state": "active"}
CAI = {"id": 3, "username": "cai", "name": "Person 3", "state": "active"}
PEOPLE = {1: ANA, 2: BO, 3: CAI, None: {"id": 99, "username": "ghost", "name": "Ghost User"}}


def file(content: Any, name: str = "capture.json", **settings: Any) -> Capture:
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    return Capture(name, (Member(name, len(data), lambda: io.BytesIO(data)),), "0" * 64, **settings)


def merge_request(**more: Any) -> dict[str, Any]:
    """A request as `GET /projects/77/merge_requests/4` tells it."""
    return {
        "id": 9001, "iid": 4, "project_id": 77, "target_project_id": 77, "title": "Cache rates",
        "description": "For an hour.", "state": "opened", "author": ANA, "created_at": "2026-03-02T08:00:00.000Z",
        "updated_at": "2026-03-02T08:00:00.000Z", "merged_at": None, "merge_user": None, "merged_by": None,
        "closed_at": None, "closed_by": None, "source_branch": "cache", "target_branch": "main", "sha": "c" * 40,
        "draft": False, "web_url": PAGE, "references": {"full": "harbour/web!4"}, "diff_refs": {"head_sha": "c" * 40},
        "merge_commit_sha": None, **more,
    }  # fmt: skip


def rest(exported: dict[str, Any], number: int, **more: Any) -> dict[str, Any]:
    """The REST form of a note that an export holds."""
    settled = exported.get("resolved_at")
    resolvable = exported["type"] is not None
    return {
        "id": number, "type": exported["type"], "body": exported["note"], "author": PEOPLE[exported["author_id"]],
        "created_at": exported["created_at"], "updated_at": exported["updated_at"], "system": exported["system"],
        "noteable_id": 9001, "noteable_type": "MergeRequest", "noteable_iid": 4, "project_id": 77,
        "resolvable": resolvable, "confidential": False, "internal": False,
        **({"position": exported["position"]} if exported.get("position") else {}),
        **({"resolved": settled is not None, "resolved_at": settled,
            "resolved_by": PEOPLE[exported["resolved_by_id"]] if settled else None} if resolvable else {}),
        **more,
    }  # fmt: skip


def discussion(name: str, *notes: dict[str, Any]) -> dict[str, Any]:
    return {"id": name, "individual_note": len(notes) == 1 and notes[0]["type"] is None, "notes": list(notes)}


def bundle(*discussions: dict[str, Any], **more: Any) -> dict[str, Any]:
    """What `lorelake pull` lands of one request."""
    return {
        "type": "merge_request", "merge_request": merge_request(), "discussions": list(discussions), "commits": [],
        "diffs": [], "resource_state_events": [], **more,
    }  # fmt: skip


def spoken(events: list[Event]) -> list[Event]:
    return [event for event in events if event.kind in ("comment", "review_comment")]


# --- one request from two forms ---------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["export first", "REST first", "the same night"])
def test_an_export_and_rest_are_one_request_with_each_note_once(order: str) -> None:
    """The export states no note ids; the discussions state no author numbers in its way. Each thing is told once."""
    settled = {"resolved_at": "2026-03-02T10:00:00.000Z", "resolved_by_id": 1}
    notes = [
        on_line("Use Decimal.", 19, 1, **settled), note("Done.", 2, 1, discussion_id="d1", type="DiffNote"),
        note("Nice work", 3), note("gone", 4, None), note("approved this merge request", 5, 3, system=True,
                                                          system_note_metadata={"action": "approved"}),
    ]  # fmt: skip
    commit = {"sha": "c" * 40, "message": "Cache rates", "committed_date": "2026-03-02T07:00:00.000Z",
              "commit_author": {"name": "Ana", "email": "ana@example.com"}}  # fmt: skip
    left = export([request(
        *notes, approvals=[{"user_id": 3, "created_at": "2026-03-02T09:05:00.000Z"}],
        merge_request_diff={"head_commit_sha": "c" * 40, "merge_request_diff_commits": [commit]},
    )])  # fmt: skip
    again = [rest(one, 500 + number) for number, one in enumerate(notes)]
    right = file(bundle(
        discussion("d1", again[0], again[1]), *(discussion(f"d{number}", again[number - 1]) for number in (3, 4, 5)),
        commits=[{"id": "c" * 40, "short_id": "c" * 8, "message": "Cache rates", "author_name": "Ana", "author_email":
                  "ana@example.com", "committed_date": "2026-03-02T07:00:00.000+00:00"}],
        approvals={"approved_by": [{"user": CAI}]},
    ))  # fmt: skip
    nights = {"export first": [left, right], "REST first": [right, left]}.get(order)
    records = [one for night in (left, right) for one in read(night)[0] if one.type != "project"]
    assert {one.unit for one in records} == {"77!4"}
    if nights is None:
        merged = units([("2026-03-02", records)])["77!4"]
        events = sorted(gitlab.events(merged), key=lambda event: (event.ts, event.record_id, event.part))
    else:
        events = told(*nights)
        first = {event.record_id for event in told(nights[0])}
        assert {event.record_id for event in events} == first, "what was known keeps its name"
    assert Counter(event.kind for event in events) == {
        "merge_request_opened": 1, "review_comment": 2, "comment": 2, "review": 1, "commit": 1, "system_note": 2,
    }  # fmt: skip
    assert [event.actor_alias for event in spoken(events)] == ["bo", "ana-r", "bo", "ghost"], "login before number"
    remark, reply = spoken(events)[:2]
    assert (remark.attributes["resolved_by"], reply.reply_to) == ("ana-r", remark.record_id)
    (review,) = [event for event in events if event.kind == "review"]
    assert (review.actor_alias, review.ts.minute, review.attributes.get("ts_assumed")) == ("cai", 5, None)


def test_two_remarks_of_one_author_and_instant_stay_two() -> None:
    """A review that was imported from another host gives all its remarks one time; words tell them apart."""
    first, second = on_line("Use Decimal.", 19, 1), on_line("Name it.", 25, 1)
    second["discussion_id"] = "d1b"
    listed = [rest(second, 501), rest(first, 500)]
    events = spoken(told(export([request(first, second)]), file(listed)))
    assert sorted((event.text, event.line) for event in events) == [("Name it.", 25), ("Use Decimal.", 19)]


def test_a_plain_list_of_notes_meets_the_export_without_discussions() -> None:
    edited = rest(note("Twice.", 1), 500, body="Thrice.", updated_at="2026-03-03T09:00:00.000Z")
    events = spoken(told(export([request(note("Twice.", 1), note("Other.", 2))]), file([edited])))
    assert [(event.text, event.attributes["thread"]) for event in events] == [("Thrice.", "d1"), ("Other.", "d2")]


def test_a_comment_that_got_a_reply_stays_the_same_comment() -> None:
    """GitLab turns the type of a plain comment into DiscussionNote with the first reply."""
    before, after = note("Why an hour?", 1), note("Why an hour?", 1, type="DiscussionNote")
    reply = note("Rates change hourly.", 2, 1, type="DiscussionNote", discussion_id="d1")
    events = spoken(told(export([request(before)]), export([request(after, reply)])))
    assert [event.text for event in events] == ["Why an hour?", "Rates change hourly."]


# --- state with who and when ------------------------------------------------------------------------------------


def test_settled_outdated_open_then_pushed_and_opened_again() -> None:
    """faults 24: three threads keep their state, place and count over a forced push and a reopening."""
    settled = {"resolved_at": "2026-03-02T10:00:00.000Z", "resolved_by_id": 2}
    one, two, three = on_line("Use Decimal.", 19, 1, **settled), on_line("Name it.", 19, 2), on_line("Why?", 19, 3)
    for exported in (one, two, three):
        exported["type"] = "DiffNote"
    pushed = {"note": "changed this line in [version 2 of the diff](x)", "author_id": 1, "type": None, "system": True,
              "created_at": "2026-03-02T11:00:00.000Z", "updated_at": "2026-03-02T11:00:00.000Z"}  # fmt: skip
    night = file(bundle(
        discussion("d1", rest(one, 501)), discussion("d2", rest(two, 502), rest(pushed, 504)),
        discussion("d3", rest(three, 503)),
    ))  # fmt: skip
    events = told(night)
    remarks = [event for event in events if event.kind == "review_comment"]
    assert [(event.attributes["resolved"], event.attributes["outdated"]) for event in remarks] == [
        (True, False),
        (False, True),
        (False, False),
    ]
    (closing,) = [event for event in events if event.attributes.get("action") == "thread_resolved"]
    assert (closing.actor_alias, closing.ts.hour, closing.reply_to) == ("bo", 10, "note:501")

    moved = {**three["position"], "new_line": 31, "head_sha": "e" * 40}
    opened = rest(one, 501, resolved=False, resolved_at=None, resolved_by=None, updated_at="2026-03-04T09:00:00.000Z",
                  position={**one["position"], "head_sha": "e" * 40})  # fmt: skip
    del opened["resolved_at"], opened["resolved_by"]  # some hosts tell no more than that it is open
    later = file(bundle(
        discussion("d1", opened), discussion("d2", rest(two, 502), rest(pushed, 504)),
        discussion("d3", rest(three, 503, position=moved)),
    ))  # fmt: skip
    again = told(night, later)
    remarks = [event for event in again if event.kind == "review_comment"]
    assert [event.record_id for event in remarks] == ["note:501", "note:502", "note:503"], "no new remark"
    assert [(event.attributes["resolved"], event.attributes["outdated"]) for event in remarks] == [
        (False, False), (False, True), (False, False),
    ]  # fmt: skip
    assert not {"resolved_at", "resolved_by"} & remarks[0].attributes.keys()
    assert {(event.path, event.line, event.revision) for event in remarks} == {("src/rates.py", 19, "a" * 40)}
    assert (remarks[2].attributes["line_now"], remarks[2].attributes["revision_now"]) == (31, "e" * 40)
    changes = [event for event in again if str(event.attributes.get("action")).startswith("thread_")]
    assert [(event.attributes["action"], event.ts.day, event.actor_alias) for event in changes] == [
        ("thread_resolved", 2, "bo"), ("thread_reopened", 4, ""),
    ]  # fmt: skip
    assert [event.record_id for event in told(later, night)] == [event.record_id for event in again]


def test_closed_reopened_and_merged_are_told_with_who_and_when() -> None:
    merged = merge_request(
        state="merged", merged_at="2026-03-04T08:00:00.000Z", merge_user=CAI, merge_commit_sha="f" * 40
    )
    states = [
        {"id": number, "user": BO, "created_at": f"2026-03-0{2 + number}T08:00:00.000Z", "resource_type":
         "MergeRequest", "resource_id": 9001, "state": state}
        for number, state in enumerate(("closed", "reopened", "merged"))
    ]  # fmt: skip
    events = told(file(bundle(merge_request=merged, resource_state_events=states)))[1:]
    assert [(event.kind, event.actor_alias, event.ts.day) for event in events] == [
        ("merge_request_closed", "bo", 2), ("system_note", "bo", 3), ("merge_request_merged", "cai", 4),
    ]  # fmt: skip
    assert events[2].revision == "f" * 40


def test_an_approval_taken_back_is_none() -> None:
    given_ = {"approved_by": [{"user": CAI, "approved_at": "2026-03-02T09:00:00.000Z"}], "iid": 4, "project_id": 77}
    first = file(bundle(approvals={**given_, "updated_at": "2026-03-02T09:00:00.000Z"}))
    second = file(bundle(approvals={**given_, "approved_by": [], "updated_at": "2026-03-03T09:00:00.000Z"}))
    assert [event.actor_alias for event in told(first) if event.kind == "review"] == ["cai"]
    assert [event for event in told(first, second) if event.kind == "review"] == []


def test_the_changed_lines_stay_and_the_diff_goes() -> None:
    diff = {"old_path": "src/rates.py", "new_path": "src/rates.py", "new_file": False,
            "diff": "@@ -1,2 +1,3 @@\n a\n+secret sauce\n b"}  # fmt: skip
    commits = [
        {"id": name * 40, "short_id": name * 8, "message": name, "author_name": "Ana",
         "committed_date": f"2026-03-02T0{hour}:00:00.000Z"} for name, hour in (("c", 7), ("d", 9))
    ]  # fmt: skip
    whole = bundle(commits=commits, diffs=[diff], commit_diffs=[{"id": "d" * 40, "diffs": [diff]}])
    assert "secret sauce" not in json.dumps([one.value for one in read(file(whole))[0]])
    files = [{"path": "src/rates.py", "hunks": [[2, 2]]}]
    shown = [(event.kind, event.attributes.get("files")) for event in told(file(whole)) if event.kind != "system_note"]
    assert shown == [("commit", None), ("merge_request_opened", files), ("commit", files)]


def test_suggestions_are_kept_with_their_words() -> None:
    body = "Rather:\n```suggestion:-0+1\nreturn quantize(x)\n```\nand\n```suggestion\nx = 2\n```"
    told_once = rest(on_line(body, 3), 500, suggestions=[{"id": 1, "applied": False}, {"id": 2, "applied": True}])
    (event,) = spoken(told(file([told_once])))
    assert event.attributes["suggestions"] == [
        {"text": "return quantize(x)", "applied": False}, {"text": "x = 2", "applied": True},
    ]  # fmt: skip
    assert event.attributes["suggestion_applied"] is True


# --- shapes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "kinds"),
    [
        (merge_request(), ["merge_request"]),
        ([merge_request(), merge_request(iid=5)], ["merge_request", "merge_request"]),
        ([rest(note("a"), 1)], ["note"]),
        ([discussion("d", rest(note("a"), 1), rest(note("b", 1), 2))], ["note", "note"]),
        (merge_request(changes=[{"old_path": "a", "new_path": "a", "diff": ""}]), ["merge_request"]),
        ({"iid": 4, "project_id": 77, "approved_by": []}, ["merge_request"]),
        (bundle(discussion("d", rest(note("a"), 1))), ["merge_request", "note"]),
        (b"[" + json.dumps(rest(note("a"), 1)).encode() + b"][" + json.dumps(rest(note("b"), 2)).encode() + b"]",
         ["note", "note"]),
    ],
)  # fmt: skip
def test_every_shape_is_recognised_and_read(content: Any, kinds: list[str]) -> None:
    capture = file(content)
    assert registry.sniff_member("x.json", capture.members[0].head()) == "gitlab"
    records, refusals = read(capture)
    assert ([one.type for one in records], refusals) == (kinds, [])
    assert {one.unit.partition("!")[0] for one in records} == {"77"}


def test_what_belongs_elsewhere_or_to_fewer_is_refused() -> None:
    rows = [
        rest(note("on an issue"), 1, noteable_type="Issue"), rest(note("the walrus plan"), 2, internal=True),
        {"id": "c" * 40, "short_id": "c" * 8, "message": "of what?", "authored_date": "2026-03-02T09:00:00Z"},
        {"hello": "world"}, "text", rest(note("when"), 3, created_at="yesterday"), rest(note("kept"), 4),
    ]  # fmt: skip
    records, refusals = read(file(rows))
    assert [one.id for one in records] == ["note:4"]
    assert [one.reason for one in refusals] == [
        "no_unit", "private", "no_unit", "wrong_shape", "wrong_shape", "bad_time",
    ]  # fmt: skip
    assert "walrus" not in "".join(one.head + one.detail for one in refusals)


def test_a_number_that_is_none_is_no_number() -> None:
    broken = bundle(discussion("d", rest(note("kept"), 1)), merge_request=merge_request(iid=True, web_url=None))
    records, refusals = read(file(broken))
    assert ([one.id for one in records], [one.reason for one in refusals]) == (["note:1"], ["wrong_shape"])


def test_a_unit_tells_its_project() -> None:
    assert [gitlab.place_of(unit) for unit in ("gitlab:77!4", "gitlab:project:77", "gitlab:git.x/a/b!4")] == [
        "77", "77", "git.x/a/b",
    ]  # fmt: skip


def test_two_instances_that_share_a_number_name_no_project() -> None:
    other = merge_request(web_url="https://git.other.example/a/b/-/merge_requests/4")
    found = units([("2026-03-02", read(file([merge_request(), other]))[0])])["77!4"]
    assert gitlab.facts(found).remote is None
    alone = units([("2026-03-02", read(file(merge_request()))[0])])["77!4"]
    assert gitlab.facts(alone).remote == "gitlab.example.com/harbour/web"


# --- properties -------------------------------------------------------------------------------------------------


def pieces() -> list[Capture]:
    settled = {"resolved_at": "2026-03-02T10:00:00.000Z", "resolved_by_id": 2}
    one, two = on_line("Use Decimal.", 19, 1, **settled), note("Fine.", 2)
    opened = rest(one, 501, resolved=False, resolved_at=None, resolved_by=None, updated_at="2026-03-04T09:00:00.000Z")
    return [
        export([request(one, two)]), file([rest(one, 501), rest(two, 502)]), file([discussion("d1", opened)]),
        file(bundle(discussion("d2", rest(two, 502, body="Fine, then.", updated_at="2026-03-05T09:00:00.000Z")))),
    ]  # fmt: skip


@settings(deadline=None)  # a busy machine is no finding
@given(st.permutations(range(4)), st.lists(st.integers(0, 3), max_size=3))
def test_any_order_and_twice_is_the_same(order: list[int], twice: list[int]) -> None:
    """With equal first_kept, as a rebuild has it."""
    captures = pieces()

    def all_of(numbers: list[int]) -> list[Event]:
        records = [one for number in numbers for one in read(captures[number])[0] if one.type != "project"]
        found = units([("2026-03-02", records)])["77!4"]
        return list(gitlab.events(found))

    assert all_of([*order, *twice]) == all_of([0, 1, 2, 3])


def test_a_list_cut_anywhere_keeps_what_is_whole() -> None:
    rows = [rest(note(f"remark {number} – ünïcode", number), 500 + number) for number in range(4)]
    data = json.dumps(rows, ensure_ascii=False).encode()
    ends = [len(json.dumps(rows[: count + 1], ensure_ascii=False).encode()) - 1 for count in range(4)]
    for cut in range(len(data) - 200, len(data)):
        records, refusals = read(file(data[:cut]))
        assert len(records) == sum(end <= cut for end in ends), cut
        assert len(refusals) <= 1


def test_damaged_bytes_never_raise() -> None:
    source = random.Random(24)
    data = json.dumps(bundle(
        discussion("d1", rest(on_line("Use Decimal.", 19, 1), 501)), approvals={"approved_by": [{"user": CAI}]},
        commits=[{"id": "c" * 40, "short_id": "c" * 8, "message": "m", "authored_date": "2026-03-02T09:00:00Z"}],
        diffs=[{"old_path": "a", "new_path": "a", "diff": "@@ -1 +1 @@\n-a\n+b"}],
    )).encode()  # fmt: skip
    for _ in range(1500):
        broken = bytearray(data)
        for _ in range(source.randint(1, 3)):
            broken[source.randrange(len(broken))] = source.choice(b'0{}[]",:xn\x00\xff ')
        found = list(gitlab.read(file(bytes(broken))))
        assert found
        records = [one for one in found if isinstance(one, Record)]
        assert all(isinstance(one, Record | Refusal) for one in found)
        for unit in units([("2026-03-02", records)]).values():
            gitlab.events(unit)
            gitlab.facts(unit)
