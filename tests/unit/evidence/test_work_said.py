import pytest

from lorelake.evidence.work_said import blockers, commitments, ownership


@pytest.fixture
def talk(new_unit):
    def build(*messages, **more):
        unit = new_unit("slack:C1:1", "thread")
        for who, text in messages:
            unit.add("message", text, actor=who, **more)
        return unit.events

    return build


def seen(found):
    (signal,) = found
    assert signal.item == {}
    return signal.seen


@pytest.mark.parametrize(
    ("words", "what", "due"),
    [
        ("@Ana Cole I'll write the migration by Friday", "write the migration by Friday", "2026-03-06"),
        ("ok, and I'm going to move the runner", "move the runner", None),
        ("We will release a patch within the next 2 days.", "release a patch within the next 2 days", "2026-03-04"),
        ("we are going to split the chart next week", "split the chart next week", None),
        ("我来修这个导出任务", "修这个导出任务", None),
        ("我明天把索引补上", "索引补上", "2026-03-03"),
    ],
)
def test_who_says_they_will_do_something_commits(talk, words, what, due):
    found = seen(commitments(talk(("ben", words))))
    assert (found["person"], found["object"], found["due"], found["resolved_by"]) == ("ben", what, due, None)


@pytest.mark.parametrize(
    "words",
    [
        "will you write the migration?",
        "I'll be happy to help with that",
        "if it fails I'll write the migration",
        "maybe I'll write the migration",
        "you will write the migration",
        "we will use the new signer for all builds",
        "we will need a bigger disk",
        "we're going to drop the old mirror",
        "I'll write the migration if the tests pass",
        "> I'll write the migration",
        "如果有空我来修这个任务",
    ],
)
def test_conditions_questions_politeness_and_decisions_are_no_commitment(talk, words):
    assert commitments(talk(("ben", words))) == []


def test_a_word_to_an_agent_is_no_commitment(unit):
    unit.add("prompt", "I'll write the migration by Friday")
    assert commitments(unit.events) == []


def test_a_bots_word_is_no_commitment(talk):
    assert commitments(talk(("ci", "I'll write the migration by Friday"), actor_class="bot")) == []


@pytest.mark.parametrize(
    ("who", "later", "resolved"),
    [
        ("ben", "done", True),
        ("ben", "the migration is merged", True),
        ("ana", "I saw that the migration is merged", True),
        ("ana", "the calendar is fixed", False),
        ("ben", "the migration is not merged", False),
        ("ben", "is the migration merged?", False),
        ("ben", "修好了", True),
    ],
)
def test_a_commitment_that_was_kept_names_the_event_that_says_so(talk, who, later, resolved):
    events = talk(("ben", "I'll write the migration"), (who, later))
    assert (seen(commitments(events))["resolved_by"] == events[1].event_id) is resolved


@pytest.mark.parametrize(
    ("words", "person", "named", "what", "since"),
    [
        ("I'm taking over the billing job from Thursday", "ben", "I", "the billing job", "2026-03-05"),
        ("we own the import service", "ben", "we", "the import service", "2026-03-02"),
        ("@Priya will take over the billing worker", None, "@Priya", "the billing worker", "2026-03-02"),
        ("The import service is now owned by the data team", None, "the data team", "The import service", "2026-03-02"),
        ("I'm handing the release script over to Omar", None, "Omar", "the release script", "2026-03-02"),
        ("导出服务由小林负责", None, "小林", "导出服务", "2026-03-02"),
        ("账单任务交给小林了", None, "小林", "账单任务", "2026-03-02"),
    ],
)  # fmt: skip
def test_who_owns_or_takes_over_what(talk, words, person, named, what, since):
    found = seen(ownership(talk(("ben", words))))
    assert (found["person"], found["named"], found["since"]) == (person, named, since)
    assert what is None or found["object"] == what


@pytest.mark.parametrize(
    ("words", "what", "since"),
    [
        ("I own the move to OIDC and will have it done by Friday.", "the move to OIDC", "2026-03-02"),
        ("I'm taking over the exports until Friday", "the exports", "2026-03-02"),
        ("I'm taking over the exports from Friday", "the exports", "2026-03-06"),
        ("I am responsible for exports and imports", "exports and imports", "2026-03-02"),
    ],
)
def test_a_deadline_is_no_beginning(talk, words, what, since):
    found = seen(ownership(talk(("ben", words))))
    assert (found["object"], found["since"]) == (what, since)


@pytest.mark.parametrize(
    "words",
    [
        "who owns the import service?",
        "nobody owns the import service",
        "it takes over an hour",
        "maybe Omar is responsible for the charts",
        "hand it over to somebody",
        "if Omar takes over the charts we are fine",
    ],
)
def test_nobody_in_particular_owns_nothing(talk, words):
    assert ownership(talk(("ben", words))) == []


@pytest.mark.parametrize(
    ("words", "what", "on"),
    [
        ("The release is still blocked by the missing certificate", "The release", "the missing certificate"),
        ("I'm waiting for access to the bucket", None, "access to the bucket"),
        ("Blocked on the legal review", None, "the legal review"),
        ("we can't merge this until the schema is approved", "merge this", "the schema is approved"),
        ("the missing index is blocking the release", "the release", "the missing index"),
        ("发布被证书卡住了", "发布", "证书"),
    ],
)
def test_what_is_stuck_and_on_what(talk, words, what, on):
    found = seen(blockers(talk(("ben", words))))
    assert (found["object"], found["on"], found["since"]) == (what, on, "2026-03-02")


@pytest.mark.parametrize(
    "words",
    [
        "we are not blocked on it",
        "are we blocked on the legal review?",
        "the thread is blocked on a lock",
        "the request is blocked by the firewall",
        "if we are blocked by the review we wait",
    ],
)
def test_programs_that_block_and_denials_are_no_blocker(talk, words):
    assert blockers(talk(("ben", words))) == []


@pytest.mark.parametrize(("later", "resolved"), [("got access, all good", True), ("the calendar is merged", False)])
def test_a_blocker_that_is_gone_names_the_event_that_says_so(talk, later, resolved):
    events = talk(("ben", "I'm waiting for access to the bucket"), ("ana", later))
    assert (seen(blockers(events))["resolved_by"] == events[1].event_id) is resolved


def test_each_quote_is_its_sentence(talk):
    events = talk(("ben", "Hi. I'll write the migration. We are blocked by the missing certificate."))
    assert [signal.quote for signal in commitments(events)] == ["I'll write the migration."]
    assert [signal.quote for signal in blockers(events)] == ["We are blocked by the missing certificate."]
