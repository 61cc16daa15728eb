import pytest
from msgspec.structs import replace

from lorelake.evidence.answers_accepted import confirmation, extract
from lorelake.evidence.gates import Context, admit
from lorelake.evidence.signals import signal_rows

ASK = "How do I raise the upload limit of the importer?"
FAILS = "The nightly export fails with `TooManyConnections: pool exhausted`. How can I fix it?"
STEP = "Set `max_upload_mb` to 64 in `importer.toml`, because the proxy reads the same value."
FIX = "The workers share one pool by default. Set `pool_size` to 40 in `export.yaml` and restart the scheduler."


@pytest.fixture
def thread(new_unit):
    """Adds messages `(who, text)`; gives what the rule finds in the thread."""

    def talk(*messages, kind="message", unit=None, **more):
        unit = unit or new_unit("slack:C1:1767000000.000100", "thread")
        for who, text in messages:
            unit.add(kind, text, actor=who, **more)
        return extract(unit.events)

    return talk


def item(found):
    assert len(found) == 1
    return found[0].item


def test_a_question_answered_and_confirmed_is_an_item_in_the_words_of_both(thread):
    (signal,) = thread(("ana", "Hi team, " + ASK), ("ben", "Hey @Ana Cole, " + STEP), ("ana", "That worked, thanks!"))
    assert signal.event_id.endswith("-1")
    assert signal.quote == "Hey @Ana Cole, " + STEP
    assert (
        signal.item["title"] == "Set `max_upload_mb` to 64 in `importer.toml`, because the proxy reads the same value."
    )
    assert signal.item["when"] == ASK
    assert signal.support == ((f"{signal.event_id[:-1]}0", 0, len("Hi team, " + ASK)),)
    assert signal.item["do"].startswith("Set `max_upload_mb` to 64")
    assert signal.item["because"] == "the proxy reads the same value"
    assert signal.item["kind"] == "procedure"
    assert signal.item["trust_basis"] == "stated"
    assert signal.seen["confirmation"] == "worked"
    assert (signal.seen["question"][-1], signal.seen["confirmed_by"][-1]) == ("0", "2")


def test_the_error_the_asker_shows_is_the_trigger(thread):
    error = "OSError: [Errno 28] No space left on device"
    said = f"The sync stops at night, any idea why?\n```{error}```"
    found = thread(("ana", said), ("ben", FIX), ("ana", "fixed it, thank you"))
    assert item(found)["when"] == error


@pytest.mark.parametrize(
    "words",
    [
        "That worked, thanks!",
        "yes! that was it",
        "Perfect, works now",
        "after I set it to 100 it worked",
        "Spot on, thank you",
        "Aha, so it's read by the proxy too",
        "oh I see, makes sense",
        "that did the trick :tada:",
        "thanks! I had forgotten the scheduler. I forgot to restart it",
        "搞定了，谢谢",
        "谢谢，好了",
        "可以了",
        "原来是这样，明白了",
        "已经解决了，多谢",
    ],
)
def test_the_asker_confirms_in_many_words(thread, words):
    assert item(thread(("ana", FAILS), ("ben", FIX), ("ana", words)))["do"]


@pytest.mark.parametrize(
    "words",
    [
        "Thanks!",
        "thank you, I'll try that tomorrow",
        "ok will check and let you know",
        "thanks, that didn't help",
        "hmm, same error",
        "does it work with two workers as well?",
        "thanks in advance",
        "thanks for looking into it",
        "let me know if it worked for you",
        "hopefully it works",
        "previously it worked without any trouble",
        "I am working on it",
        "谢谢，我试试",
        "还是不行",
        "好了吗",
        "如果可以了就告诉我",
    ],
)
def test_a_failure_is_not_confirmed_by_politeness_plans_or_another_failure(thread, words):
    assert thread(("ana", FAILS), ("ben", FIX), ("ana", words)) == []


