"""Algorithm `sig-1` of error signatures as it was: its keys are in claims, ledgers and releases made before `sig-2`.

Nothing here may change: a key it gave once must be the key it gives. See `signatures` for the algorithm in use.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from functools import partial

from lorelake.content.normalise import REDACTED
from lorelake.content.signature_parts import ErrorSignature

ALGORITHM = "sig-1"


_Parts = tuple[str, str, str]
_lines = partial(re.compile, flags=re.MULTILINE)
"""A pattern whose ^ and $ are those of a line."""

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\r(?=\n)")
_FOREIGN = re.compile(
    r"site-packages|dist-packages|node_modules|node:internal|internal/|/lib/python3|<frozen |<string>|\.pnpm|"
    r"/rustc/|\.cargo/registry|/go/pkg/mod/|/(?:usr/local|usr/lib)/go/|/usr/lib/|java\.base/|^(?:java|javax|jdk|sun|kotlin|"
    r"org\.junit|org\.springframework|org\.gradle|scala)\."
)
_CLOCK = r"\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?"
_QUOTES = ((r"(?<![A-Za-z])'", "'"), ('"', '"'), ("`", "`"), ("‘", "’"), ("“", "”"))
_MASKS = (
    (re.compile(REDACTED), "<redacted>"),
    (re.compile("|".join(rf"{a}[^{z}\n]{{0,200}}{z}" for a, z in _QUOTES)), "<quoted>"),
    (re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE), "<uuid>"),
    (re.compile(rf"\b\d{{4}}-\d\d-\d\d(?:[T ]{_CLOCK}(?:Z|[+-]\d\d:?\d\d)?)?|\b{_CLOCK}"), "<time>"),
    (re.compile(r"(?:(?<=[\s(=:,\[])|^)(?:[A-Za-z]:\\|~/|\.{0,2}/)(?:[^\s/\\:()<>,]+[/\\])+"), "<path>/"),
    (re.compile(r"\b0x[0-9a-f]+\b|\b(?=[0-9a-f]*\d)[0-9a-f]{7,}\b", re.IGNORECASE), "<hex>"),
    (re.compile(r"(?<![A-Za-z_\d])v?\d+(?:\.\d+)*"), "<n>"),
    (re.compile(r"\s+"), " "),
)  # fmt: skip


def _mask(message: str) -> str:
    for pattern, name in _MASKS:
        message = pattern.sub(name, message)
    return message.strip()[:300]


def error_signature(text: str) -> ErrorSignature | None:
    """The signature of the error that a tool's output tells of, or None where it tells of none."""
    text = _ESCAPES.sub("", text)
    for detect in _DETECTORS:
        parts = detect(text)
        if parts:
            type_, frame, message = parts[0], parts[1], _mask(parts[2])
            digest = hashlib.sha256("\x1f".join((type_, frame, message)).encode("utf-8", "surrogatepass")).hexdigest()
            return ErrorSignature(f"{ALGORITHM}:{digest[:32]}", type_, frame, message)
    return None


def _frame(frames: list[tuple[str, str]]) -> str:
    """The first frame in the project as `folder/file:function`; frames come innermost first."""
    for path, name in frames:
        if not _FOREIGN.search(path):
            short = "/".join(re.split(r"[/\\]", path)[-2:])
            return f"{short}:{name}" if name else short
    return ""


_TRACEBACK = re.compile(r"Traceback \(most recent call last\):")
_PYTHON_FRAME = _lines(r'^[ \t|]*File "([^"\n]+)", line \d+(?:, in (\S+))?')
_PYTHON_ERROR = _lines(r"^(?:E[ \t]+|[ \t]*\| )?((?:[A-Za-z_]\w*\.)*[A-Z]\w*)(?::[ \t]*(.*))?$")
_PYTHON_BARE = _lines(
    r"^(?:E[ \t]+)?((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Warning|Interrupt|Exit|Iteration)): (.+)$"
)
_PYTEST_PLACE = _lines(r"^(\S+\.py):\d+: (?:in (\S+)|([A-Z]\w*))$")
_PYTEST_FAILED = _lines(r"^(?:FAILED|ERROR) (\S+?\.py)(?:::(\S+))?(?: - (?:([A-Za-z_.]*[A-Z]\w*)(?:: )?)?(.*))?$")

