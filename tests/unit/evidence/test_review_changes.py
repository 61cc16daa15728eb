import pytest

from lorelake.evidence.review_changes import extract

ASK = "Please close the file in a finally block, otherwise a failed read leaks the handle."


@pytest.fixture
def request_unit(new_unit):
    unit = new_unit("github:acme/shop#7", "merge_request")
    unit.add("merge_request_opened", "Read the export", actor="ana")
    return unit


def comment(unit, text=ASK, actor="ben", **more):
    return unit.add("review_comment", text, **({"actor": actor, "path": "app/read.py", "line": 40} | more))


def reply(unit, root, text, actor="ana", **more):
    return unit.add("review_comment", text, actor=actor, path="app/read.py", reply_to=root.event_id, **more)


def commit(unit, *hunks, path="app/read.py"):
    return unit.add("commit", "fix", revision="b2", attributes={"files": [{"path": path, "hunks": list(hunks)}]})


def test_a_comment_on_lines_changed_later_is_followed(request_unit):
    root = comment(request_unit)
    commit(request_unit, [48, 52])
    (signal,) = extract(request_unit.events)
    assert signal.event_id == root.event_id
    assert signal.seen["ground"] == "lines_changed"
    assert signal.item["when"] == "changing `app/read.py`"
    assert signal.item["trust_basis"] == "mechanical"
    assert "leaks the handle" in signal.item["because"]


@pytest.mark.parametrize("hunks", [([51, 60],), ([1, 29],)])
def test_a_change_further_than_ten_lines_away_is_none(request_unit, hunks):
    comment(request_unit)
    commit(request_unit, *hunks)
    assert extract(request_unit.events) == []


def test_a_change_in_another_file_or_before_the_comment_is_none(request_unit):
    commit(request_unit, [40, 41])
    comment(request_unit)
    commit(request_unit, [40, 41], path="app/other.py")
    assert extract(request_unit.events) == []


@pytest.mark.parametrize("words", ["Fixed in 1a2b3c4d.", "done", "Good catch!", "Added a finally block in 1a2b3c4."])
def test_the_readers_word_is_enough(request_unit, words):
    reply(request_unit, comment(request_unit), words)
    (signal,) = extract(request_unit.events)
    assert signal.seen["ground"] == "acknowledged"


@pytest.mark.parametrize(
    "words", ["Won't fix - the process ends anyway", "No longer applicable", "This is intentional"]
)
def test_a_declined_comment_teaches_nothing(request_unit, words):
    reply(request_unit, comment(request_unit, attributes={"resolved": True}), words)
    assert extract(request_unit.events) == []


def test_the_last_word_counts(request_unit):
    root = comment(request_unit)
    reply(request_unit, root, "Won't fix - ten entries at most.")
    reply(request_unit, root, "Reconsidered - fixed in 7f010c5.")
    assert len(extract(request_unit.events)) == 1


@pytest.mark.parametrize("attributes", [{"suggestion_applied": True}, {"resolved": True}])
def test_an_applied_suggestion_and_a_resolved_thread_count(request_unit, attributes):
    comment(request_unit, attributes=attributes)
    assert len(extract(request_unit.events)) == 1


@pytest.mark.parametrize(
    "text", ["Why is this public?", "nit: rename this", "LGTM!", "Nice, much clearer", "typo in the name"]
)
def test_questions_praise_and_nits_are_none(request_unit, text):
    reply(request_unit, comment(request_unit, text), "done")
    assert extract(request_unit.events) == []


def test_the_authors_own_comment_is_none(request_unit):
    comment(request_unit, actor="ana", attributes={"resolved": True})
    assert extract(request_unit.events) == []


def test_a_bots_comment_needs_a_persons_word_and_that_word_is_the_witness(request_unit):
    bot = {"actor": "lint-bot", "actor_class": "bot"}
    comment(request_unit, attributes={"resolved": True}, **bot)
    commit(request_unit, [40, 41])
    assert extract(request_unit.events) == []
    root = comment(request_unit, "The handle is not closed. Use a context manager.", **bot)
    answer = reply(request_unit, root, "Fixed in 1a2b3c4d - the handle is closed.")
    (signal,) = extract(request_unit.events)
    assert signal.event_id == answer.event_id
    assert signal.item["do"] == "Use a context manager."
    assert signal.item["because"] == "The handle is not closed."


def test_a_bot_cannot_approve_a_bot(request_unit):
    root = comment(request_unit, actor="lint-bot", actor_class="bot")
    reply(request_unit, root, "Fixed in 1a2b3c4d", actor="fix-bot", actor_class="bot")
    assert extract(request_unit.events) == []


def test_objections_in_the_thread_become_counter_arguments(request_unit):
    root = comment(request_unit)
    reply(request_unit, root, "However, short scripts may leave it to the process end.")
    reply(request_unit, root, "Fixed in 1a2b3c4d")
    (signal,) = extract(request_unit.events)
    assert signal.item["not_when"] == ["thread: However, short scripts may leave it to the process end."]


def test_a_reply_whose_comment_is_not_kept_is_no_comment(request_unit):
    request_unit.add("review_comment", "Fixed in 1a2b3c4d - closes it", actor="cy", attributes={"resolved": True})
    assert extract(request_unit.events) == []


def test_the_authors_reply_is_never_what_to_do(request_unit):
    root = comment(request_unit, "The pool is opened twice in here.")
    reply(request_unit, root, "Good point, changed in a565fab4 to open it once for all.")
    (signal,) = extract(request_unit.events)
    assert signal.item["do"] == "The pool is opened twice in here."


def test_where_a_bot_asked_for_nothing_the_person_who_mended_it_is_heard(request_unit):
    bot = {"actor": "lint-bot", "actor_class": "bot"}
    root = comment(request_unit, "The function has a race between two calls.", **bot)
    reply(request_unit, root, "Addressed in 446f9310 - added a lock around the second call.")
    (signal,) = extract(request_unit.events)
    assert signal.item["do"] == "added a lock around the second call."
    thanked = comment(request_unit, "The function leaks one handle.", line=90, **bot)
    reply(request_unit, thanked, "Good point, changed in a565fab4")
    assert extract(request_unit.events)[1].item["do"] == "The function leaks one handle."


def test_what_follows_the_request_is_its_reason(request_unit):
    words = "Raise an error when there is no zone. A naive value passes every test at home. Store the zone's name too."
    reply(request_unit, comment(request_unit, words), "done")
    (signal,) = extract(request_unit.events)
    assert signal.item["do"] == "Raise an error when there is no zone."
    assert signal.item["because"].startswith("A naive value passes every test at home.")


def test_a_standing_rule_in_a_comment_is_its_authors_word(request_unit):
    reply(request_unit, comment(request_unit, "Never give a removed number to a new field."), "done")
    (signal,) = extract(request_unit.events)
    assert (signal.item["trust_basis"], signal.item["kind"]) == ("stated", "anti_pattern")