def test_thanks_confirm_an_explanation_but_no_repair(thread):
    assert item(thread(("ana", ASK), ("ben", STEP), ("ana", "Thanks!")))
    assert thread(("ana", FAILS), ("ben", STEP), ("ana", "Thanks!")) == []


@pytest.mark.parametrize(
    "words",
    [
        "let me check",
        "We'll look into it and get back to you soon",
        "https://example.org/docs/limits",
        "please see the docs: https://example.org/docs/limits",
        "Could you please share the full logs?",
        "this is fixed in v0.8.2",
        "This was released in v0.8.2. Redeploy the chart and delete the old pod to get it.",
        "Please upgrade to the latest version",
        "I restarted the runner, try again",
        "it's back up now",
        "there is a nice package for that",
        "There is a nice package called `max-upload`",
        "I am not sure that the file `importer.toml` is read at all. Somebody changed the whole thing last year, so be "
        "warned. Set `max_upload_mb` to 64 in it.",
        "no idea, sorry",
        "same here",
        "Maybe `max_upload_mb` is read from the proxy.",
        "我看一下",
        "可能是代理读了 `max_upload_mb`",
        "升级到最新版就行",
        "2026-03-02T10:00:00Z ERROR pool exhausted",
    ],
)
def test_a_reply_that_is_not_concrete_or_in_doubt_is_no_answer(thread, words):
    assert thread(("ana", ASK), ("ben", words), ("ana", "that worked, thank you!")) == []


@pytest.mark.parametrize(
    ("words", "do"),
    [
        ("I'd try to set `max_upload_mb` to 64", "Set `max_upload_mb` to 64."),
        ("Did you try `shipctl limits set 64`?", "Use `shipctl limits set 64`"),
        ("试过 `shipctl limits set 64` 吗？", "`shipctl limits set 64`"),
    ],
)
def test_a_polite_step_is_one_once_it_worked(thread, words, do):
    assert item(thread(("ana", ASK), ("ben", words), ("ana", "that worked, thank you!")))["do"] == do


@pytest.mark.parametrize(
    "words",
    [
        "Not 100% sure, but set `max_upload_mb` to 64",
        "you could try to set `max_upload_mb` to 64",
        "Maybe set `max_upload_mb` to 64.",
        "可能要把上限改成64",
    ],
)
def test_a_hedge_on_the_core_drops_the_answer_even_if_it_worked(thread, words):
    assert thread(("ana", ASK), ("ben", words), ("ana", "that worked, thank you!")) == []


@pytest.mark.parametrize(
    "words",
    [
        "green now",
        "all pods are up again",
        "the lag is going down, thanks",
        "Latency dropped from 900ms to 40ms",
        "no more errors since",
        "The warning disappeared",
        "it hasn't happened again",
        "I can log in now",
        "it compiles fine now",
        "Bingo!",
        "流水线绿了",
        "重启后没再报错",
        "现在能连上了",
    ],
)
def test_a_confirmation_may_tell_the_outcome_in_its_own_words(thread, words):
    assert item(thread(("ana", FAILS), ("ben", FIX), ("ana", words)))


@pytest.mark.parametrize(
    "words",
    [
        "the server is down",
        "now I can see another error",
        "works, but whenever I restart the worker it is back",
        "is it green now?",
        "服务又挂了",
        "好了，但每次重启就丢",
    ],
)
def test_what_sounds_like_an_outcome_and_is_none_confirms_nothing(thread, words):
    assert thread(("ana", FAILS), ("ben", FIX), ("ana", words)) == []


@pytest.mark.parametrize(
    "words",
    [
        "Ah, thank you",
        "I wasn't aware of that",
        "Thanks! Will adjust our scripts",
        "学到了，谢谢",
        "that is sufficient",
    ],
)
def test_who_learned_it_or_takes_it_over_has_understood(thread, words):
    told = "Our importer takes one file after the other and I would love to see that go faster."
    reply = "`shipctl import --jobs 4` reads four files at once."
    assert item(thread(("ana", told), ("ben", reply), ("ana", words)))["do"] == reply
    assert thread(("ana", told), ("ben", reply), ("ana", "Thanks!")) == []


