"""From the turns of a SpecStory file to events.

The longest state of the file counts. A state that shares no turn and no prompt with it is another part of the
session, and counts too. A tool's result stands in the call's own block; whether it failed is only in its text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from lorelake.formats import claude_code_texts, codex_events
from lorelake.formats.record import Event, Unit, UnitRecord, canonical, in_order
from lorelake.formats.transcripts import cut, latest, typed

SESSION = "session"
"""Type of the record that lists the turns of one state of the file."""

_BLOCK = re.compile(
    r"^<tool-use data-tool-type=\"(?P<type>[^\"\n]*)\" data-tool-name=\"(?P<name>[^\"\n]*)\">"
    r"(?P<inner>.*?)(?:^</details></tool-use>[ \t]*$|^</tool-use>[ \t]*$|\Z)"
    r"|^<think>.*?(?:</think>[ \t]*$|\Z)",
    re.MULTILINE | re.DOTALL,
)
_SUMMARY = re.compile(r"\s*(?:<details>)?\s*<summary>(?P<summary>.*?)</summary>[ \t]*\n?", re.DOTALL)
_FILE = re.compile(r"• (?:Read|Edit|Write|Create|Delete) file: (?P<path>\S.*?)\s*\Z")
_DETAILS_END = re.compile(r"\s*</details>\s*\Z")
_STATED = re.compile(r"^\*\*(?P<what>Result|Error):\*\*\s*^(?P<fence>`{3,})[ \t]*\n", re.MULTILINE)
_OUTPUT = re.compile(r"^(?P<fence>`{3,})text[ \t]*\n", re.MULTILINE)
_INPUT_FENCE = re.compile(r"\s*^(?P<fence>`{3,})(?P<language>[\w+-]*)[ \t]*\n", re.MULTILINE)
_ANSWER = re.compile(r"^\*\*Answer:\*\* (?P<answer>.+)\Z", re.MULTILINE | re.DOTALL)
_OPTION = re.compile(r"^- \*\*(?P<label>.+?)\*\*(?: - |$)", re.MULTILINE)
_INLINE = re.compile(r"(?:^|[ \t])`(?P<words>[^`\n]+)`[ \t]*$", re.MULTILINE)
_PATH = re.compile(r"(?:\A| path )[ \t]*`(?P<path>[^`\n]+)`")
_WRITTEN = re.compile(r"The file (?P<edited>\S.*?) has been updated|File created successfully at: (?P<made>\S.*)")
_COMMAND = re.compile(r"\s*<command-(?:name|message)>")
_PLAN = re.compile(r"Implement the following plan:\n\n# ")
"""How Claude Code hands a plan of the agent's on to a session without the talk that led to it."""
_QUESTION_TOOL = "AskUserQuestion"


class _Value(msgspec.Struct):
    """A turn's value."""

    text: str = ""
    agent: str = ""
    role: str = ""
    model: str | None = None
    time: str | None = None
    sidechain: bool = False
    queued: bool = False


class _Listed(msgspec.Struct):
    """The value of a `session` record, as far as it decides anything."""

    turns: list[str] = []


class _Item(msgspec.Struct):
    record: UnitRecord
    value: _Value

    def event(self, part: str, kind: str, actor_class: str, text: str, **more: Any) -> Event:
        alias = "" if actor_class in ("human", "tool") else self.value.agent
        return Event(
            self.record.id, part, self.record.ts, more.pop("actor_alias", alias), actor_class, kind, text,
            self.record.source_uri, self.record.first_kept, **more,
        )  # fmt: skip


def agent_of(unit: Unit) -> str | None:
    """The agent that the unit's records name; where captures disagree, the first by name."""
    names = {record.value.get("agent") for record in unit.records if isinstance(record.value, dict)}
    return min((name for name in names if isinstance(name, str) and name), default=None)


def events(unit: Unit) -> list[Event]:
    """The events of one session, in the order of the file."""
    found: list[Event] = []
    before: _Item | None = None
    for item in _items(unit):
        if item.value.role == "user" and not item.value.sidechain:
            found.extend(_said(item, before))
        elif item.value.role == "recap":
            found.append(item.event("text", "injected", "injected", item.value.text))
        else:
            found.extend(_answered(item))
        before = item
    return found


