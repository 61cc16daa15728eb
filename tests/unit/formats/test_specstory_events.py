from __future__ import annotations

import pytest
from specstory_samples import MODEL, REJECTED, STOP, WORDS, Story, one, texts

# --- whose words ---------------------------------------------------------------------------------------------


def test_a_plan_of_the_agents_that_a_session_begins_with_is_nobodys_words() -> None:
    story = Story().user("Implement the following plan:\n\n# Cache the rates\n\nAlways keep them for an hour.")
    story.user("Implement the following plan: cache the rates")
    told = [(event.kind, event.text[-5:]) for event in story.events()]
    assert told == [("injected", "hour."), ("prompt", "rates")]


def test_what_the_client_wrote_is_injected() -> None:
    story = Story().user(
        "<command-message>review</command-message>\n<command-name>/review</command-name>", "2026-03-02 09:00:00Z"
    )
    story.user("## Your task\n\nAlways review line by line.", "2026-03-02 09:00:00Z").agent("Reviewed.")
    story.user("<local-command-stdout>Goodbye!</local-command-stdout>").user("fix the second point")
    story.user("This session is being continued from a previous conversation that ran out of context.")
    events = story.events()
    assert texts(events, "prompt") == ["fix the second point"]
    assert len(texts(events, "injected")) == 3
    assert one(events, "compaction").actor_class == "injected"


def test_a_prompt_typed_later_than_a_command_is_a_persons() -> None:
    story = Story().user("<command-name>/clear</command-name>", "2026-03-02 09:00:00Z")
    story.user("start over", "2026-03-02 09:00:01Z")
    assert texts(story.events(), "prompt") == ["start over"]


def test_codex_texts_are_judged_by_codex_rules() -> None:
    story = Story("Codex CLI").user("# AGENTS.md instructions for /x\n\nUse tabs.").user("use uv, not pip")
    assert texts(story.events(), "prompt") == ["use uv, not pip"]


def test_the_prompts_of_a_sub_agent_are_the_agents() -> None:
    story = Story().user("go").agent("always scan the whole tree", marks=" - sidechain", model="")
    story.agent("Scanned.", marks=" - sidechain")
    events = story.events()
    assert texts(events, "prompt") == ["go"]
    task = one(events, "injected")
    assert (task.text, task.actor_class) == ("always scan the whole tree", "agent")
    assert one(events, "answer").attributes == {"model": MODEL, "sidechain": True}


def test_a_rejection_carries_the_persons_words() -> None:
    story = Story().user("deploy").bash("make deploy", REJECTED + WORDS).bash("make undeploy", REJECTED + STOP)
    story.user("[Request interrupted by user for tool use]")
    events = story.events()
    assert texts(events, "rejection") == ["use the staging bucket, never production", ""]
    assert one(events, "interrupt").actor_class == "human"
    calls = {event.call_id for event in events if event.kind == "tool_call"}
    assert {event.call_id for event in events if event.kind == "rejection"} == calls


def test_an_answer_to_the_agents_question_is_a_persons() -> None:
    asked = "**Which bucket?**\n\nOptions:\n- **staging** - safe\n- **production**\n\n**Answer:** "
    for words, picked in (("staging", True), ("neither, make a new one", False)):
        event = one(Story().tool("AskUserQuestion", asked + words, "generic").events(), "prompt")
        assert (event.text, event.actor_class) == (words, "human")
        assert event.attributes["picked_option"] is picked


# --- calls ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("agent", "output", "failed", "code"),
    [
        ("Claude Code", "Exit code 2\nno", True, 2),
        ("Claude Code", "ok", False, None),
        ("Claude Code", "<tool_use_error>Sibling tool call errored</tool_use_error>", True, None),
        ("Cursor CLI", "ok", None, None),
    ],
)
def test_results(agent: str, output: str, failed: bool | None, code: int | None) -> None:
    events = Story(agent).bash("make x", output).events()
    result = one(events, "tool_result")
    assert (result.text, result.is_error, result.exit_code, result.tool) == (output, failed, code, "Bash")


def test_commands_paths_and_outputs_of_the_shapes_a_block_takes() -> None:
    story = Story().bash("make test", "a\n```text\nb\n```\nc")
    story.tool("Bash", "Two\n\n```bash\ncd x\nmake\n```\n\n```text\nok\n```")
    story.tool("Read", " `./src/a.py`\n\n```text\n1→x\n```", "read")
    story.tool("Edit", "\n```text\nThe file /r/src/b.py has been updated successfully.\n```", "write")
    story.tool("Write", "\n```yaml\nname: CI\n```\n\n```text\nFile created successfully at: /r/ci.yml\n```", "write")
    story.tool("mcp__x", "\n**Input:**\n\n- a: `1`\n\n**Error:**\n\n```\nrefused\n```", "unknown")
    story.bash("make quiet", None)
    events = story.events()
    calls = [(event.command, event.path) for event in events if event.kind == "tool_call"]
    assert calls == [
        ("make test", None), ("cd x\nmake", None), (None, "src/a.py"), (None, "/r/src/b.py"), (None, "/r/ci.yml"),
        (None, None), ("make quiet", None),
    ]  # fmt: skip
    results = [event for event in events if event.kind == "tool_result"]
    assert [event.text for event in results[:3]] == ["a\n```text\nb\n```\nc", "ok", "1→x"]
    assert (results[-1].text, results[-1].is_error) == ("refused", True)


def test_thinking_is_no_answer() -> None:
    story = Story().agent("<think><details><summary>Thought Process</summary>\nnever use pip\n</details></think>")
    assert not story.agent("Said.").events()[0].text.startswith("never")
    assert texts(story.events(), "answer") == ["Said."]
