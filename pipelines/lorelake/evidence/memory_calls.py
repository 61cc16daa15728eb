"""Which of an agent's calls asked a memory, and with which words.

A result proves what memory said only if nothing else could have printed into it: a line that also runs another
program, or hands the words of a marker to ours, is no memory call.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import msgspec

from lorelake.evidence.unit import EventRow

Surface = Literal["cli", "mcp", "teamai", "gitmem"]

LORELAKE_VERBS = frozenset(("recall", "check", "show"))
GITMEM_TOOLS = {
    "recall": "recall", "gitmem-r": "recall", "search": "search", "gitmem-search": "search", "gm-search": "search",
    "prepare_context": "prepare_context", "gitmem-pc": "prepare_context", "gm-pc": "prepare_context",
    "confirm_scars": "confirm_scars", "gitmem-cs": "confirm_scars", "gm-confirm": "confirm_scars",
    "reflect_scars": "reflect_scars", "gitmem-rf": "reflect_scars", "gm-reflect": "reflect_scars",
    "create_learning": "create_learning", "gitmem-cl": "create_learning", "gm-scar": "create_learning",
    "create_decision": "create_decision", "gitmem-cd": "create_decision",
}  # fmt: skip
"""GitMem's tools that ask, answer or add, with their short names."""

_ASKING = frozenset(("recall", "search", "prepare_context"))
_SEPARATORS = frozenset((";", "&&", "||", "|", "&", ""))
_HARMLESS_REDIRECT = re.compile(r"(?<![\w>])(?:2>&1|[12]?>[ ]?/dev/null|<[ ]?/dev/null)(?=[\s;|&]|$)")
_TOKEN = re.compile(
    r"(?P<space>[ \t\r]+)|(?P<operator>[;&|<>\n]+)|(?P<single>'[^']*')"
    r'|(?P<double>"(?:[^"\\`$]|\\.|\$(?!\())*")|(?P<escape>\\.)'
    r"|(?P<plain>\$(?![('\"])|#|[^ \t\r\n;&|<>'\"\\`$#]+)",
    re.DOTALL,
)
_ESCAPED = re.compile(r'\\(["\\$`])')
_OWN_SETTING = re.compile(r"(?:LORELAKE_\w+|TEAMAI_\w+|NO_COLOR|COLUMNS|TERM|LANG|LC_\w+)=.*", re.S)
_ECHOED = re.compile(r"(?:[\w =:.,!?-]|\$\?)*")
_SLICE = re.compile(r"\d+(?:,\d+)?p")
_BINARY = re.compile(r"(?:.*/bin/)?(lorelake|teamai)")
_PACKAGE = re.compile(r"(lorelake|teamai)(?:-cli)?(?:@[\w.^~-]+)?")
_RUNNERS = {
    ("uv", "run"): _BINARY, ("poetry", "run"): _BINARY, ("pdm", "run"): _BINARY, ("hatch", "run"): _BINARY,
    ("pipx", "run"): _PACKAGE, ("uvx",): _PACKAGE, ("npx",): _PACKAGE, ("bunx",): _PACKAGE, ("pnpm", "dlx"): _PACKAGE,
}  # fmt: skip
_MEMORY_SERVER = re.compile(
    r"^(?:mcp__?)?[A-Za-z0-9-]*(?:memory|mem0|gitmem|lorelake|teamai|knowledge[-_]graph)[A-Za-z0-9-]*(?:__|[./:])", re.I
)
_MAY_BE_MEMORY = re.compile(
    r"lorelake|gitmem|teamai|memor|mem0|knowledge|remember|learning|lesson|fact|entit|observ", re.IGNORECASE
)
_ADDING = re.compile(r"add|create|store|save|write|remember|update|delete|remove|confirm|reflect", re.IGNORECASE)
_KEY = re.compile(r'[{,]\s?"([^"\\]{0,100})"\s?:\s?')
_ENTRY = re.compile(r"[\[,]\s?")
_DECODER = json.JSONDecoder()
_WITH_VALUE = frozenset(
    ("--project", "--home", "--limit", "--engine", "--depth", "--caller", "--scope", "--title", "--file", "-f", "-t")
)


