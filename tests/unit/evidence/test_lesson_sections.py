import pytest

from lorelake.evidence import authored
from lorelake.evidence.lesson_sections import extract

CAUSE = "The cache key left the tenant out, so two tenants shared one entry."
LESSON = "Never build a cache key without the tenant."


@pytest.fixture
def described(new_unit):
    def make(text, **more):
        unit = new_unit("github:acme/shop#7", "merge_request")
        unit.add("merge_request_opened", f"Fix the rates\n\n{text}", actor="ana", **more)
        return unit

    return make


@pytest.mark.parametrize(
    "heading",
    ["## Root cause\n\n", "### 1. Root Cause Analysis:\n", "**Root cause**\n\n", "Root cause: ", "**Root cause:** "],
)
def test_a_section_headed_root_cause_is_a_fact(described, heading):
    unit = described(f"Rates were mixed up.\n\n{heading}{CAUSE}\n\n## Testing\n\nI ran the whole suite on two tenants.")
    (signal,) = extract(unit.events)
    assert signal.quote == CAUSE
    assert (signal.item["do"], signal.item["kind"], signal.item["trust_basis"]) == (CAUSE, "fact", "stated")


@pytest.mark.parametrize(
    "heading",
    ["## Lessons learned", "## Lesson", "### Gotchas", "## What we learned", "## Post-mortem", "## 💡 Takeaways"],
)
def test_a_lesson_is_what_to_do_and_the_cause_beside_it_the_reason(described, heading):
    unit = described(f"## Root cause\n\n{CAUSE}\n\n{heading}\n\n- {LESSON}\n")
    (signal,) = extract(unit.events)
    assert (signal.quote, signal.item["do"], signal.item["because"]) == (LESSON, LESSON, CAUSE)
    assert signal.item["kind"] == "anti_pattern"
    ((_, start, end),) = signal.support
    assert unit.events[0].text[start:end] == CAUSE


@pytest.mark.parametrize(
    "section",
    [
        "## Root cause\n\n<!-- Describe the root cause of the defect -->\n\n## Testing\n\nI ran the whole suite.",
        "## Root cause\n\nN/A\n\n## Testing\n\nI ran the whole suite today.",
        "## Lessons learned\n\n- [ ] I wrote down what we learned\n- [x] I told the rest of the team\n",
        "## Gotchas\n\nNone that I know of.",
        "## Root cause\n\nWhat was the root cause of this defect?",
        "## Root cause\n\nPlease describe the root cause here.",
        "The root cause is still unknown to all of us here.",
        "## Lesson plans\n\nThe teacher can now edit every lesson plan.",
        "```\n## Root cause\nThe cache key left the tenant out of it.\n```",
    ],
)
def test_templates_checklists_and_other_words_are_none(described, section):
    assert extract(described(section).events) == []


def test_what_a_program_wrote_is_only_proposed(described):
    text = f"## Root cause\n\n{CAUSE}"
    by_person, by_tool = (
        described(text),
        described(f"{text}\n\n🤖 Generated with [Claude Code](https://claude.example)"),
    )
    assert extract(by_person.events)[0].item["trust_basis"] == "stated"
    assert extract(by_tool.events)[0].item["trust_basis"] == "proposed"
    by_bot = described(text, actor_class="bot")
    assert extract(by_bot.events)[0].item["trust_basis"] == "proposed"


def test_a_persons_comment_counts_and_a_sessions_text_does_not(described, new_unit):
    unit = described("Nothing more.", attributes={"files": [{"path": "app/rates.py", "hunks": []}]})
    unit.add("comment", f"**Gotcha:** {LESSON}", actor="ben")
    (signal,) = extract(unit.events)
    assert (signal.event_id, signal.item["when"]) == (unit.events[1].event_id, "changing `app/rates.py`")
    session = new_unit()
    session.add("prompt", f"## Gotchas\n\n{LESSON}")
    assert extract(session.events) == []


def test_chinese_headings_are_read(described):
    unit = described("## 根因\n\n缓存键漏了租户，两个租户共用一条记录。\n\n## 踩坑记录\n\n缓存键里永远要带上租户。")
    (signal,) = extract(unit.events)
    assert signal.item["do"] == "缓存键里永远要带上租户。"
    assert signal.item["because"] == "缓存键漏了租户，两个租户共用一条记录。"


def test_it_is_a_signal_of_kind_authored(described):
    (signal,) = authored.extract(described(f"## Gotchas\n\n{LESSON}").events)
    assert signal.kind == "authored"
