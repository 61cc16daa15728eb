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


@pytest.mark.parametrize("text", ["Why is this public?", "nit: rename this", "typo in the name"])
def test_questions_and_nits_that_were_followed_are_signals_without_an_item(request_unit, text):
    reply(request_unit, comment(request_unit, text), "done")
    (signal,) = extract(request_unit.events)
    assert (signal.quote, signal.item) == (text, {})


@pytest.mark.parametrize("text", ["LGTM!", "Nice, much clearer"])
def test_praise_is_none(request_unit, text):
    reply(request_unit, comment(request_unit, text), "done")
    assert extract(request_unit.events) == []


@pytest.mark.parametrize(
    "text",
    [
        "Please rename this to match the table.", "Remove this line.", "The comment above is stale, please update it.",
        "Could you move it below? It reads better.", "Please add a test.", "Use the other one here.",
    ],
)  # fmt: skip
def test_what_is_only_about_this_change_is_a_signal_without_an_item(request_unit, text):
    reply(request_unit, comment(request_unit, text), "done")
    (signal,) = extract(request_unit.events)
    assert signal.item == {}


@pytest.mark.parametrize(
    "text",
    [
        "Use the shared client instead of opening a connection, the database has only fifty of them.",
        "Please wrap the two writes in a transaction. A crash in between leaves an order without its lines.",
        "We never log the request body.",
        "This will deadlock if the hook calls back, so release the lock first.",
        "这里应该先释放锁，否则回调会导致死锁。",
    ],
)
def test_what_tells_why_or_a_rule_is_kept(request_unit, text):
    reply(request_unit, comment(request_unit, text), "done")
    (signal,) = extract(request_unit.events)
    assert signal.item["do"]


def test_a_doubted_comment_is_no_item(request_unit):
    root = comment(request_unit, "Maybe use the pool instead of a new connection, not sure whether it helps here.")
    reply(request_unit, root, "done")
    assert [signal.item for signal in extract(request_unit.events)] == [{}]


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


def test_an_answer_whose_comment_was_not_captured_still_tells_that_it_was_followed(request_unit):
    """A capture may hold the answers of a team to its review robot, and none of the robot's comments."""
    request_unit.add("review_comment", "Fixed in 1a2b3c4d - closes it", actor="cy", path="app/read.py", line=4)
    (signal,) = extract(request_unit.events)
    assert (signal.quote, signal.item) == ("closes it", {})
    assert signal.seen == {"ground": "acknowledged", "comment": "", "comment_by": "unknown"}


def test_such_an_answer_is_an_item_where_it_tells_why(request_unit):
    words = "the reader now keeps a copy because a second pass has to see the same rows."
    request_unit.add(
        "review_comment", f"Good catch. Fixed in 1a2b3c4d — {words}", actor="cy", path="app/read.py", line=4
    )
    (signal,) = extract(request_unit.events)
    assert signal.quote == words
    assert signal.item["do"] == words
    assert signal.item["applies_to"] == ["app/read.py"]


REPORTS = [
    ("`close_batch` now clears `pending_id`, consistent with `open_batch`.", False),
    ("Narrowed the loop to live batches, matching what the name says.", False),
    ("Now reads `state.root` with a fallback to `find_root()` only if it is empty.", False),
    ("The filter now looks at the hash first, so if it is missing we list every branch.", False),
    ("Now returns `errDone` — past the main branch every commit is shared.", False),
    ("`close_batch` 里加了判断，这样重试就不会重复。", False),
    ("Now wraps the error with the file name instead of dropping it.", True),
    ("Narrowed the loop to live batches because closed ones have no lock.", True),
    ("Sorted by commit time to match the order of the log.", True),
    ("`close_batch` now clears `pending_id`. Otherwise the next run would lose the batch.", True),
    ("改成先写临时文件，因为直接写会留下半个文件。", True),
]


