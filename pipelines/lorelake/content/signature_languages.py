"""Errors as the runtimes and test runners of the languages tell them.

Of several errors in one output the first that a reader is told about last counts: the last traceback or cause, else
the first failing test.
"""

from __future__ import annotations

import re

from lorelake.content.signature_parts import Parts, frame_in_project, lines

_TRACEBACK = "Traceback (most recent call last)"
_CLASS = r"(?:[A-Za-z_]\w*\.)*(?:[A-Z]\w*|[a-z]\w*(?:error|exception))"
_PYTHON_FRAME = lines(r'^[ \t|]*File "([^"\n]+)", line \d+(?:, in (\S+))?')
_PYTHON_ERROR = lines(rf"^(?:E[ \t]+|[ \t]*\| )?({_CLASS})(?::[ \t]*(.*))?$")
_PYTHON_BARE = lines(
    r"^(?:E[ \t]+)?((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Warning|Interrupt|Exit|Iteration)): (.+)$"
)
_PYTEST_PLACE = lines(r"^(\S+\.py):\d+: (?:in (\S+)|([A-Z]\w*))$")
_PYTEST_FAILED = lines(
    r"^(?:FAILED|ERROR) (\S+?\.py)(?:::([^\s\[]+)(?:\[[^\n]*?\])?)?(?: - (?:([A-Za-z_.]*[A-Z]\w*)(?:: )?)?(.*))?$"
)
_PYTEST_ERROR = lines(r"^E[ \t]+((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Failed|Exit))(?::[ \t]*(.*))?$")
_PYTEST_SAID = lines(r"^E[ \t]+(\S.*)$")


def python(text: str) -> Parts | None:
    """The last traceback."""
    at = text.rfind(_TRACEBACK)
    if at < 0:
        return None
    tail = text[at:]
    frames = list(_PYTHON_FRAME.finditer(tail))
    error = _PYTHON_ERROR.search(tail, frames[-1].end() if frames else tail.find("\n") + 1)
    if not error:
        return None
    places = [(found[1], found[2] or "") for found in reversed(frames)]
    return error[1].rpartition(".")[2], frame_in_project(places), error[2] or ""


def pytest(text: str) -> Parts | None:
    """The first failing test; the parameters of a test are left out of its name."""
    failed = _PYTEST_FAILED.search(text)
    error = _PYTEST_ERROR.search(text)
    test = frame_in_project([(failed[1], failed[2] or "")]) if failed else ""
    if error:
        places = [(place[1], place[2] or "") for place in _PYTEST_PLACE.finditer(text)]
        return error[1].rpartition(".")[2], frame_in_project(places[::-1]) or test, error[2] or ""
    if failed:
        said = failed[4] or next((found[1] for found in _PYTEST_SAID.finditer(text)), "")
        return failed[3] or "TestFailed", test, said
    return None


def python_bare(text: str) -> Parts | None:
    """An error class and its message on one line, as interpreters print a syntax error and libraries a refusal."""
    error = _PYTHON_BARE.search(text)
    frames = [(f[1], f[2] or "") for f in _PYTHON_FRAME.finditer(text)][::-1]
    return (error[1].rpartition(".")[2], frame_in_project(frames), error[2]) if error else None


_SUITE = "Test suite failed to run"
_JEST = lines(r"^[ \t]*● (.+?)\n[ \t]*\n\s*(.+)$")
_FILE_FAILED = lines(
    r"^[ \t]*FAIL[ \t]+(?:\S+[ \t]+)?(\S+\.[cm]?[jt]sx?)(?:[ \t]+>[ \t]+(.+?))?(?:[ \t]+[\d.]+ ?m?s)?$"
)
_BUN_FAILED = lines(r"^(?:\(fail\)|[✗✖]) (.+?)(?:[ \t]+[\[(][\d.]+ ?m?s[\])])?$")
_TAP_FAILED = lines(r"^[ \t]*not ok \d+ - (.+)$")
_SAID_ERROR = lines(r"^[ \t]*(?:error: |Error: )['\"]?(.+?)['\"]?$")
_SCRIPT_ERROR = lines(
    r"^(?:.{0,200}?Uncaught |[ \t]*(?:→ )?)((?:[A-Z]\w*)?(?:Error|Exception|DOMException))(?: \[[A-Z_]+\])?: (.*)$"
)
_SCRIPT_FRAME = lines(r"^[ \t]+(?:at|❯) (?:(?:async )?([\w$.<>\[\] ]+?) \(?)?(?:file://)?([^\s()]+?):\d+:\d+\)?$")


