"""One Git repository's objects, read by the `git` program with everything off that could run, ask or fetch.

Only objects and refs are read. The repository's own settings may name programs to run, so everything that could
start one (hooks, prompts, lazy fetches, signature checks) is off, and the caller's Git settings are not used.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tempfile
import weakref
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

_OFF = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "log.showSignature=false",
    "safe.directory=*",
    "i18n.logOutputEncoding=UTF-8",
)


class GitError(Exception):
    """Git is missing, or refused; the words are its own."""


class Objects:
    """One repository's objects. A stream is imported into a temporary bare repository that goes with this object.

    Args:
        place: folder, or file of a fast-export stream.
    """

    def __init__(self, place: Path, stream: bool) -> None:
        self.folder = place
        self._environment = _environment(place.parent)
        self._reader: subprocess.Popen[bytes] | None = None
        if stream:
            self.folder = Path(tempfile.mkdtemp(prefix="lorelake-")).resolve()
            self._environment = _environment(self.folder.parent)
            weakref.finalize(self, shutil.rmtree, self.folder, True)
            self.run("init", "--quiet", "--bare", "--template=", ".")
            with open(place, "rb") as source:
                self.run("fast-import", "--quiet", stdin=source)

    def run(
        self, *arguments: str, stdin: BinaryIO | None = None, data: bytes | None = None, may_fail: bool = False
    ) -> bytes:
        """What one Git command prints, given a file or bytes to read. Raises GitError unless it may fail."""
        try:
            done = subprocess.run(
                _command(*arguments),
                cwd=self.folder,
                env=self._environment,
                stdin=None if data is not None else stdin or subprocess.DEVNULL,
                input=data,
                capture_output=True,
                check=False,
            )
        except OSError as error:
            raise GitError(f"git cannot be run: {error.strerror}") from None
        if done.returncode and not may_fail:
            words = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise GitError(f"git {arguments[0]}: {words[0] if words else f'exit code {done.returncode}'}")
        return done.stdout

    def text(self, *arguments: str, may_fail: bool = False) -> str:
        """The same as text; bytes that are none of UTF-8 are replaced."""
        return self.run(*arguments, may_fail=may_fail).decode("utf-8", "replace")

    def sizes(self, blobs: Iterable[str]) -> dict[str, int]:
        """Object id to size in bytes, of the objects that are here."""
        asked = "".join(f"{blob}\n" for blob in sorted(blobs)).encode()
        rows = self.run("cat-file", "--batch-check=%(objectname) %(objectsize)", data=asked).split(b"\n")
        return {oid.decode(): int(size) for oid, size in (row.split() for row in rows if row) if size != b"missing"}

    def blob(self, oid: str) -> BinaryIO:
        """The content of one object, from one reader process for all."""
        if self._reader is None:
            self._reader = subprocess.Popen(
                _command("cat-file", "--batch"), cwd=self.folder, env=self._environment,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            weakref.finalize(self, _end, self._reader)
        questions, answers = self._reader.stdin, self._reader.stdout
        if questions is None or answers is None:
            raise GitError("the reader of objects has no pipes")
        questions.write(f"{oid}\n".encode())
        questions.flush()
        answer = answers.readline().split()
        if len(answer) != 3:
            raise OSError(f"git object {oid} cannot be read")
        data = answers.read(int(answer[2]))
        answers.read(1)
        return io.BytesIO(data)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe:
            pipe.close()


def _command(*arguments: str) -> list[str]:
    switches = [word for setting in _OFF for word in ("-c", setting)]
    return ["git", "--no-pager", "--no-replace-objects", *switches, *arguments]


def _environment(ceiling: Path) -> dict[str, str]:
    """The caller's environment without its Git variables, and with everything that asks or fetches off.

    Above `ceiling` Git looks for no repository: a folder with a broken `.git` must not become its parent's.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {
        "GIT_CEILING_DIRECTORIES": str(ceiling),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",
        "LC_ALL": "C.UTF-8",
    }