_PYTEST_ERROR = _lines(r"^E[ \t]+((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Failed|Exit))(?::[ \t]*(.*))?$")


def _python(text: str) -> _Parts | None:
    last = None
    for last in _TRACEBACK.finditer(text):  # noqa: B007 - the last one is the error that ended it
        pass
    if last is None:
        return None
    tail = text[last.end() :]
    frames = list(_PYTHON_FRAME.finditer(tail))
    error = _PYTHON_ERROR.search(tail, frames[-1].end() if frames else 0)
    if not error:
        return None
    return error[1].rpartition(".")[2], _frame([(f[1], f[2] or "") for f in reversed(frames)]), error[2] or ""


def _pytest(text: str) -> _Parts | None:
    failed = _PYTEST_FAILED.search(text)
    error = _PYTEST_ERROR.search(text)
    if error:
        places = [(place[1], place[2] or "") for place in _PYTEST_PLACE.finditer(text)]
        frame = _frame(places[::-1]) or (_frame([(failed[1], failed[2] or "")]) if failed else "")
        return error[1].rpartition(".")[2], frame, error[2] or ""
    if failed:
        return failed[3] or "TestFailed", _frame([(failed[1], failed[2] or "")]), failed[4] or ""
    return None


def _python_bare(text: str) -> _Parts | None:
    error = _PYTHON_BARE.search(text)
    frames = [(f[1], f[2] or "") for f in _PYTHON_FRAME.finditer(text)][::-1]
    return (error[1].rpartition(".")[2], _frame(frames), error[2]) if error else None


_JEST = _lines(r"^[ \t]*● (.+?)\n[ \t]*\n\s*(.+)$")
_SCRIPT_ERROR = _lines(
    r"^(?:.*?Uncaught |[ \t]*)((?:[A-Z]\w*)?(?:Error|Exception|DOMException))(?: \[[A-Z_]+\])?: (.*)$"
)
_SCRIPT_FRAME = _lines(r"^[ \t]+at (?:(?:async )?([\w$.<>\[\] ]+?) \()?(?:file://)?([^\s()]+?):\d+:\d+\)?$")


def _script(text: str) -> _Parts | None:
    frames = [(frame[2], frame[1] or "") for frame in _SCRIPT_FRAME.finditer(text)]
    jest = _JEST.search(text)
    if jest:
        error = re.match(r"([A-Z]\w*(?:Error|Exception)): (.*)", jest[2])
        return (error[1], _frame(frames), error[2]) if error else ("TestFailed", jest[1].strip(), jest[2])
    error = _SCRIPT_ERROR.search(text)
    return (error[1], _frame(frames), error[2]) if error and frames else None


_GO_PANIC = _lines(r"^(?:panic|fatal error): (.+)$")
_GO_FRAME = _lines(r"^(\S+?)\([^\n]*\)\n\t(\S+\.go):\d+")
_GO_TEST = _lines(r"^[ \t]*--- FAIL: (\S+) \([\d.]+s\)(?:\n\s+(\S+\.go):\d+: (.+))?")

_GO_SAID = _lines(r"^[ \t]+(?:Error:[ \t]+|\S+\.go:\d+: )(.+)$")


def _go(text: str) -> _Parts | None:
    panic = _GO_PANIC.search(text)
    if panic and "goroutine " in text:
        frames = [(frame[2], frame[1].rpartition(".")[2]) for frame in _GO_FRAME.finditer(text)]
        return "panic", _frame(frames), panic[1]
    failed = _GO_TEST.search(text)
    if not failed:
        return None
    said = _GO_SAID.search(text)
    return "TestFailed", failed[1], failed[3] or (said[1] if said else "")


_RUST_PANIC = _lines(r"^thread '[^']*'(?: \(\d+\))? panicked at (?:'(.*)', )?(\S+?\.rs):\d+:\d+(?::\n(.*))?")
_RUST_ERROR = _lines(r"^error(?:\[(E\d+)\])?: (.+)\n\s*--> (\S+?):\d+:\d+")