@pytest.mark.parametrize(("words", "is_item"), REPORTS)
def test_a_report_of_what_was_changed_is_an_item_only_with_a_reason_or_a_contrast(request_unit, words, is_item):
    said = f"Good catch. Fixed in 1a2b3c4d. {words}"
    request_unit.add("review_comment", said, actor="cy", path="app/read.py", line=4)
    (signal,) = extract(request_unit.events)
    assert bool(signal.item) is is_item


@pytest.mark.parametrize(
    ("words", "is_item"),
    [
        ("Add unit tests for the empty batch. Other packages show that good coverage is our convention.", False),
        ("Document that this reader is not thread-safe, because two calls may race.", False),
        ("这里补一下注释，因为不看调用方会误解。", False),
        ("Never add a test that sleeps, because it fails on a slow machine.", True),
        ("This should hold the lock, because two calls may race.", True),
        ("I think `read_all` fits better, since it would take one pass over the file?", True),
        ("I think this fits better?", False),
        ("If so, we should call `read_all`, since it takes one pass.", True),
        ("Should it be sorted? If so, we should call `sort_rows` once.", False),
    ],
)
def test_what_a_comment_asks_for_decides_whether_it_outlives_the_change(request_unit, words, is_item):
    reply(request_unit, comment(request_unit, words), "Good point, done")
    assert bool([signal for signal in extract(request_unit.events) if signal.item]) is is_item


@pytest.mark.parametrize(
    ("words", "is_followed"),
    [
        ("Ah, thank you! Fixed in 1a2b3c4d", True),
        ("Funny, I wrote that line.\nChanged in 1a2b3c4d", True),
        ("That worked, thanks!", True),
        ("Oh - you are right", True),
        ("谢谢，这样更好", True),
        ("This reads the header as well and the two callers rely on it. Thanks, agreed on the rest", False),
        ("I am not convinced that it matters", False),
    ],
)
def test_an_acceptance_may_come_after_a_few_words_or_with_its_commit(request_unit, words, is_followed):
    reply(request_unit, comment(request_unit), words)
    assert bool(extract(request_unit.events)) is is_followed


@pytest.mark.parametrize("words", ["Won't fix - it is read once", "No longer applicable", "Acknowledged, benign"])
def test_such_an_answer_that_refuses_is_no_change(request_unit, words):
    request_unit.add("review_comment", words, actor="cy", path="app/read.py", line=4)
    assert extract(request_unit.events) == []


def test_answers_at_one_place_are_one_thread_and_the_last_word_counts(request_unit):
    at = {"actor": "cy", "path": "app/read.py", "line": 4, "revision": "b1"}
    request_unit.add("review_comment", "Won't fix - it is read once.", **at)
    request_unit.add("review_comment", "Reconsidered - fixed in 7f010c5.", **at)
    request_unit.add("review_comment", "Done", **(at | {"line": 90}))
    request_unit.add("review_comment", "Won't fix after all, it is read once.", **(at | {"line": 90}))
    assert [signal.event_id for signal in extract(request_unit.events)] == ["github:acme/shop#7-2"]


def test_an_answer_to_a_stated_but_absent_comment_is_never_a_comment(request_unit):
    about = {"answers_unseen": "review_comment:5", "outdated": True}
    request_unit.add(
        "review_comment", "Close it, otherwise the handle leaks.", actor="cy", path="a.py", attributes=about
    )
    assert extract(request_unit.events) == []
    request_unit.add("review_comment", "Close it, otherwise the handle leaks.", actor="cy", path="a.py",
                     attributes={"outdated": True})  # fmt: skip
    assert len(extract(request_unit.events)) == 1


def test_a_comment_on_lines_the_host_calls_outdated_is_followed(request_unit):
    comment(request_unit, attributes={"outdated": True})
    (signal,) = extract(request_unit.events)
    assert signal.seen["ground"] == "lines_changed"
    comment(
        request_unit, "Please close the pipe too, otherwise its reader waits for ever.", attributes={"outdated": False}
    )
    assert len(extract(request_unit.events)) == 1


