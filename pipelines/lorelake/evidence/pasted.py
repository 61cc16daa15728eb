"""Which lines of a message its author pasted: logs, traces, terminal sessions, code, data, diffs, plans, chats.

Read line by line, because pasted matter seldom comes in a fence. A line is judged by its first `_JUDGED` characters,
so the work is bounded by the length of the text. What is in doubt counts as pasted: a lost rule is said again, a
log line served as somebody's rule is believed.
"""

from __future__ import annotations

import re

_JUDGED = 300
_FEWEST_DATA_LINES = 3
_LARGEST_GAP = 3
_LONGEST_CLOSING = 400
_DOCUMENT_HEADINGS = 2
_CHAT_LINES = 2

_TERMINAL = re.compile(
    r"^\s*(?:➜|❯|λ |╰─|└─\$|\$ \S|% \S|>>> |PS [A-Z]:\\|[\w.-]{1,40}@[\w.-]{1,60}[:~ ][^$#%]{0,80}[$#%] \S)"
)
_LOG = re.compile(
    r"""^(?:
        [ \t]*(?:\.\.\.\s|\+\+\+\s|---\s\S|@@|at\s+\S.{0,200}[(:]\S*:?\d|File\s"|goroutine\s|Traceback\b).*
      | [ \t]*(?:Caused\ by:|thread\ '|E\s{2,}).*
      | [ \t]*\[?\d{4}[-/]\d\d[-/]\d\d[T ,]\s?\d\d:\d\d.*
      | [ \t]*\[?\d\d:\d\d:\d\d\b.*
      | [A-Z][a-z]{2}\ {1,2}\d{1,2}\ \d\d:\d\d:\d\d\s.*
      | [ \t]*(?:[a-z_]\w*\.)*\w*(?:Error|Exception|Warning|FAIL|PANIC|fatal|panic|error)\b[^\s]{0,80}:.*
      | [ \t]*(?:hint|remote|warning|npm\ ERR!|npm\ error|FAIL|PASS|ok|make(?:\[\d+\])?|error\[\w+\])[:\t]\s?.*
      | [ \t]*\[?(?:ERROR|WARN(?:ING)?|INFO|DEBUG|TRACE|FATAL)\]?[:\s]\s?.*
      | [ \t]*(?:/|\./|\.\./)?[\w.@/-]{1,120}\.\w{1,5}:\d+(?::\d+)?[:\s].*
      | .*\b(?:level|ts|msg)=\S.*
      | [ \t]*[│┃╭╰├└⨯•✗✓×✘✔❌✅⚠▶].*
      | \s*\d{1,5}(?:→|\ ?\|).*
    )$""",
    re.X,
)
_CODE = re.compile(
    r"""^(?:
        .*[=()].*;\s*$
      | .*[\w)\]"'=>]\s*\{\s*$
      | \s*[})\]]+[;,)]*\s*$
      | [ \t]*(?:func|def|class|import|from|return|const|let|var|package)\s+[\w("'{.*].*[({:;,]\s*$
      | [ \t]*(?:public|private|static|async|export)\s+[\w("'{.*].*[({:;,]\s*$
      | [ \t]*(?:if|for|while|switch|elif|except|catch|case|with)\b.*(?:\(.*\)|[=!<>]=|\bin\b\ \w+\().*[:{]\s*$
      | [ \t]*(?://|/\*|\*/|\#include|\#!|--\ |<\?|</?[a-zA-Z][\w-]*[^<>]*/?>\s*$).*
      | [ \t]*[\w.\[\]"']+\s*(?::=|\+=|-=|=>|==|(?<![\w])=(?=\s))\s*\S.*
      | [ \t]*[A-Za-z_][\w.]*\(.*\)\s*[;,]?\s*$
      | [ \t]*(?:SELECT|INSERT\ INTO|UPDATE|DELETE\ FROM|CREATE|ALTER|DROP)\s+[\w*`"].*
      | [ \t]*(?:import|from)\s+[\w.]+(?:\s+import\s+.*)?$
      | [ \t]*@\w[\w.]*(?:\(.*\))?\s*$
    )$""",
    re.X,
)
_DATA = re.compile(
    r"""^\s*(?:-\s+)?(?:"[^"]{1,80}"|[a-z_][\w./-]{0,60}):(?:\s+\S.*|\s*)$"""
    r"""|^\s*["{}\[\]](?:[^?]*[,{}\[\]:"])?\s*$"""
)
_COLUMNS = re.compile(r"\S(?:\t|\ {3,})\S.*?\S?(?:\t|\ {3,})\S")
_INDENTED = re.compile(r"^(?:\t|\ {4})\s*(?![-*•]\s|\d{1,2}[.)]\s)\S")
_DIFF = re.compile(r"^(?:diff --git |@@ |Index: |\+\+\+ [ab]/|--- [ab]/)")
_DIFF_BODY = re.compile(r"^(?:[+\- @\\]|diff |index |new file|deleted file)")
_CHAT_HEADER = re.compile(
    r"^\s*(?:\S.{0,40}?\s\[?\d{1,2}:\d\d(?::\d\d)?(?: ?[AaPp][Mm])?\]?|\[\d{1,2}:\d\d[^\]]{0,12}\] ?\S.{0,40}"
    r"|@?[\w.-]{1,40} (?:commented|wrote|said|replied|reviewed|opened|asked)\b.{0,60}(?:ago|:)|On .{5,160} wrote:)\s*$"
)
_CHAT_LINE = re.compile(r"^\s*(?:\[\d{1,2}:\d\d[^\]]{0,12}\] )?<?@?([A-Za-z][\w.-]{1,20}(?: [A-Z][\w.-]{0,20})?)>?: \S")
_LABELS = frozenset(
    """
    note notes decision todo fyi ps update edit remember reminder important rule rules warning fix bug issue context why
    because reason goal also first second third then finally however question answer example result expected actual
    """.split()  # noqa: SIM905 - a list of words is read more easily as text
)
_PLAN = re.compile(
    r"\b(?:implement|execute|follow|carry out|apply|build) (?:the |this )?(?:following|below|attached) "
    r"(?:\w+ ){0,2}(?:plan|spec|specification|design|requirements?|ticket|issue|prd|rfc)\b"
    r"|(?:实现|实施|執行|执行|按照)(?:以下|下面|下列)的?(?:计划|計劃|方案|规格|規格|设计|設計|需求)",
    re.I,
)
_WHAT_IS_PASTED = (
    r"feedback|errors?|logs?|output|messages?|comments?|stack ?trace|traceback|issues?|diff|specs?|plan|transcript"
    r"|reviews?|warnings?|ticket|description|prompt|conversation|thread|findings?|this used to be|e-?mail|docs?"
    r"|报错|錯誤|错误|日志|日誌|输出|輸出|反馈|回饋|评论|評論|聊天记录|聊天記錄"
)
_INTRODUCTION = re.compile(rf"(?:\b(?:{_WHAT_IS_PASTED})\b|[\u4e00-\u9fff])[^:：\n]{{0,80}}[:：][ \t]*$", re.I)
_PASTED_WORD = re.compile(_WHAT_IS_PASTED, re.I)
_LOG_WORD = re.compile(
    r"error|log|output|trace|warning|transcript|used to be|diff|报错|錯誤|错误|日志|日誌|输出|輸出", re.I
)
_INLINE = re.compile(r"[:：](?:[ \t]*[•⨯│✗✓]|[ \t]{2,}(?=\S))")
_REVIEW_MARK = re.compile(
    r"^[ \t]*[*_#]*(?:(?:low|medium|high|critical|minor|major)(?: severity| priority)"
    r"|(?:recommendation|severity|impact|rationale|suggested fix|confidence|location|steps to reproduce|to reproduce"
    r"|acceptance criteria|expected behaviou?r|actual behaviou?r|describe the bug|environment|user story|out of scope)"
    r"[*_]*[ \t]*(?::|$))",
    re.I,
)
_HEADING = re.compile(r"^#{1,4} \S")