def test_the_title_is_the_cure_else_the_cause(thread):
    both = "The proxy cuts the body. Raise `max_body` to 64 in `proxy.conf`."
    assert (
        item(thread(("ana", FAILS), ("ben", both), ("ana", "fixed")))["title"]
        == "Raise `max_body` to 64 in `proxy.conf`."
    )
    cause = "We looked at `a.log` together. The problem is that the reader keeps its lock, which blocks the rest."
    assert item(thread(("ana", ASK), ("ben", cause), ("ana", "makes sense")))["title"] == (
        "The reader keeps its lock, which blocks the rest."
    )


@pytest.mark.parametrize(
    ("words", "do"),
    [
        ("Run this:\n```shipctl limits set 64```", "Run this: `shipctl limits set 64`"),
        ("```shipctl limits set 64```", "`shipctl limits set 64`"),
        ("You need to restart the importer after the change", "You need to restart the importer after the change."),
        (
            "Use the following:\n1. Stop the importer\n2. Delete the lock file\nLet us know how it goes",
            "Use the following. Stop the importer. Delete the lock file.",
        ),
        (
            "It is fixed in 0.8.2. The importer failed because it read the limit before the file.",
            "It is fixed in 0.8.2. The importer failed because it read the limit before the file.",
        ),
        ("把 `max_upload_mb` 改成64，然后重启", "把 `max_upload_mb` 改成64，然后重启。"),
        ("I'm happy to explain.\nIt reads `a.toml` once.", "It reads `a.toml` once."),
        ("The importer asks a proxy.\nIt reads `a.toml` once.", "The importer asks a proxy. It reads `a.toml` once."),
    ],
)  # fmt: skip
def test_what_to_do_is_the_concrete_sentences_with_their_code(thread, words, do):
    assert item(thread(("ana", ASK), ("ben", words), ("ana", "works now")))["do"] == do


def test_the_quote_reaches_to_the_end_of_the_code(thread):
    text = "Hey! Run this:\n```shipctl limits set 64```\nHope it helps"
    (signal,) = thread(("ana", ASK), ("ben", text), ("ana", "works now"))
    assert signal.quote == "Run this:\n```shipctl limits set 64```"


@pytest.mark.parametrize("who", ["ben", "cleo"])
def test_only_the_asker_confirms(thread, who):
    assert thread(("ana", ASK), ("ben", STEP), (who, "that worked")) == []


def test_an_answer_of_the_asker_without_a_word_of_finding_it_is_none(thread):
    assert thread(("ana", ASK), ("ana", STEP), ("ana", "that worked")) == []


def test_a_bot_answers_nothing(thread, new_unit):
    unit = new_unit("slack:C1:1", "thread")
    unit.add("message", ASK, actor="ana")
    unit.add("message", STEP, actor="helpbot", actor_class="bot")
    unit.add("message", "that worked", actor="ana")
    assert extract(unit.events) == []


def test_without_a_question_there_is_nothing_to_answer(thread):
    assert thread(("ana", "Release 4 is out."), ("ben", STEP), ("ana", "that worked")) == []


def test_what_a_person_types_to_an_agent_is_no_thread(new_unit):
    unit = new_unit()
    for who, text in (("ana", ASK), ("ben", STEP), ("ana", "that worked")):
        unit.add("prompt", text, actor=who)
    assert extract(unit.events) == []


