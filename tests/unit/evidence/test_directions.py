"""What a maintainer would keep of what is typed to an agent, in pairs with what looks like it and is not."""

import pytest

from lorelake.evidence import corrections, decisions_said, instructions

PAIRS = [
    ("Ensure that unknown keys in the settings are refused", "ensure the tests still pass"),
    ("Make sure every handler checks its input", "make sure to push when done"),
    ("keep our meeting notes in the tracker", "keep the notes in this PR"),
    ("let's not build the image if only the docs changed", "let's not build the image now"),
    ("run the formatter after every change", "run the formatter"),
    ("Whenever you touch the schema, regenerate the client", "whenever I touch it, it breaks"),
    ("if a test is flaky, quarantine it", "if a test is flaky, tell me"),
    ("use snake_case for column names", "use the second argument here"),
    ("avoid mocks in integration tests", "avoid it for now"),
    ("don't commit generated files", "don't commit yet"),
    ("do not log customer names", "do not modify any files"),
    ("don't put business logic in controllers", "don't put it there"),
    ("no raw SQL in views", "no errors in the log"),
    ("commit messages should start with the ticket number", "tests should pass now"),
    ("every new endpoint needs an integration test", "everything needs a restart"),
    ("all timestamps should be in UTC", "all of you should know"),
    ("only admins may delete tenants", "only you can know"),
    ("ask before you add a dependency", "did you ask before?"),
    ("the worker must not hold the lock while it sleeps", "it must be a bug in the lock"),
    ("we want migrations to be reversible", "we want to be done today"),
    ("prefer early returns", "prefer the second"),
    ("in this repo we indent with tabs", "we use the old driver but it crashes"),
    ("our commit messages are in the imperative", "our build is red"),
    ("use port 9090 because the proxy owns 8080", "use port 9090"),
    ("store keys in the vault since the disk is shared", "fix the store since it is red"),
    ("we no longer use tox", "it no longer starts"),
    ("can we push to the private mirror, don't want our notes to be public", "can we push to the private mirror"),
    ("fail with the name of the key if any key is unknown", "print the key if it is known"),
    ("we never store card numbers", "we never found out"),
    ("docs live in the repo, not in the wiki", "these live in the wiki"),
    ("as a rule, one migration a release", "the rule of the linter fired"),
    ("we deploy from main only", "do we deploy from main only?"),
    ("I prefer small commits", "I prefer that"),
    ("以后提交信息都用英文", "以后再说"),
    ("不要在控制器里写业务逻辑", "不要改这个"),
    ("每次改 schema 都要重新生成客户端", "每次都挂"),
    ("密钥必须来自保险库", "必须是缓存的问题吗"),
    ("本仓库只用 squash 合并", "这个仓库很大"),
    ("不要重试支付，因为可能重复入账", "因为什么"),
    ("確保設定檔有未知的鍵就報錯", "確保測試通過"),
    ("API 的错误一律用 JSON 返回", "把 API 的错误改成 JSON"),
]
WORK = """
fix tests|push|continue|yes|A|commit|can you also add a single retry?
what does the schema look like?|is it done yet?|add a button to the page
rename the variable to count|now write the README|update the version to 1.2.3|looks good, commit it
let's address the second finding|let's go with option 2|address #3 with a call
do the same for the other file|delete the temp file if it exists|show me all the files that use it
merge it if CI is green|fix all the lint errors|put the button next to the title
drop the column email|keep the old code for now|skip the tests for now|use the sandbox for this PR
I always forget how this works|it always fails on the second run
the docs say that you must always restart|Ben said we should never use locks
what if we always squash|if we always squashed we would lose the history
I think we could always pin the driver|not sure, but never pin the driver
you can try to always pin the driver|think step by step and always answer in JSON
keep the answer short|move the retry into helpers|修复测试|帮我看一下日志|继续|这次不要改文档
不确定，但一律重启|文档里说必须重启|如果我们决定拆分就会需要 broker
""".replace("\n", "|").split("|")