def _items(unit: Unit) -> list[_Item]:
    """The turns that count, each once."""
    records = latest(unit.records)
    turns = {record.id: record for record in records if record.type != SESSION}
    listed = [typed(record.value, _Listed) for record in records if record.type == SESSION]
    lists = [item.turns for item in listed if item is not None]
    chosen = _chosen(lists, turns) if lists else in_order(turns.values())
    return [_Item(record, typed(record.value, _Value) or _Value()) for record in chosen]


def _chosen(lists: Sequence[list[str]], turns: dict[str, UnitRecord]) -> list[UnitRecord]:
    """The longest state, and every other that shares nothing with what was taken before it.

    Of two states with as many turns the one that says more is the later.
    """
    said = {record.id: len(canonical(record.value)) for record in turns.values()}
    order = sorted(lists, key=lambda ids: (-len(ids), -sum(said.get(turn, 0) for turn in ids), ids))
    taken: set[str] = set()
    parts: list[list[UnitRecord]] = []
    for listed in order:
        here = [turns[turn] for turn in dict.fromkeys(listed) if turn in turns]
        marks = {mark for record in here for mark in _marks(record)}
        if here and taken.isdisjoint(marks):
            parts.append(here)
            taken |= marks
    return [record for part in sorted(parts, key=lambda part: (part[0].ts, part[0].id)) for record in part]


def _marks(record: UnitRecord) -> Iterator[str]:
    """What a turn is known by in another state: a file of another version may state no times, and one that was cut
    may hold half a prompt."""
    yield record.id
    value = typed(record.value, _Value)
    if value and value.role == "user":
        if value.time:
            yield f"at {value.time}"
        if value.text.strip():
            yield f"said {value.text.strip()}"


def _said(item: _Item, before: _Item | None) -> Iterator[Event]:
    """A person's words, apart from what the agent's client put there."""
    for number, part in enumerate(_parts(item, before)):
        name = f"text:{number}"
        if part.kind == "interrupt":
            yield item.event(name, "interrupt", "human", "", attributes={"marker": part.text})
        elif part.kind != "prompt":
            yield item.event(name, part.kind, "injected", part.text)
        elif item.value.queued:
            yield item.event(name, "queued_prompt", "human", part.text, attributes={"never_sent": True})
        else:
            yield item.event(name, "prompt", "human", part.text)


def _parts(item: _Item, before: _Item | None) -> Iterator[claude_code_texts.Part]:
    if _expands(item, before) or _PLAN.match(item.value.text):
        yield claude_code_texts.Part("injected", item.value.text)
    elif item.value.agent == codex_events.AGENT:
        for _, words, human in codex_events.user_parts(item.value.text):
            yield claude_code_texts.Part("prompt" if human else "injected", words)
    else:
        yield from claude_code_texts.user_parts(item.value.text)


def _expands(item: _Item, before: _Item | None) -> bool:
    """Whether this is the text behind a slash command: the mark that says so in the transcript is lost here, but it
    stands in the same second, and nobody types a second prompt that fast."""
    return (
        before is not None
        and before.value.role == "user"
        and item.value.time is not None
        and item.value.time == before.value.time
        and _COMMAND.match(before.value.text) is not None
    )


def _answered(item: _Item) -> Iterator[Event]:
    text = item.value.text
    about: dict[str, Any] = {"model": item.value.model}
    if item.value.sidechain:
        about["sidechain"] = True
    words: list[str] = []
    calls: list[re.Match[str]] = []
    start = 0
    for block in _BLOCK.finditer(text):
        words.append(text[start : block.start()])
        start = block.end()
        if block["name"] is not None:
            calls.append(block)
    words.append(text[start:])
    said = "\n\n".join(piece.strip() for piece in words if piece.strip(" \n-"))
    if said and item.value.sidechain and not item.value.model and not calls:
        # The task a sub-agent was given: words of the agent that called it, never a person's.
        yield item.event("answer", "injected", "agent", said, attributes=about)
    elif said:
        yield item.event("answer", "answer", "agent", said, attributes=about)
    for number, block in enumerate(calls):
        yield from _called(item, number, block)