class MemoryCall(msgspec.Struct, frozen=True):
    """One question to a memory.

    Attributes:
        surface: how it was asked: lorelake's command line or MCP server, teamai's command line, GitMem's MCP server.
        verb: what was asked of it, as the system itself calls it.
        query: the words it was asked with; None for a call that asks nothing.
        arguments: a tool's arguments; of a command its options.
    """

    surface: Surface
    verb: str
    query: str | None
    arguments: dict[str, Any]


def memory_calls(call: EventRow) -> list[MemoryCall]:
    """The questions of one call in their order; empty unless everything the call prints comes from memory."""
    if not may_ask(call):
        return []
    if call.command is not None:
        found = programs(call.command)
        if found is None:
            return []
        asked = [memory for words in found if (memory := of_program(words))]
        rest = [words for words in found if not of_program(words)]
        return asked if all(map(_is_harmless, rest)) else []
    found_tool = of_tool(call)
    return [found_tool] if found_tool else []


def may_ask(call: EventRow) -> bool:
    """Whether it is worth reading a call: a cheap look, since nearly none asks a memory."""
    if call.command is not None:
        return "lorelake" in call.command or "teamai" in call.command
    return bool(call.tool and _MAY_BE_MEMORY.search(call.tool))


def holds_memory(call: EventRow) -> bool:
    """Whether some of what a call prints comes from memory; the rest may be anything."""
    if not may_ask(call):
        return False
    if call.command is not None:
        return any(map(of_program, programs(call.command) or ()))
    asked = of_tool(call)
    if asked is not None:
        return asked.query is not None or asked.verb in LORELAKE_VERBS
    return bool(call.tool and _MEMORY_SERVER.match(call.tool) and not _ADDING.search(call.tool))


def of_tool(call: EventRow) -> MemoryCall | None:
    """The question of a call to our MCP server or GitMem's; None for any other tool."""
    verb = tool_of("lorelake", call.tool)
    if verb in LORELAKE_VERBS:
        given = arguments(call)
        words = given.get("question") or given.get("query") or given.get("item_id") or given.get("id")
        return MemoryCall("mcp", verb, words if isinstance(words, str) else None, given)
    verb = GITMEM_TOOLS.get(tool_of("gitmem", call.tool), "")
    if not verb:
        return None
    given = arguments(call)
    words = (given.get("plan") or given.get("query")) if verb in _ASKING else None
    return MemoryCall("gitmem", verb, words if isinstance(words, str) else None, given)


def tool_of(server: str, tool: str | None) -> str:
    """The name within its MCP server of a tool as agents write it, `""` where it is not that server's.

    `mcp__lorelake__recall`, `mcp__plugin_team_lorelake__recall`, `lorelake.recall`, `lorelake-recall` and the like.
    A name that merely holds the server's is another server's tool.
    """
    match = re.fullmatch(
        rf"(?:mcp__?(?:plugin_[A-Za-z0-9-]+_)?)?{server}(?:__|[-_./:])([A-Za-z0-9_-]+)", tool or "", re.IGNORECASE
    )
    return match[1].lower() if match else ""


def arguments(call: EventRow) -> dict[str, Any]:
    """A tool call's arguments. Of a long text that was cut: those before the cut, of a list its whole entries."""
    try:
        value = json.loads(call.text)
    except ValueError:
        value = dict(_before_the_cut(call.text))
    return value if isinstance(value, dict) else {}


def _before_the_cut(text: str) -> Iterator[tuple[str, Any]]:
    position = 0
    while key := _KEY.match(text, position):
        position = key.end()
        try:
            value, position = _DECODER.raw_decode(text, position)
        except ValueError:
            if text.startswith("[", position):
                yield key[1], list(_entries(text, position))
            return
        yield key[1], value


def _entries(text: str, position: int) -> Iterator[Any]:
    while mark := _ENTRY.match(text, position):
        try:
            value, position = _DECODER.raw_decode(text, mark.end())
        except ValueError:
            return
        yield value