def script(text: str) -> Parts | None:
    """Node, browsers, Bun, Deno and their test runners."""
    frames = [(frame[2], frame[1] or "") for frame in _SCRIPT_FRAME.finditer(text)]
    jest = _JEST.search(text)
    if jest:
        return _jest(text, jest, frames)
    error = _SCRIPT_ERROR.search(text)
    failed = _FILE_FAILED.search(text)
    if failed and failed[2]:
        test = frame_in_project([(failed[1], failed[2])])
        error = _SCRIPT_ERROR.search(text, failed.end()) or error
        return (error[1], test, error[2]) if error else ("TestFailed", test, "")
    if error and frames:
        return error[1], frame_in_project(frames), error[2]
    named = _BUN_FAILED.search(text) or _TAP_FAILED.search(text)
    if named:
        said = _SAID_ERROR.search(text)
        return "TestFailed", named[1].strip(), said[1] if said else ""
    return None


def _jest(text: str, jest: re.Match[str], frames: list[tuple[str, str]]) -> Parts:
    error = re.match(r"([A-Z]\w*(?:Error|Exception)): (.*)", jest[2])
    if error:
        return error[1], frame_in_project(frames), error[2]
    test = jest[1].strip()
    if test == _SUITE:
        file = _FILE_FAILED.search(text)
        test = frame_in_project([(file[1], "")]) if file else ""
    return "TestFailed", test, jest[2]


_GO_PANIC = lines(r"^(?:panic|fatal error): (.+)$")
_GO_FRAME = lines(r"^(\S+?)\([^\n]*\)\n\t(\S+\.go):\d+")
_GO_TEST = lines(r"^[ \t]*--- FAIL: (\S+) \([\d.]+s\)")
_GO_SAID = lines(r"^[ \t]+(?:Error:[ \t]+|\S+\.go:\d+: )(?=\S)(?!Error Trace)(.+)$")


def go(text: str) -> Parts | None:
    """A panic, else the first failing test with what is said below it, else above it."""
    panic = _GO_PANIC.search(text)
    if panic and "goroutine " in text:
        frames = [(frame[2], frame[1].rpartition(".")[2]) for frame in _GO_FRAME.finditer(text)]
        return "panic", frame_in_project(frames), re.sub(r" \[recovered\].*$", "", panic[1])
    failed = _GO_TEST.search(text)
    if not failed:
        return None
    said = _GO_SAID.search(text, failed.end()) or _GO_SAID.search(text)
    return "TestFailed", failed[1], said[1] if said else ""


_RUST_PANIC = lines(r"^thread '[^']*'(?: \(\d+\))? panicked at (?:'(.*)', )?(\S+?\.rs):\d+:\d+(?::\n(.*))?")
_RUST_ERROR = lines(r"^error(?:\[(E\d+)\])?: (.+)\n\s*--> (\S+?):\d+:\d+")


def rust(text: str) -> Parts | None:
    """The first compiler error, else the first panic."""
    error = _RUST_ERROR.search(text)
    if error:
        return error[1] or "CompileError", frame_in_project([(error[3], "")]), error[2]
    panic = _RUST_PANIC.search(text)
    return ("panic", frame_in_project([(panic[2], "")]), panic[1] or panic[3] or "") if panic else None


_JAVA_ERROR = lines(
    r"^(?:Exception in thread \"[^\"\n]*\" |Caused by: |[ \t]*)((?:[a-z_]\w*\.)+[A-Z][\w$]*)(?:: (.*))?\n(?=\s+at )"
)
_JAVA_FRAME = lines(r"^[ \t]+at (?:[\w.]+/)?([\w.$<>]+)\.([\w$<>]+)\(([^()\n]*)\)$")


def java(text: str) -> Parts | None:
    """The last cause."""
    errors = list(_JAVA_ERROR.finditer(text))
    if not errors:
        return None
    frames = [(frame[1], frame[2]) for frame in _JAVA_FRAME.finditer(text, errors[-1].end() - 1)]
    return errors[-1][1].rpartition(".")[2], frame_in_project(frames), errors[-1][2] or ""