def pasted_spans(text: str) -> list[tuple[int, int]]:
    """Character ranges of a text that were pasted, in order. They lie within lines; line ends are left out."""
    lines = text.split("\n")
    pasted = [bool(_LOG.match(line[:_JUDGED]) or _CODE.match(line[:_JUDGED])) for line in lines]
    for spread in (_terminal, _diff, _data, _chat, _gaps):
        spread(lines, pasted)
    at, column = _rest_from(lines, pasted)
    spans = []
    offset = 0
    for number, line in enumerate(lines):
        first = column if number == at else 0
        if line and (pasted[number] or number >= at):
            spans.append((offset + (0 if pasted[number] else first), offset + len(line)))
        offset += len(line) + 1
    return spans


def _terminal(lines: list[str], pasted: list[bool]) -> None:
    """A command line and what it printed: all between the first and the last, then up to an empty line."""
    shown = [number for number, line in enumerate(lines) if _TERMINAL.match(line[:_JUDGED])]
    if not shown:
        return
    end = shown[-1]
    while end + 1 < len(lines) and lines[end + 1].strip():
        end += 1
    for number in range(shown[0], end + 1):
        pasted[number] = True


def _diff(lines: list[str], pasted: list[bool]) -> None:
    inside = False
    for number, line in enumerate(lines):
        inside = bool(_DIFF.match(line)) or (inside and (not line or bool(_DIFF_BODY.match(line))))
        pasted[number] = pasted[number] or inside