@pytest.mark.parametrize(
    ("who", "later"),
    [
        ("ana", "spoke too soon, the export failed again tonight"),
        ("ana", "still not working"),
        ("ana", "just tested and the pool is still exhausted: it still fails"),
        ("ben", "sorry, I was wrong: `pool_size` is per worker"),
        ("cleo", "careful, that won't work with two schedulers"),
        ("cleo", "The config above is wrong, it deletes the queue"),
        ("ana", "今天又报错了"),
        ("ben", "我刚才说错了"),
    ],
)
def test_the_later_word_wins(thread, who, later):
    (signal,) = thread(("ana", FAILS), ("ben", FIX), ("ana", "that fixed it!"), (who, later))
    assert signal.item == {}
    assert signal.seen["taken_back_by"].endswith("-3")


@pytest.mark.parametrize(
    ("who", "later"),
    [
        ("ana", "but I have another problem with the calendar now"),
        ("ana", "great, closing this"),
        ("cleo", "same for us, it helped"),
        ("ben", "glad to hear it"),
        ("cleo", "> How do I raise\nThat is wrong, nobody raises it there"),
    ],
)
def test_a_later_word_about_something_else_takes_nothing_back(thread, who, later):
    assert item(thread(("ana", FAILS), ("ben", FIX), ("ana", "that fixed it!"), (who, later)))


def test_of_two_answers_the_one_that_worked_counts(thread):
    found = thread(
        ("ana", FAILS),
        ("ben", "Set `timeout` to 90 in `export.yaml`."),
        ("ana", "no luck, it still fails"),
        ("cleo", FIX),
        ("ana", "that fixed it"),
    )
    assert item(found)["do"].startswith("Set `pool_size`")
    assert found[0].seen["question"].endswith("-2") or found[0].seen["question"].endswith("-0")


def test_an_answer_withdrawn_before_the_thanks_is_passed_over(thread):
    found = thread(
        ("ana", ASK), ("cleo", STEP), ("ben", "Set `body_limit` to 9 in the chart."),
        ("ben", "scratch that, I mixed it up"), ("ana", "works now"),
    )  # fmt: skip
    assert found[0].quote == STEP


def test_thanks_after_a_further_question_are_for_something_else(thread):
    assert thread(("ana", ASK), ("ben", STEP), ("ana", "and where is the queue kept?"), ("ana", "works now")) == []


def test_of_one_persons_replies_in_a_row_the_fullest_is_the_answer(thread):
    more = "Also set `retries` to 2."
    (signal,) = thread(("ana", FAILS), ("ben", FIX), ("ben", more), ("ana", "that fixed it"))
    assert signal.quote == FIX


def test_the_situation_is_what_was_asked_where_the_last_question_is_bare(thread):
    found = thread(
        ("ana", "Did anyone have this problem? The worker cannot write to the archive volume."),
        ("ben", "Mount the archive volume with `fsGroup: 2000`, the worker runs as that group."),
        ("ana", "yep that was it"),
    )
    assert item(found)["when"] == "The worker cannot write to the archive volume."


def test_what_speaks_against_it_is_kept_with_its_source(thread):
    found = thread(
        ("ana", ASK), ("ben", STEP), ("ana", "works now"),
        ("cleo", "However, the upload limit of the proxy is fixed at 128."),
        ("dan", "However, lunch is at noon."),
    )  # fmt: skip
    assert item(found)["not_when"] == ["thread: However, the upload limit of the proxy is fixed at 128."]


@pytest.mark.parametrize(
    "words",
    [
        "found the solution: the proxy has its own limit, I set `proxy_limit` to 64",
        "Turns out the importer reads `limits.toml` only at start, so I restarted it",
        "找到原因了，因为代理默认只读一次配置，重启就好",
    ],
)
def test_who_found_it_alone_is_the_witness(thread, words):
    (signal,) = thread(("ana", ASK), ("ben", "no idea"), ("ana", words))
    assert signal.event_id.endswith("-2")
    assert signal.seen["confirmation"] == "self_found"
    assert signal.item["do"]


@pytest.mark.parametrize(
    "words", ["found it, thanks", "found the description here: https://example.org/4", "turns out it was easy"]
)
def test_finding_it_without_saying_what_is_none(thread, words):
    assert thread(("ana", ASK), ("ana", words)) == []