def test_the_same_comment_again_is_one_item(request_unit):
    for line in (3, 40):
        reply(request_unit, comment(request_unit, line=line), "done")
    first, second = extract(request_unit.events)
    assert first.item
    assert (second.item, second.seen["same_as"]) == ({}, first.event_id)


def test_a_comment_taken_up_in_half_keeps_the_other_half_as_a_counter_argument(request_unit):
    asked = "Close the handle, otherwise it leaks. Rename the reader, because read() hides the builtin."
    root = comment(request_unit, asked)
    reply(
        request_unit,
        root,
        "Done, the handle is closed in a finally block. But won't rename the reader, it is exported.",
    )
    (signal,) = extract(request_unit.events)
    assert signal.item["do"].startswith("Close the handle")
    assert "Rename" not in signal.item["do"] + signal.item["because"]
    assert signal.item["not_when"] == ["thread: But won't rename the reader, it is exported."]


def test_of_two_remedies_the_one_taken_is_kept(request_unit):
    asked = (
        "Two calls may race on the state file. Consider taking the lock first. "
        "Alternatively, document that one caller only may run it."
    )
    root = comment(request_unit, asked)
    reply(request_unit, root, "Addressed in 446f9310 - documented that only one caller may run it.")
    (signal,) = extract(request_unit.events)
    assert signal.item["do"] == "document that one caller only may run it."
    other = comment(request_unit, asked.replace("Two calls", "All the writers of the spool"), line=80)
    reply(request_unit, other, "Fixed in 446f9311 - taking the lock first now.")
    assert extract(request_unit.events)[1].item["do"] == "Consider taking the lock first."


def test_what_a_program_found_is_its_own_under_a_persons_name_too(request_unit):
    pasted = "**Medium Severity**\n\nThe handle is not closed on a failed read, so it leaks. Use a context manager."
    root = comment(request_unit, pasted, attributes={"resolved": True})
    assert extract(request_unit.events) == []
    answer = reply(request_unit, root, "Fixed in 1a2b3c4d - the handle is closed.")
    (signal,) = extract(request_unit.events)
    assert (signal.event_id, signal.seen["comment_by"]) == (answer.event_id, "bot")
    assert signal.support == ((root.event_id, pasted.index("The handle"), len(pasted)),)


def test_a_bots_finding_between_hidden_marks_is_read(request_unit):
    text = (
        "### Handle stays open\n\n**High Severity**\n\n<!-- DESCRIPTION START -->\nThe handle is not closed on a failed"
        " read. The fix requires a context manager instead of a bare open.\n<!-- DESCRIPTION END -->\n<b>x</b>"
    )
    root = comment(request_unit, text, actor="review-bot", actor_class="bot")
    reply(request_unit, root, "Fixed in 1a2b3c4d.")
    (signal,) = extract(request_unit.events)
    assert signal.item["do"] == "The fix requires a context manager instead of a bare open."


def test_the_authors_reply_is_never_what_to_do(request_unit):
    root = comment(request_unit, "The pool is opened twice, so every request waits for the other.")
    reply(request_unit, root, "Good point, changed in a565fab4 to open it once for all.")
    (signal,) = extract(request_unit.events)
    assert signal.item["do"] == "The pool is opened twice, so every request waits for the other."


def test_where_a_bot_asked_for_nothing_the_person_who_mended_it_is_heard(request_unit):
    bot = {"actor": "lint-bot", "actor_class": "bot"}
    root = comment(request_unit, "The function can deadlock when two calls meet.", **bot)
    reply(request_unit, root, "Addressed in 446f9310 - added a lock around the second call.")
    (signal,) = extract(request_unit.events)
    assert signal.item["do"] == "added a lock around the second call."
    thanked = comment(request_unit, "The function leaks the handle of every file it opens.", line=90, **bot)
    reply(request_unit, thanked, "Good point, changed in a565fab4")
    assert extract(request_unit.events)[1].item["do"] == "The function leaks the handle of every file it opens."


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