def _called(item: _Item, number: int, block: re.Match[str]) -> Iterator[Event]:
    tool = block["name"]
    shell = block["type"] == "shell"
    inner = _DETAILS_END.sub("", block["inner"].removeprefix("<details>"))
    summary = _SUMMARY.match(inner)
    given, output, stated = _parted(inner[summary.end() :] if summary else inner)
    command = _command(given) if shell else None
    path = _path(block["type"], summary["summary"] if summary else "", given, output or "")
    call_id = f"{item.record.id}:{number}"
    common: dict[str, Any] = {"tool": tool, "call_id": call_id}
    yield item.event(
        f"tool_use:{number}", "tool_call", "agent", command or cut(given.strip()),
        command=command, path=path, **common,
    )  # fmt: skip
    if tool == _QUESTION_TOOL and (answer := _ANSWER.search(given)) is not None:
        yield _answer(item, number, given[: answer.start()], answer["answer"].strip(), call_id)
    elif output is not None:
        yield _result(item, number, output, stated, shell, common)


def _answer(item: _Item, number: int, asked: str, words: str, call_id: str) -> Event:
    """A person's answer to the agent's question. An option that was picked is the agent's wording."""
    labels = {match["label"] for match in _OPTION.finditer(asked)}
    picked = words in labels or all(piece in labels for piece in words.split(", "))
    about = {"answers_question": True, "question": asked.strip(), "picked_option": picked}
    return item.event(f"answer:{number}", "prompt", "human", words, call_id=call_id, attributes=about)


def _result(item: _Item, number: int, output: str, stated: bool | None, shell: bool, common: dict[str, Any]) -> Event:
    name = f"tool_result:{number}"
    kind, words = claude_code_texts.verdict(output, stated is not False, None)
    if kind == "rejection":
        return item.event(name, kind, "human", words, is_error=True, attributes={"prefix": False}, **common)
    if kind == "denial":
        return item.event(name, kind, "system", words, is_error=True, **common)
    code = claude_code_texts.exit_code(output) if shell else None
    failed = stated
    if code is not None or output.startswith("<tool_use_error>"):
        failed = code != 0
    elif failed is None and shell and item.value.agent == "claude_code":
        # Claude Code opens the result of every command that failed with its exit code.
        failed = False
    return item.event(name, kind, "tool", output, is_error=failed, exit_code=code, actor_alias=common["tool"], **common)


def _parted(inner: str) -> tuple[str, str | None, bool | None]:
    """(what the call was given, what it printed or None, whether it failed where that is stated).

    The output is the last thing in the block; what was given may hold a fence of its own before it.
    """
    stated = _STATED.search(inner)
    opening = stated
    if opening is None:
        place = 0
        fenced = _INPUT_FENCE.search(inner)
        if fenced and fenced["language"] not in ("", "text"):
            closing = re.compile(rf"^{fenced['fence']}[ \t]*$", re.MULTILINE).search(inner, fenced.end())
            place = closing.end() if closing else len(inner)
        opening = _OUTPUT.search(inner, place)
    if opening is None:
        return inner, None, None
    rest = inner[opening.end() :]
    end = rest.rfind("\n" + opening["fence"])
    output = rest[:end] if end >= 0 else "" if rest.startswith(opening["fence"]) else rest
    return inner[: opening.start()], output, stated["what"] == "Error" if stated else None


def _path(kind: str, summary: str, given: str, output: str) -> str | None:
    """The file a call is about. Of an edit only the result names it."""
    if (named := _FILE.search(summary)) is not None:
        return named["path"]
    if kind == "read" and (inline := _PATH.search(given)) is not None:
        return inline["path"].removeprefix("./")
    if kind == "write" and (written := _WRITTEN.match(output)) is not None:
        return (written["edited"] or written["made"]).strip()
    return None


def _command(given: str) -> str | None:
    """The shell command of a call: a fenced block, or the last line in backticks."""
    fenced = _INPUT_FENCE.search(given)
    if fenced and fenced["language"] in ("bash", "sh", "shell", "powershell"):
        end = given.find("\n" + fenced["fence"], fenced.end())
        return given[fenced.end() : end if end >= 0 else len(given)].strip("\n") or None
    inline = [match["words"] for match in _INLINE.finditer(given)]
    return inline[-1] if inline else None