def test_finding_out_that_a_colleague_was_right_is_the_colleagues_answer(thread):
    found = thread(("ana", FAILS), ("ben", FIX), ("ana", "fixed it! Turns out the `pool_size` in export.yaml was 4"))
    assert found[0].event_id.endswith("-1")


def test_a_deleted_message_is_neither_question_nor_answer(new_unit):
    for gone in (0, 1, 2):
        unit = new_unit("slack:C1:1", "thread")
        for who, text in (("ana", ASK), ("ben", STEP), ("ana", "that worked")):
            unit.add("message", text, actor=who)
        assert extract(unit.events)
        unit.events[gone] = replace(unit.events[gone], kind="message_deleted", actor_class="system", text="")
        assert extract(unit.events) == []


def test_a_rewound_message_is_no_answer(new_unit):
    unit = new_unit("slack:C1:1", "thread")
    unit.add("message", ASK, actor="ana")
    unit.add("message", STEP, actor="ben", on_live_path=False)
    unit.add("message", "that worked", actor="ana")
    assert extract(unit.events) == []


def test_messages_without_a_thread_are_not_put_together(new_unit):
    for at, (who, text) in enumerate((("ana", ASK), ("ben", STEP), ("ana", "that worked"))):
        unit = new_unit(f"slack:C1:{at}", "thread")
        unit.add("message", text, actor=who)
        assert extract(unit.events) == []


def test_review_discussions_are_conversations_of_their_own(new_unit):
    unit = new_unit("github:acme/shop#7", "merge_request")
    unit.add("merge_request_opened", "Import limits", actor="ben")
    asked = unit.add("review_comment", "Why is the limit read twice?", actor="ana", path="app/limits.py")
    unit.add("review_comment", "How large may a batch be?", actor="ana", path="app/batch.py")
    told = "Because the proxy may change it between the two calls."
    unit.add("review_comment", told, actor="ben", path="app/limits.py", reply_to=asked.event_id)
    unit.add("review_comment", "Ah, makes sense!", actor="ana", path="app/limits.py", reply_to=asked.event_id)
    (signal,) = extract(unit.events)
    assert signal.quote == told
    assert signal.item["applies_to"] == ["app/limits.py"]
    assert signal.item["title"] == "The proxy may change it between the two calls."
    assert signal.item["when"] == "Why is the limit read twice?"


def test_comments_of_a_request_are_one_talk(thread, new_unit):
    unit = new_unit("github:acme/shop#7", "merge_request")
    found = thread(("ana", ASK), ("ben", STEP), ("ana", "that worked"), kind="comment", unit=unit)
    assert found[0].quote == STEP


def test_words_in_quotation_marks_confirm_nothing(thread):
    assert thread(("ana", FAILS), ("ben", FIX), ("ana", 'support told me "that worked for everybody else"')) == []


def test_a_confirmation_may_stand_beside_a_log(new_unit):
    event = new_unit("slack:C1:1", "thread").add("message", "works now:\n```10:00:01 INFO fail again```")
    assert confirmation(event) == "worked"


def test_of_two_colleagues_the_one_the_confirmation_speaks_of_answered(thread):
    found = thread(
        ("ana", "The linter complains about generated code, how can we stop it?"),
        ("ben", "Put the folder into `extend-exclude` in pyproject.toml."),
        ("cleo", "or write `noqa: all` into the template"),
        ("ana", "extend-exclude did it, thank you"),
    )
    assert found[0].event_id.endswith("-1")


@pytest.mark.parametrize(
    ("asked", "kept"), [("How do I merge a stack of requests?", True), ("Can you merge !12?", False)]
)
def test_an_errand_is_no_question(thread, asked, kept):
    found = thread(
        ("ana", asked), ("ben", "You need to rebase the upper one first."), ("ana", "ok makes sense, thank you")
    )
    assert bool(found) is kept