def _rust(text: str) -> _Parts | None:
    error = _RUST_ERROR.search(text)
    if error:
        return error[1] or "CompileError", _frame([(error[3], "")]), error[2]
    panic = _RUST_PANIC.search(text)
    return ("panic", _frame([(panic[2], "")]), panic[1] or panic[3] or "") if panic else None


_JAVA_ERROR = _lines(
    r"^(?:Exception in thread \"[^\"]*\" |Caused by: |[ \t]*)((?:[a-z_]\w*\.)+[A-Z][\w$]*)(?:: (.*))?\n(?=\s+at )"
)
_JAVA_FRAME = _lines(r"^[ \t]+at (?:[\w.]+/)?([\w.$<>]+)\.([\w$<>]+)\(([^()\n]*)\)$")


def _java(text: str) -> _Parts | None:
    errors = list(_JAVA_ERROR.finditer(text))
    if not errors:
        return None
    frames = [(frame[1], frame[2]) for frame in _JAVA_FRAME.finditer(text, errors[-1].end() - 1)]
    return errors[-1][1].rpartition(".")[2], _frame(frames), errors[-1][2] or ""


_COMPILERS = (
    _lines(r"^(?P<path>[^\s:()]+)[(:](?P<line>\d+)[,:]\d+\)?(?::| -) error (?P<type>TS\d+): (?P<message>.+)$"),
    _lines(r"^(?P<path>[^\s:]+\.\w+):\d+(?::\d+)?: (?:fatal )?error: (?P<message>.+?)(?:[ \t]+\[(?P<type>[\w-]+)\])?$"),
    _lines(r"^(?P<path>\S+\.go):\d+:\d+: (?P<message>.+)$"),
    _lines(r"^(?P<path>\S+\.\w+):\d+:\d+: (?P<type>[A-Z]{1,4}\d{2,4}) (?P<message>.+)$"),
)  # fmt: skip


def _compiler(text: str) -> _Parts | None:
    for pattern in _COMPILERS:
        error = pattern.search(text)
        if error:
            return error.groupdict().get("type") or "CompileError", _frame([(error["path"], "")]), error["message"]
    return None


_COMMAND = _lines(
    r"^(?:(?:\S+: )?(?:line )?\d+: |(?:/\S*/)?(?:ba|da|z|k|a)?sh: (?:line )?(?:\d+: )?)?"
    r"(?:(?P<a>[^\s:]+): (?:command )?not found|command not found: (?P<b>\S+))$"
)
_SAID = (
    ("npm", _lines(r"^npm (?:ERR!|error) code (?P<type>\w+)(?:\n(?:npm (?:ERR!|error))? ?(?P<message>.*))?")),
    ("git", _lines(r"^fatal: (?P<message>.+)$")),
    (
        "",
        _lines(
            r"^(?P<tool>[\w.-]+): (?:.*?: )?(?P<message>No such file or directory|Permission denied|Is a directory"
            r"|Not a directory|File exists|Connection refused|No space left on device|Operation not permitted)$"
        ),
    ),
    ("", _lines(r"^(?:\S+: )?(?:[Ee]rror|ERROR|Fatal|FATAL)(?:\[\w+\])?: (?P<message>.+)$")),
    # Last: mostly it tells only that a command it ran failed, and that command told why.
    ("make", _lines(r"^make(?:\[\d+\])?: \*\*\* (?P<message>.+)$")),
)


def _command(text: str) -> _Parts | None:
    missing = _COMMAND.search(text)
    if missing:
        return "CommandNotFound", missing["a"] or missing["b"], "command not found"
    for tool, pattern in _SAID:
        said = pattern.search(text)
        if said:
            named = said.groupdict()
            return named.get("type") or "CommandFailed", named.get("tool") or tool, named.get("message") or ""
    return None


_DETECTORS: tuple[Callable[[str], _Parts | None], ...] = (
    _python, _pytest, _java, _rust, _go, _script, _compiler, _python_bare, _command,
)  # fmt: skip