def found(unit, words, **more):
    unit.add("prompt", words, **more)
    kinds = [signal for rule in (corrections, decisions_said, instructions) for signal in rule.extract(unit.events)]
    return [signal for signal in kinds if signal.item]


@pytest.mark.parametrize(("rule", "look_alike"), PAIRS, ids=[pair[0][:30] for pair in PAIRS])
def test_what_is_to_hold_is_kept_and_its_look_alike_is_not(new_unit, rule, look_alike):
    assert found(new_unit(), rule)
    assert not found(new_unit(), look_alike)


@pytest.mark.parametrize("words", [line for line in WORK if line.strip()])
def test_the_work_of_the_moment_is_no_rule_neither_first_nor_after_an_edit(new_unit, words):
    assert not found(new_unit(), words)
    busy = new_unit()
    busy.call("c1", path="/src/store.py", text='{"old":"open(driver)","new":"lock(driver)"}')
    assert not found(busy, words)


@pytest.mark.parametrize(
    "message",
    [
        "You are an expert reviewer. Always name the line.",
        "Reply with READY only. Never add a greeting to names.",
        "只回复 READY。永远不要解释原因。",
    ],
)
def test_a_message_that_prescribes_one_answer_states_nothing(unit, message):
    assert not found(unit, message)


def test_a_file_that_the_message_points_at_makes_clear_what_this_is(new_unit):
    words = "Let's make this return the first rule if two match"
    assert not found(new_unit(), words)
    (signal,) = found(new_unit(), f"{words}\n@/home/ann/shop/app/rules.py:10-20", attributes={"cwd": "/home/ann/shop"})
    assert signal.item["applies_to"] == ["app/rules.py"]
    assert signal.item["when"] == "working on `app/rules.py`"


def test_a_file_that_the_words_name_is_what_they_apply_to(unit):
    (signal,) = found(unit, "Ensure that unknown keys in .shop/settings.json are refused")
    assert signal.item["applies_to"] == [".shop/settings.json"]


def test_a_rule_beside_a_number_of_a_list_is_taken_alone(unit):
    (signal,) = found(unit, "Let's address finding 2 and don't allow two writers at the same time.")
    assert signal.item["do"] == "and don't allow two writers at the same time."


def test_the_clause_that_directs_is_told_apart_from_what_the_speaker_saw(unit):
    (signal,) = found(unit, "We have one job for tags, but we'd also like the linter to be run for any commit.")
    assert signal.item["do"] == "but we'd also like the linter to be run for any commit."


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        ("Only admins may export, managers get a view of it", True),
        ("one file per tenant, the shared file got too big", True),
        ("none of these, keep the table in the main schema", True),
        ("每个租户一个文件，共享的太大了", True),
        ("you decide", False),
        ("I don't know, what do you suggest", False),
        ("docs/generated/", False),
        ("the second one", False),
        ("yes", False),
        ("都可以", False),
    ],
)
def test_a_free_answer_to_the_agents_question_says_what_it_is_to(new_unit, answer, kept):
    about = {"answers_question": True, "picked_option": False, "question": "Who may export?"}
    signals = instructions.extract(asked(new_unit(), answer, about))
    assert bool(signals) is kept
    assert all(signal.item["when"] == "asked: Who may export?" for signal in signals)
    assert not instructions.extract(asked(new_unit(), answer, about | {"picked_option": True}))


def asked(unit, answer, about):
    unit.add("prompt", answer, attributes=about)
    return unit.events


@pytest.mark.parametrize(("kind", "kept"), [("prompt", True), ("review_comment", True), ("message", False)])
def test_a_plain_statement_of_how_things_are_to_be_is_a_rule_where_work_is_given_and_talk_in_a_chat(unit, kind, kept):
    unit.add(kind, "Commit messages should start with the ticket number.")
    assert bool(instructions.extract(unit.events)) is kept