@pytest.mark.parametrize(
    ("words", "kept"), [("Raised it to 40, thank you", True), ("Raised it to 40, still red", False)]
)
def test_who_did_as_told_and_thanks_confirms(thread, words, kept):
    assert bool(thread(("ana", FAILS), ("ben", FIX), ("ana", words))) is kept


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ("Because the proxy cuts every request at this size before the importer sees it.", True),
        ("Because Tom is ill.", False),
        ("Use the other room on Thursday, because the proxy team needs this one.", False),
    ],
)
def test_a_reason_of_the_day_explains_nothing(thread, words, kept):
    assert (
        bool(thread(("ana", "Why does the importer stop at 16 MB?"), ("ben", words), ("ana", "ah ok, thank you")))
        is kept
    )


@pytest.mark.parametrize(
    ("opening", "kept"),
    [
        ("My branch has shown a pending certificate for two hours", True),
        ("Release 4 of the chart is out for everybody", False),
    ],
)
def test_who_tells_of_their_own_situation_has_asked(thread, opening, kept):
    found = thread(("ana", opening), ("ben", "Rename the branch without underscores."), ("ana", "that worked"))
    assert bool(found) is kept


def test_a_plain_statement_answers_where_it_speaks_of_what_was_asked(thread):
    ask, told = "What do we log for deletions?", "Only the request id and the date go to the log of deletions."
    assert item(thread(("ana", ask), ("ben", told), ("ana", "makes sense, thanks")))["do"] == told
    assert (
        thread(("ana", ask), ("ben", "The cook makes only pasta and soup on days like these."), ("ana", "makes sense"))
        == []
    )


def test_the_failure_that_is_back_takes_the_answer_back(thread):
    for later, taken in (("ugh, the export died again", True), ("thanks again", False), ("lunch again?", False)):
        (signal,) = thread(("ana", FAILS), ("ben", FIX), ("ana", "that fixed it!"), ("ana", later))
        assert (signal.item == {}) is taken


def test_a_fault_the_answerer_made_and_mended_teaches_nothing(thread):
    assert (
        thread(("ana", FAILS), ("ben", "my bad, I forgot to commit `pool.py`, pushed now"), ("ana", "works again"))
        == []
    )


def rows(events):
    return signal_rows(events, {"family_id": "slack:C1:1"})


def test_the_order_in_which_events_come_changes_nothing(new_unit):
    unit = new_unit("slack:C1:1", "thread")
    for who, text in (("ana", FAILS), ("ben", FIX), ("ana", "that fixed it!"), ("cleo", "we have it too")):
        unit.add("message", text, actor=who)
    expected = rows(unit.events)
    assert "answer_accepted" in {row["kind"] for row in expected}
    assert rows(unit.events[::-1]) == expected
    assert rows([*unit.events[2:], *unit.events[:2]]) == expected


def test_the_answerer_is_the_actor_and_a_private_channel_stays_private(new_unit):
    unit = new_unit("slack:G9:1", "thread", audience="slack:G9")
    for who, text in (("ana", FAILS), ("ben", FIX), ("ana", "that fixed it!")):
        unit.add("message", text, actor=who)
    (row,) = [row for row in rows(unit.events) if row["kind"] == "answer_accepted"]
    assert (row["actor"], row["actor_class"], row["audience"]) == ("ben", "human", "slack:G9")
    assert row["quote_verified"]


def test_the_gates_admit_an_accepted_answer_and_refuse_a_withdrawn_one(new_unit):
    for later, rule in (("cheers", "admitted"), ("hm, it failed again", "no_item")):
        unit = new_unit("slack:C1:1", "thread")
        for who, text in (("ana", FAILS), ("ben", FIX), ("ana", "that fixed it!"), ("ana", later)):
            unit.add("message", text, actor=who)
        signals = [row for row in rows(unit.events) if row["kind"] == "answer_accepted"]
        assert [verdict["rule"] for verdict in admit(signals, Context())] == [rule]
