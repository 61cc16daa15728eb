"""What the readers of error outputs share: the signature itself, line patterns, and which frame is in the project."""

from __future__ import annotations

import re
from functools import partial

import msgspec

Parts = tuple[str, str, str]
"""Type, frame and message of an error, the message not masked yet."""


class ErrorSignature(msgspec.Struct, frozen=True):
    """`key` is the algorithm, `:` and 32 hex over the other three; `frame` is "" where no frame is in the project."""

    key: str
    type: str
    frame: str
    message: str

    @property
    def witness(self) -> str:
        """The words that stand for this error in a claim's id."""
        return f"{self.type} {self.frame} {self.message} {self.key}".strip()


lines = partial(re.compile, flags=re.MULTILINE)
"""A pattern whose ^ and $ are those of a line."""

_FOREIGN = re.compile(
    r"site-packages|dist-packages|node_modules|node:internal|(?:^|/)internal/|/lib/python3|[/\\]Python3\d+[/\\]Lib[/\\]"
    r"|<frozen |<string>|<stdin>|<anonymous>$|^native$|\.pnpm|/rustc/|\.cargo/registry|\.rustup/|/go/pkg/mod/"
    r"|/(?:usr/local|usr/lib|usr/share|opt/homebrew|nix/store)/|[/\\]gems[/\\]|rubygems|(?:^|/)vendor/|^(?:ext|deno|bun):"
    r"|^https?://|java\.base/"
    r"|^(?:java|javax|jdk|sun|kotlin|scala|android|androidx|dalvik|reactor|okhttp3|junit|groovy)\."
    r"|^(?:com\.(?:sun|fasterxml|google\.common|zaxxer|mysql)|io\.(?:netty|micrometer)|ch\.qos"
    r"|org\.(?:junit|opentest4j|springframework|gradle|apache|hibernate|postgresql|assertj|mockito|eclipse|hamcrest))\."
    r"|^(?:System|Microsoft|Xunit|NUnit|Moq)\."
)
"""Places of libraries and runtimes: a frame there is where an error surfaced, not whose it is."""


def frame_in_project(frames: list[tuple[str, str]]) -> str:
    """The first frame in the project as `folder/file:function`; frames come innermost first."""
    for path, name in frames:
        if not _FOREIGN.search(path):
            short = "/".join([part for part in re.split(r"[/\\]", path) if part not in ("", ".")][-2:])
            return f"{short}:{name}" if name else short
    return ""


_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\r(?=\n)")
_PREFIX = lines(r"^(?:\[[a-z][\w:.@/-]{0,40}\] |[a-z][\w.-]{0,40} +\| |[│┃] ?)")
_HARNESS = lines(
    r"^(?:Exit code \d+|Chunk ID: \S+|Wall time: [\d.]+ seconds|Process exited with code \d+|Original token count: \d+"
    r"|(?:Output|Stdout|Stderr|Error|Signal|Exit Code|Background PIDs|Process Group PGID)"
    r": ?(?:\((?:none|empty)\)|\d+)?)[ \t]*$"
)
_TAGS = re.compile(r"</?tool_use_error>")
_ECHO = re.compile(r"\ACommand: [^\n]*(?:\n(?!Directory: )[^\n]*){0,400}\nDirectory: [^\n]*\n")
_LABEL = lines(r"^(?:Output|Stdout|Stderr): (?=\S)")


def output_of(text: str) -> str:
    """What a command said: without colours, runners' line prefixes, and what the agent's harness wrote around it.

    Lines stay lines, so that line numbers are those of the text as it came.
    """
    if "\x1b" in text or "\r\n" in text:
        text = _ESCAPES.sub("", text)
    if text.startswith("Command: "):
        text = _LABEL.sub("", _ECHO.sub(lambda echo: "\n" * echo[0].count("\n"), text))
    return _PREFIX.sub("", _TAGS.sub("", _HARNESS.sub("", text)))