def _data(lines: list[str], pasted: list[bool]) -> None:
    """Runs of `key: value`, of JSON, of columns; a single such line may be a person's "note: …"."""
    run: list[int] = []
    for number, line in enumerate([*lines, ""]):
        judged = line[:_JUDGED]
        if number < len(lines) and (
            _DATA.match(judged) or _COLUMNS.search(judged) or (run and _INDENTED.match(judged))
        ):
            run.append(number)
            continue
        if len(run) >= _FEWEST_DATA_LINES:
            for member in run:
                pasted[member] = True
        run = []


def _chat(lines: list[str], pasted: list[bool]) -> None:
    """What others wrote: a header with a time or "wrote:" and its paragraph; lines of two speakers or more."""
    inside = False
    for number, line in enumerate(lines):
        if _CHAT_HEADER.match(line[:_JUDGED]):
            inside = pasted[number] = True
        elif not line.strip():
            inside = False
        elif inside:
            pasted[number] = True
    said = [
        (number, found[1].lower()) for number, line in enumerate(lines) if (found := _CHAT_LINE.match(line[:_JUDGED]))
    ]
    said = [(number, name) for number, name in said if name not in _LABELS]
    if len({name for _, name in said}) >= _CHAT_LINES:
        for number, _ in said:
            pasted[number] = True


def _gaps(lines: list[str], pasted: list[bool]) -> None:
    """Lines inside a pasted block that look like none: between two that do, or indented after one that does."""
    last: int | None = None
    for number, line in enumerate(lines):
        if not line.strip():
            last = None
        elif pasted[number]:
            if last is not None and number - last - 1 <= _LARGEST_GAP:
                for between in range(last + 1, number):
                    pasted[between] = True
            last = number
        elif last is not None and number == last + 1 and _INDENTED.match(line):
            pasted[number] = True
            last = number


def _rest_from(lines: list[str], pasted: list[bool]) -> tuple[int, int]:
    """Line and column from where all the rest was pasted; past the last line where nothing is.

    A log that was announced ends where a short paragraph of plain words closes the message; of a pasted review or
    plan nobody can tell where it ends.
    """
    starts = [found for found in (_plan(lines), _document(lines), _reviewed(lines)) if found]
    announced = _announced(lines)
    if announced is not None:
        number, column = announced
        if _LOG_WORD.search(lines[number][-120:] if not column else lines[number][:column]):
            for inside in range(number + 1, _closing(lines, pasted, number)):
                pasted[inside] = True
            if column:
                starts += [(number, column)] if _closing(lines, pasted, number) == len(lines) else []
        else:
            starts.append((number, column or len(lines[number])))
    return min(starts, default=(len(lines), 0))


def _plan(lines: list[str]) -> tuple[int, int] | None:
    return next(((n, 0) for n, line in enumerate(lines) if _PLAN.search(line[:_JUDGED])), None)


def _document(lines: list[str]) -> tuple[int, int] | None:
    headings = [number for number, line in enumerate(lines) if _HEADING.match(line)]
    return (headings[0], 0) if len(headings) >= _DOCUMENT_HEADINGS else None


def _reviewed(lines: list[str]) -> tuple[int, int] | None:
    """Where a tool's or tracker's report begins: after the colon that announces it, else after the first paragraph."""
    mark = next((number for number, line in enumerate(lines) if _REVIEW_MARK.match(line[:_JUDGED])), None)
    if mark is None:
        return None
    for number in range(mark):
        colon = _INLINE.search(lines[number][:_JUDGED])
        if colon:
            return number, colon.start() + 1
        if lines[number].rstrip().endswith((":", "：")):
            return number + 1, 0
    return next(((number, 0) for number in range(mark) if not lines[number].strip()), (0, 0))


def _announced(lines: list[str]) -> tuple[int, int] | None:
    """The first line that ends in "… error:" or "… feedback:", or goes on after it with something pasted."""
    for number, line in enumerate(lines):
        tail = line[-_JUDGED:]
        if number + 1 < len(lines) and _INTRODUCTION.search(tail) and _PASTED_WORD.search(tail):
            return number, 0
        inline = _INLINE.search(line[:_JUDGED])
        if inline and _PASTED_WORD.search(line[: inline.start()]):
            return number, inline.start() + 1
    return None


def _closing(lines: list[str], pasted: list[bool], announced: int) -> int:
    """The first line of the message's last paragraph if it is the author's again, else the number of lines."""
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    start = end
    while start > announced + 1 and lines[start - 1].strip():
        start -= 1
    closing = lines[start:end]
    plain = start > announced + 2 and not any(pasted[start:end]) and sum(map(len, closing)) <= _LONGEST_CLOSING
    return start if plain else len(lines)
