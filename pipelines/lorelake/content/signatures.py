"""One name for one error, whoever hit it on whatever machine: type, in-project frame, masked message.

The key is the algorithm version and a hash of the three, so that a better algorithm re-keys openly. A frame is the
innermost one inside the project (not a dependency, not the language's own library), its path cut to the last two
parts, its line left out. Of several errors in one output the first that a reader is told about last counts: the
last traceback or cause, else the first compiler error, else the first line that says it failed.

Any change of a result for any input is another algorithm: raise `ALGORITHM`, keep the one before as a module of its
own (`signature_1`), and what was said of an error under its former key is found under the new one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import lru_cache

from lorelake.content import signature_languages as languages
from lorelake.content import signature_tools as tools
from lorelake.content.signature_masks import mask
from lorelake.content.signature_parts import ErrorSignature, Parts, output_of

__all__ = ["ALGORITHM", "COMMAND_NOT_FOUND", "WRONG_CALL", "ErrorSignature", "error_signature", "mask", "signature"]

ALGORITHM = "sig-2"
COMMAND_NOT_FOUND = tools.NOT_FOUND
WRONG_CALL = tools.USAGE

_MOST_READ = 200_000
_DETECTORS: tuple[tuple[tuple[str, ...], Callable[[str], Parts | None]], ...] = (
    (("Traceback (most",), languages.python),
    (("FAILED ", "ERROR ", "E  "), languages.pytest),
    (("\tat ", "  at "), languages.java),
    (("panicked at", "-->"), languages.rust),
    (("goroutine ", "--- FAIL"), languages.go),
    (("  at ", "❯", "●", "(fail)", "FAIL", "✗", "✖", "not ok "), languages.script),
    (("  at ", "Error Message:"), languages.dotnet),
    ((":in ", "Failure/Error", "#test_"), languages.ruby),
    (("PHP ", ".php", "1) "), languages.php),
    (("** (",), languages.elixir),
    (("error", ".go:", "-->", ":", "ERROR", "CMake", "━"), tools.compiler),
    (("Error", "Exception", "Warning", "Interrupt", "Exit", "Iteration"), languages.python_bare),
    (("",), tools.command),
)
"""Words without which a detector need not look, and the detector; the first that finds something counts."""


@lru_cache(maxsize=128)
def error_signature(text: str, has_failed: bool = False) -> ErrorSignature | None:
    """The signature of the error that a tool's output tells of, or None where it tells of none.

    Args:
        text: the output. Of one past 200,000 characters the first and the last half of so many are read.
        has_failed: it is known that the command failed; then a short output that no rule knows is taken as its error.
    """
    if len(text) > _MOST_READ:
        text = text[: _MOST_READ // 2] + "\n" + text[-_MOST_READ // 2 :]
    text = output_of(text)
    for words, detect in _DETECTORS:
        if any(word in text for word in words):
            parts = detect(text)
            if parts:
                return signature(ALGORITHM, parts[0], parts[1], mask(parts[2]))
    parts = tools.only_words(text) if has_failed else None
    return signature(ALGORITHM, parts[0], parts[1], mask(parts[2])) if parts else None


def signature(algorithm: str, type_: str, frame: str, message: str) -> ErrorSignature:
    """The signature of three parts under an algorithm."""
    digest = hashlib.sha256("\x1f".join((type_, frame, message)).encode("utf-8", "surrogatepass")).hexdigest()
    return ErrorSignature(f"{algorithm}:{digest[:32]}", type_, frame, message)