_DOTNET_ERROR = lines(r"^(?:Unhandled exception[.:] |[ \t]*(?:---> )?)((?:\w+\.)+\w*(?:Exception|Error))(?: ?: (.*))?$")
_DOTNET_FRAME = lines(r"^[ \t]+at ([\w.<>`+,\[\] ]+?)\([^\n]*\)(?: in ([^\n]+?):line \d+)?$")
_DOTNET_TEST = lines(
    r"^[ \t]*(?:Failed|\[FAIL\]) ([\w.]+)(?:\([^\n]*\))? \[[^\]\n]*\]\n[ \t]*Error Message:\n[ \t]*(.+)$"
)


def dotnet(text: str) -> Parts | None:
    """An unhandled exception, else the first failing test."""
    failed = _DOTNET_TEST.search(text)
    if failed:
        return "TestFailed", ".".join(failed[1].split(".")[-2:]), failed[2]
    error = _DOTNET_ERROR.search(text)
    if not error:
        return None
    frames = [
        (found[2] or found[1], found[1].rpartition(".")[2]) for found in _DOTNET_FRAME.finditer(text, error.end())
    ]
    return (error[1].rpartition(".")[2], frame_in_project(frames), error[2] or "") if frames else None


_RUBY_ERROR = lines(r"^(?:\t?from )?(\S+?\.rb|\S+?):\d+:in [`']([^'\n]+)': (.+?) \(([A-Z][\w:]*)\)$")
_RUBY_FRAME = lines(r"^[ \t]+(?:from |\d+: from )?(\S+?\.rb):\d+:in [`']([^'\n]+)'")
_RSPEC = lines(r"^[ \t]+1\) (.+)\n(?:[ \t]+Failure/Error: .*\n)?(?:[ \t]*\n)?[ \t]+(\S.*)$")
_MINITEST = lines(r"^(\w+#test_\w+) \[[^\]\n]+\]:\n(.+)$")


def ruby(text: str) -> Parts | None:
    """An exception, else the first failing example or test."""
    error = _RUBY_ERROR.search(text)
    if error:
        places = [(error[1], error[2]), *((f[1], f[2]) for f in _RUBY_FRAME.finditer(text, error.end()))]
        named = [(path, re.split(r"[#.]", name)[-1]) for path, name in places]
        return error[4].rpartition("::")[2], frame_in_project(named), error[3]
    spec = _RSPEC.search(text) if "Failure/Error" in text else None
    test = spec or _MINITEST.search(text)
    return ("TestFailed", test[1].strip(), test[2].strip()) if test else None


_PHP_ERROR = lines(
    r"^(?:PHP )?(?:Fatal error|Parse error|Warning): +(?:Uncaught (?:PHP Exception )?([\w\\]+): )?(.+?)"
    r" in (\S+?\.php)(?::\d+| on line \d+)"
)
_PHPUNIT = lines(r"^1\) ([\w\\]+::\w+)[^\n]*\n(.+)$")


def php(text: str) -> Parts | None:
    """A fatal or parse error, else the first failing test."""
    error = _PHP_ERROR.search(text)
    if error:
        return (error[1] or "FatalError").rpartition("\\")[2], frame_in_project([(error[3], "")]), error[2]
    test = _PHPUNIT.search(text)
    return ("TestFailed", test[1].rpartition("\\")[2], test[2]) if test else None


_ELIXIR_ERROR = lines(r"^[ \t]*\*\* \(([A-Z][\w.]*)\) (.+)$")
_ELIXIR_FRAME = lines(
    r"^[ \t]+(?:\((?!(?:elixir|stdlib|ex_unit|ecto\w*|phoenix\w*|plug\w*|mix|db_connection|postgrex) )[\w ]+[\d.]+\) )?"
    r"((?:lib|test|apps|src)/\S+\.exs?):\d+: (\S+)"
)


def elixir(text: str) -> Parts | None:
    """A raised error."""
    error = _ELIXIR_ERROR.search(text)
    if not error:
        return None
    frames = [(found[1], found[2].rpartition(".")[2]) for found in _ELIXIR_FRAME.finditer(text, error.end())]
    return error[1].rpartition(".")[2], frame_in_project(frames), error[2]
