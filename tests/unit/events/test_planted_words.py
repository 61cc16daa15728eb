"""The same directive planted in every place of a transcript where nobody says it, and once as a person's own words.

Each place gets a word of its own, so that what becomes an item tells where it was taken from. The files go through
intake, events, signals and gates: whoever's rule it was to tell the words apart, only the person's may be left.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lorelake.evidence import days as evidence_days
from lorelake.evidence.gates import admit
from lorelake.formats.record import Capture
from lorelake.lake import frame, read_table, write_table
from lorelake.tables import LEDGER, SESSIONS, SIGNALS

sys.path.insert(0, str(Path(__file__).parents[1] / "formats"))  # transcripts of each agent, written by hand

import claude_code_samples
import copilot_samples
import gemini_samples
import github_samples
import gitlab_samples
import opencode_samples
import slack_samples
import specstory_samples
import test_aider as aider_samples
import test_codex as codex_samples

DIRECTIVES = {
    "always": "Always rebuild the {0} index before {0} deploys, since {0} readers keep old {0} rows.",
    "decided": "We decided to use {0} instead of {0}lite for every {0} job in the {0} queue.",
    "never": "Never call {0} from {0} handlers, because {0} calls block the {0} loop.",
    "zh": "以后一律用 {0} 处理 {0} 队列,因为旧的 {0} 会阻塞 {0} 任务。",
}
"""By cue; `{0}` is the word that tells the place. It stands so often that no two places are an echo of each other."""

OWN = "amethyst"
Plant = Callable[[str], str]


class Planted:
    """Gives out the directive with a new word for each place, and says whose word is whose."""

    def __init__(self, directive: str) -> None:
        self.directive, self.places = directive, dict[str, str]()

    def __call__(self, place: str) -> str:
        word = OWN if place == "own" else f"mineral{len(self.places):02d}x"
        self.places[word] = place
        return self.directive.format(word)

    def of(self, texts: list[str]) -> set[str]:
        """The places whose words stand in texts."""
        return {place for word, place in self.places.items() if any(word in text for text in texts)}


def boot(words: str) -> str:
    return f"# Rules of the house\n\n- {words}\n- Sign your commits.\n"


def pasted(say: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    """(place, prompt) of what a person puts into a prompt without saying it themselves."""
    yield "code block", f"why does this fail?\n\n```\n# {say('code block')}\nrun()\n```\n"
    yield "quoted line", f"what do you make of this review?\n\n> {say('quoted line')}\n"
    yield "quoted words", f'the old README says "{say("quoted words")}" and I wonder who wrote it'
    yield "pasted plan", f"Implement the following plan:\n\n# The queue\n\n## Steps\n\n{say('pasted plan')}\n"
    yield (
        "pasted document",
        f"# Queue\n\n## Goal\n\nA queue.\n\n## Rules\n\n{say('pasted document')}\n\n## Later\n\nNo.",
    )
    yield "pasted chat", f"look what they wrote:\n\n[10:41 AM] Bo Lind\n{say('pasted chat')}\n"
    yield (
        "pasted mail",
        f"see below\n\nOn Mon, 2 Mar 2026 at 09:12, Bo Lind <bo@example.org> wrote:\n{say('pasted mail')}\n",
    )
    yield (
        "pasted log",
        "here is the log:\n\n2026-03-02 09:00:01 INFO worker started\n"
        f"2026-03-02 09:00:02 WARN {say('pasted log')}\n2026-03-02 09:00:03 INFO worker stopped\n",
    )
    yield "pasted feedback", f"please fix the review feedback:\n\n**High severity**\n\n{say('pasted feedback')}\n"
    yield "table", f"compare these\n\n| rule | who |\n|---|---|\n| {say('table')} | Bo |\n"


def claude_code(say: Planted) -> list[tuple[str, bytes]]:
    """A session and its sub-agent."""
    s = claude_code_samples.Transcript()
    s.user("look at the queue")
    reminder = f"<system-reminder>\nContents of CLAUDE.md:\n\n{boot(say('boot file in a reminder'))}</system-reminder>"
    s.user(f"{reminder}and at the worker")
    s.user(say("client's own record"), isMeta=True)
    s.user("<command-message>review</command-message>\n<command-name>/review</command-name>")
    s.user(f"Review as follows. {say('slash command')}", isMeta=True)
    s.user(f"<local-command-stdout>{say('output of a local command')}</local-command-stdout>")
    s.user(f"<bash-stdout>{say('output of a shell line')}</bash-stdout>")
    s.user(f"<user-prompt-submit-hook>{say('hook in a record')}</user-prompt-submit-hook>")
    hook = {"type": "hook_additional_context", "hookName": "SessionStart", "content": [say("hook in an attachment")]}
    s.add("attachment", attachment=hook)
    memory = {
        "type": "nested_memory",
        "path": "CLAUDE.md",
        "content": {"path": "CLAUDE.md", "content": boot(say("nested"))},
    }
    s.add("attachment", attachment=memory)
    s.assistant({"type": "thinking", "thinking": say("thoughts")}, {"type": "text", "text": say("answer")})
    s.call("Read", {"file_path": "/home/mara/harbour-api/CLAUDE.md"}, "toolu_r")
    s.result(boot(say("file that was read")), "toolu_r")
    s.call("Bash", {"command": f"echo '{say('command')}'"}, "toolu_b")
    s.result(say("output of a command"), "toolu_b")
    s.call("Task", {"description": "scan", "prompt": say("task of a sub-agent")}, "toolu_t")
    s.result(say("report of a sub-agent"), "toolu_t")
    s.call("Edit", {"file_path": "q.py", "old_string": "a", "new_string": f"# {say('edit')}"}, "toolu_e")
    s.result(f"The user doesn't want to proceed, says the page: {say('stock sentence in a result')}", "toolu_e")
    question = "Which queue?"
    options = [{"label": say("option that was picked"), "description": "x"}, {"label": "other", "description": "y"}]
    s.call("AskUserQuestion", {"questions": [{"question": question, "options": options}]}, "toolu_q")
    s.result("answered", "toolu_q", toolUseResult={"answers": {question: options[0]["label"]}})
    fork = s.last
    s.user(say("rewound turn"))
    s.assistant({"type": "text", "text": "Done."})
    s.user("leave the queue for now", parent=fork)
    typed = {"sessionId": claude_code_samples.SESSION, "timestamp": "2026-03-02T09:10:01.000Z"}
    s.plain("queue-operation", operation="enqueue", content=say("withdrawn from the queue"), **typed)
    s.plain("queue-operation", operation="popAll", **typed | {"timestamp": "2026-03-02T09:10:02.000Z"})
    s.user(f"This session is being continued from a previous conversation.\n\n{say('summary')}", isCompactSummary=True)
    s.user(f"This session is being continued from a previous conversation.\n\n{say('summary without its mark')}")
    for _, text in pasted(say):
        s.assistant({"type": "text", "text": "Go on."})
        s.user(text)
    s.user(say("own"))
    child = claude_code_samples.Transcript(agent="a1f")
    child.user(say("prompt of a sub-agent"))
    return [("s.jsonl", s.bytes()), ("subagents/agent-a1f.jsonl", child.bytes())]


def codex(say: Planted) -> list[tuple[str, bytes]]:
    s = codex_samples.Rollout()
    s.item("message", role="developer", content=[{"type": "input_text", "text": say("developer")}])
    for words in (
        f"# AGENTS.md instructions for /x\n\n{boot(say('boot file'))}",
        f"<user_instructions>{say('config')}</user_instructions>",
    ):
        s.item("message", role="user", content=[{"type": "input_text", "text": words}])
    s.said("look at the queue")
    s.item("message", role="user", content=[{"type": "input_text", "text": say("unknown injected text")}])
    s.said(f"# Context from my IDE setup:\n\n## Open\n\n{say('open file')}\n\n## My request for Codex:\nand the worker")
    s.item("reasoning", summary=[{"type": "summary_text", "text": say("reasoning")}])
    s.item("message", role="assistant", content=[{"type": "output_text", "text": say("answer")}])
    s.event("agent_message", message=say("agent's message"))
    s.call({"cmd": f"echo '{say('command')}'"}, f"Exit code: 0\nOutput:\n{say('output')}")
    s.add("compacted", {"message": say("summary"), "replacement_history": [{"type": "message", "role": "user",
          "content": [{"type": "input_text", "text": say("history of a summary")}]}]})  # fmt: skip
    for _, text in pasted(say):
        s.said(text)
    s.said(say("rolled back"))
    s.event("thread_rolled_back", num_turns=1)
    s.said(say("own"))
    child = codex_samples.Rollout("019c0000-0000-7000-8000-00000000000b", thread_source="subagent")
    child.said(say("prompt of a sub-agent"))
    return [("rollout-a.jsonl", s.bytes()), ("rollout-b.jsonl", child.bytes())]


def copilot_cli(say: Planted) -> list[tuple[str, bytes]]:
    s = copilot_samples.Log()
    s.said("look at the queue", transformedContent=f"<reminder>{say('transformed')}</reminder> look at the queue")
    s.said(f"and the worker <system_reminder>{say('reminder')}</system_reminder>")
    s.add("system.message", content=say("system"))
    s.add("skill.invoked", name="review", content=say("skill"))
    s.add("session.handoff", summary=say("handoff"))
    s.add("hook.end", hookType="sessionStart", output={"additionalContext": say("hook")})
    s.add("assistant.message", content=say("answer"), toolRequests=[])
    s.call("bash", {"command": f"echo '{say('command')}'"})
    s.result(say("output"))
    s.call("view", {"path": "AGENTS.md"}, "call_2")
    s.result(boot(say("file that was read")), "call_2")
    s.call("ask_user", {"question": "Which?", "choices": [say("option")]}, "call_3")
    s.result("User selected: " + say("option that was picked"), "call_3")
    s.said(say("prompt of a sub-agent"), agentId="a1")
    s.add("session.compaction_complete", summaryContent=say("summary"))
    for _, text in pasted(say):
        s.said(text)
    s.said(say("own"))
    return [("events.jsonl", s.bytes().replace(b"2026-07-05", b"2026-03-05"))]


def gemini_cli(say: Planted) -> list[tuple[str, bytes]]:
    s = gemini_samples.Chat()
    s.add("user", f"<session_context>\n{boot(say('context'))}</session_context>")
    s.add("user", f"look at the queue\n\n<hook_context>{say('hook')}</hook_context>")
    s.add("user", [{"text": "and @GEMINI.md"}, {"text": "--- Content from referenced files ---"},
                   {"text": f"\nContent from @GEMINI.md:\n{boot(say('referenced file'))}"}])  # fmt: skip
    s.add("info", say("client"))
    s.add("gemini", say("answer"), thoughts=[{"subject": say("thought"), "description": say("thought told")}])
    s.call("read_file", {"file_path": "GEMINI.md"}, {"output": boot(say("file that was read"))})
    s.add("user", say("rewound turn"))
    s.log.append({"$rewindTo": s.messages[-1]["id"]})
    for _, text in pasted(say):
        s.add("user", text)
    summary = {"id": "s", "type": "user", "content": [{"text": f"<state_snapshot>{say('summary')}</state_snapshot>"}]}
    s.log.append({"$set": {"messages": [s.messages[0], summary], "lastUpdated": "2026-01-15T09:30:09Z"}})
    s.add("user", say("own"))
    return [("tmp/harbour/chats/session-2026-01-15T20-51-c40e0000.jsonl", s.lines())]


def opencode(say: Planted) -> list[tuple[str, bytes]]:
    s = opencode_samples.Store().said("look at the queue").part("text", text=say("synthetic"), synthetic=True)
    s.answered(say("answer"))
    s.message("assistant").tool("bash", {"command": f"echo '{say('command')}'"}, output=say("output"))
    s.tool("read", {"filePath": "AGENTS.md"}, output=boot(say("file that was read")))
    s.tool("task", {"prompt": say("task of a sub-agent")}, output=say("report of a sub-agent"))
    s.message("user").part("compaction", auto=True)
    s.message("assistant", summary=True).part("text", text=say("summary"))
    for _, text in pasted(say):
        s.said(text)
    s.said(say("own")).said(say("taken back"))
    s.info |= {"revert": {"messageID": s.messages[-1]["id"]}}
    child = opencode_samples.Store("ses_0b2", parentID=s.session).said(say("prompt of a sub-agent"))
    return [(name, data) for store in (s, child) for name, data in store.files().items()]


def specstory(say: Planted) -> list[tuple[str, bytes]]:
    s = specstory_samples.Story().user("look at the queue")
    s.user("<command-name>/review</command-name>", "2026-03-02 09:00:30Z")
    s.user(say("slash command"), "2026-03-02 09:00:30Z").agent(say("answer"))
    s.bash(f"echo '{say('command')}'", say("output"))
    s.user(f"<local-command-stdout>{say('output of a local command')}</local-command-stdout>")
    s.user(f"This session is being continued from a previous conversation.\n\n{say('summary')}")
    s.user(f"<system-reminder>{say('reminder')}</system-reminder>")
    s.agent(say("prompt of a sub-agent"), marks=" - sidechain", model="")
    for _, text in pasted(say):
        s.user(text)
    s.user(say("own"))
    return [(".specstory/history/a.md", s.bytes())]


def aider(say: Planted) -> list[tuple[str, bytes]]:
    s = aider_samples.History().start().said("look at the queue").answered(say("answer"))
    s.told(say("client"), f"Add {say('file name')} to the chat? (Y)es/(N)o [Yes]: y")
    s.said(f"/add {say('argument of a command')}").said(f"/run echo '{say('command')}'").told(say("output"))
    for _, text in pasted(say):
        s.said(text.rstrip())
    s.said(say("own"))
    return [(".aider.chat.history.md", s.bytes())]


FORMATS = (claude_code, codex, copilot_cli, gemini_cli, opencode, specstory, aider)


def github(say: Planted) -> Capture:
    g, robot = github_samples, {"login": "scan-it", "id": 44, "type": "Bot"}
    listed = {"login": "coderabbitai", "id": 45, "type": "User"}
    return g.file([
        g.pull(), g.remark(1, say("bot"), 1, user=robot), g.remark(2, say("bot with a person's mark"), 2, user=listed),
        g.remark(3, f"{say('signed by a program')}\n\n🤖 Generated with Claude Code", 3),
        g.remark(4, f"**High Severity**\n\n{say('finding of a program')}\n\n<!-- BUGBOT_BUG_ID: 1 -->", 4),
        g.remark(5, f"> {say('quoted line')}\n\nnot sure I follow", 5),
        g.remark(6, f"why?\n\n```suggestion\n# {say('suggestion')}\n```", 6),
        g.comment(7, say("bot's comment"), 7, user=robot),
        g.comment(8, f"<details><summary>log</summary>\n\n```\n{say('log')}\n```\n\n</details>", 8),
        g.remark(9, say("own"), 9),
    ])  # fmt: skip


def gitlab(say: Planted) -> Capture:
    g = gitlab_samples
    return g.export([g.request(
        g.note(say("system note"), 1, system=True),
        g.note(say("bot"), 2, by=9, author={"name": "renovate-bot"}),
        g.note(f"> {say('quoted line')}\n\nreally?", 3),
        g.note(f"{say('signed by a program')}\n\n🤖 Generated with [Claude Code](https://claude.ai/code)", 4),
        g.note(f"```\n{say('code block')}\n```", 5),
        g.on_line(say("own"), 7, 6),
    )])  # fmt: skip


def slack(say: Planted) -> Capture:
    s = slack_samples
    return s.export({
        "channels.json": [s.PUBLIC], "users.json": [{"id": "U1", "name": "ana"}, {"id": "U2", "name": "bo"}],
        "deploys/2026-03-02.json": [
            s.message("how shall we do the queue", "1772442000.000100"),
            {"type": "message", "subtype": "bot_message", "username": "s", "text": say("bot"), "ts": "1772442001.0001"},
            s.message(say("app under a person's name"), "1772442002.000100", bot_id="B7"),
            s.message(f"&gt; {say('quoted message')}\nsays who?", "1772442003.000100"),
            s.message(f"```{say('code block')}```", "1772442004.000100"),
            s.message("look", "1772442005.000100", attachments=[{"is_msg_unfurl": True, "text": say("forwarded")}]),
            s.message(f"Bo wrote “{say('quoted words')}” and left", "1772442006.000100"),
            s.message(say("own"), "1772442007.000100", user="U2"),
        ],
    })  # fmt: skip


def items(lake: Any) -> tuple[list[str], list[str]]:
    """(words of the items that rules saw, words of those that passed the gates)."""
    sessions = lake.sessions()
    write_table(SESSIONS, sessions, lake.lake.table(SESSIONS))
    evidence_days.derive_days(lake.lake, sessions)
    signals = read_table(SIGNALS, lake.lake.days(SIGNALS))
    context = evidence_days.gate_context(lake.lake, sessions, frame(LEDGER, []), signals)
    rows = signals.to_dicts()
    seen = {row["signal_id"]: row["payload"] for row in rows if json.loads(row["payload"])["item"]}
    admitted = [seen[row["signal_id"]] for row in admit(rows, context) if row["admitted"]]
    return list(seen.values()), admitted


@pytest.mark.parametrize("directive", DIRECTIVES)
@pytest.mark.parametrize("transcript", FORMATS, ids=lambda made: made.__name__)
def test_of_a_session_only_what_the_person_says_becomes_an_item(nights, tmp_path, transcript, directive) -> None:
    say = Planted(DIRECTIVES[directive])
    for name, data in transcript(say):
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    lake = nights()
    lake.folder(tmp_path / "in")
    assert lake.quarantine().is_empty()
    seen, admitted = items(lake)
    assert len(say.places) > 12
    assert say.of(seen) == {"own"}
    assert say.of(admitted) == {"own"}


@pytest.mark.parametrize("directive", DIRECTIVES)
@pytest.mark.parametrize("team", [github, gitlab, slack], ids=lambda made: made.__name__)
def test_of_a_teams_talk_only_what_a_person_says_becomes_an_item(nights, team, directive) -> None:
    say = Planted(DIRECTIVES[directive])
    lake = nights()
    lake.night([(team.__name__, team(say))])
    seen, admitted = items(lake)
    assert say.of(seen) == {"own"}
    assert say.of(admitted) == {"own"}