def of_program(words: Sequence[str]) -> MemoryCall | None:
    """The question of one program of a command line: `lorelake recall | check | show`, `teamai recall`."""
    program, rest = _program(words)
    named, options = _positional(rest)
    if program is None or not named or any("<!--" in word for word in words):
        return None
    if program == "lorelake" and named[0] in LORELAKE_VERBS:
        return MemoryCall("cli", named[0], " ".join(named[1:]) or None, options)
    if program == "teamai" and named[0] == "recall":
        return MemoryCall("teamai", "check" if "--check" in options else "recall", " ".join(named[1:]) or None, options)
    return None


def own_program(words: Sequence[str], name: str) -> tuple[list[str], dict[str, Any]] | None:
    """Positional words and options where the program is `name`; None for another one."""
    program, rest = _program(words)
    return _positional(rest) if program == name else None


def _program(words: Sequence[str]) -> tuple[str | None, Sequence[str]]:
    """Our program's name and what follows it, after settings of its own and a runner."""
    while words and (words[0] in ("time", "nice", "env", "timeout") or _OWN_SETTING.fullmatch(words[0])):
        words = words[2 if words[0] == "timeout" else 1 :]
    for runner, pattern in _RUNNERS.items():
        if tuple(words[: len(runner)]) == runner:
            rest = list(words[len(runner) :])
            while rest and rest[0] in ("-y", "--yes", "-q", "--quiet", "--frozen", "--no-sync"):
                rest.pop(0)
            match = pattern.fullmatch(rest[0]) if rest else None
            return (match[1], rest[1:]) if match else (None, ())
    match = _BINARY.fullmatch(words[0]) if words else None
    return (match[1], words[1:]) if match else (None, ())


def _positional(words: Sequence[str]) -> tuple[list[str], dict[str, Any]]:
    """Words that are no option, and the options with their values (True for a flag)."""
    named: list[str] = []
    options: dict[str, Any] = {}
    left = list(words)
    while left:
        word = left.pop(0)
        if word == "--":
            return [*named, *left], options
        if word in _WITH_VALUE and left:
            options[word] = left.pop(0)
        elif word.startswith("-") and len(word) > 1:
            name, _, value = word.partition("=")
            options[name] = value or True
        else:
            named.append(word)
    return named, options


def programs(command: str) -> list[list[str]] | None:
    """The programs a shell line runs, each as its words; None where that cannot be told.

    Substitutions, other redirections, here-documents and unclosed quotes cannot.
    """
    found: list[list[str]] = [[]]
    command = _HARMLESS_REDIRECT.sub(" ", command.replace("\\\n", " "))
    word: str | None = None
    position = 0
    while position < len(command):
        match = _TOKEN.match(command, position)
        if match is None:
            return None
        position = match.end()
        if match.lastgroup not in ("space", "operator") and not (word is None and match[0].startswith("#")):
            word = (word or "") + _unquoted(match)
            continue
        if word is not None:
            found[-1].append(word)
            word = None
        if match.lastgroup == "operator" and match[0].strip("\n") not in _SEPARATORS:
            return None
        if match.lastgroup == "operator":
            found.append([])
        elif match.lastgroup != "space":
            position = (command.find("\n", position) + 1 or len(command) + 1) - 1
    if word is not None:
        found[-1].append(word)
    return [words for words in found if words]


def _unquoted(match: re.Match[str]) -> str:
    if match.lastgroup == "single":
        return match[0][1:-1]
    if match.lastgroup == "double":
        return _ESCAPED.sub(r"\1", match[0][1:-1])
    return match[0][1:] if match.lastgroup == "escape" else match[0]


def _is_harmless(words: Sequence[str]) -> bool:
    """A program that prints only what it is piped, nothing, or a few plain words."""
    program, rest = words[0], words[1:]
    if program == "echo":
        return all(_ECHOED.fullmatch(word) for word in rest)
    if program == "sed":
        return len(rest) == 2 and rest[0] == "-n" and bool(_SLICE.fullmatch(rest[1]))
    if program in ("head", "tail", "cat"):
        return all(re.fullmatch(r"-.*|\+?\d+", word) for word in rest)
    return program in ("cd", "true", "tee")
