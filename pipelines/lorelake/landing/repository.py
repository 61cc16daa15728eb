"""Git repositories and `git fast-export` streams, read for the history of their Markdown and decision files.

Only objects and refs are read. The repository's own settings may name programs to run, so everything that could
start one (hooks, prompts, lazy fetches, signature checks) is off, and the caller's Git settings are not used.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec

from lorelake.formats import history
from lorelake.formats.record import Capture, Member, Refusal, digest

DOCUMENTS = ("*.md", "*.MD", "*.markdown", "*.mdc", "*.cursorrules", "*.windsurfrules")
DECISIONS = ("decisions/*.yaml", "decisions/*.yml")
"""What is read, as Git pathspecs; a `*` also spans folders."""

_FORGE_COMMITTERS = frozenset({"noreply@github.com"})
"""Committers that stand for whoever pressed the button; of a merge, its author did."""

_STREAM = re.compile(rb"(?:feature done\n|# git fast-export|blob\n(?:mark :|original-oid )|reset refs/|commit refs/)")
_OFF = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "log.showSignature=false",
    "safe.directory=*",
    "i18n.logOutputEncoding=UTF-8",
)


class GitError(Exception):
    """Git is missing, or refused; the words are its own."""


class Found(NamedTuple):
    """(format name, capture) of what a repository holds, and why if it holds nothing to read."""

    captures: list[tuple[str, Capture]]
    refusal: Refusal | None


class _Commit(NamedTuple):
    oid: str
    parents: tuple[str, ...]
    author: history.Name
    committer: history.Name
    time: int


class _Change(NamedTuple):
    commit: str
    path: str
    blob: str
    """Object id of the new content, or "" for a deletion."""


def is_stream(head: bytes) -> bool:
    """Whether a file's first bytes are those of a `git fast-export` stream."""
    return _STREAM.match(head) is not None


def is_repository(folder: Path) -> bool:
    """Whether a folder is a checkout or a bare repository."""
    if (folder / ".git").exists():
        return True
    return (folder / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir()


def read(
    place: Path,
    name: str,
    ref: str,
    project: str | None = None,
    person: str | None = None,
) -> Found:
    """What stood on the ref of a repository, or of a fast-export stream, as captures for `documents` and `decisions`.

    Args:
        place: folder of the repository, or file of the stream.
        name: capture name.
        ref: the protected ref: a branch name or a full ref name. A clone is read as its origin has it, since
            what was not pushed is not on the protected ref.
    """
    try:
        objects = _Objects(place, stream=place.is_file())
        return _read(objects, name, ref, project, person)
    except GitError as error:
        return Found([], _refusal(name, "unreadable", str(error)))


def _read(objects: _Objects, name: str, ref: str, project: str | None, person: str | None) -> Found:
    if objects.text("rev-parse", "--is-shallow-repository").strip() == "true":
        why = "a shallow clone names the wrong authors; run `git fetch --unshallow`"
        return Found([], _refusal(name, "no_history", why))
    head = _resolve(objects, ref)
    if head is None:
        why = f"no commit on `{ref}`; set `ledger.ref` to the branch that counts"
        return Found([], _refusal(name, "no_history", why))
    commits = _commits(objects, head)
    line = list(_line(commits, head))
    capture = partial(_capture, objects, commits, line, name, ref, project, person)
    captures = [("documents", capture(DOCUMENTS))]
    decisions = capture(DECISIONS)
    if len(decisions.members) > 1:
        captures.append(("decisions", decisions))
    return Found(captures, None)


def _capture(
    objects: _Objects,
    commits: Mapping[str, _Commit],
    line: Sequence[str],
    name: str,
    ref: str,
    project: str | None,
    person: str | None,
    paths: Sequence[str],
) -> Capture:
    versions, blobs = _versions(objects, commits, line, paths)
    found = history.History(line[0], ref, line[-1], _remote(objects), tuple(versions))
    told = msgspec.json.encode(found)
    sizes = objects.sizes(set(blobs.values()))
    members = [Member(history.MEMBER, len(told), partial(io.BytesIO, told))]
    members += [
        Member(member, sizes[blob], partial(objects.blob, blob))
        for member, blob in sorted(blobs.items())
        if blob in sizes
    ]
    sha256 = digest(line[0], line[-1], ref, *paths)
    return Capture(name, tuple(members), sha256, project=project, person=person, ref=ref)


def _resolve(objects: _Objects, ref: str) -> str | None:
    names = (ref,) if ref.startswith("refs/") else (f"refs/remotes/origin/{ref}", f"refs/heads/{ref}")
    for name in names:
        found = objects.text("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", may_fail=True).strip()
        if found:
            return found
    return None


def _remote(objects: _Objects) -> str | None:
    """The origin's URL without user or password."""
    url = objects.text("config", "--get", "remote.origin.url", may_fail=True).strip()
    return re.sub(r"^([a-z+]+://)[^/@]*@", r"\1", url) or None


def _commits(objects: _Objects, head: str) -> dict[str, _Commit]:
    form = "%H%x00%P%x00%an%x00%ae%x00%cn%x00%ce%x00%ct"
    commits = {}
    for row in objects.text("log", f"--format=tformat:{form}", head).split("\n")[:-1]:
        oid, parents, author, author_email, committer, committer_email, time = row.split("\x00")
        commits[oid] = _Commit(
            oid, tuple(parents.split()), _name(author, author_email), _name(committer, committer_email), int(time or 0)
        )
    return commits


def _name(name: str, email: str) -> history.Name:
    return history.Name(name.strip(), email.strip().lower())


def _line(commits: Mapping[str, _Commit], head: str) -> Iterator[str]:
    """The first-parent line, oldest first."""
    line = [head]
    while parents := commits[line[-1]].parents:
        line.append(parents[0])
    yield from reversed(line)


def _versions(
    objects: _Objects, commits: Mapping[str, _Commit], line: Sequence[str], paths: Sequence[str]
) -> tuple[list[history.Version], dict[str, str]]:
    """The versions that stood on the line, and member name to object id."""
    position = {oid: number for number, oid in enumerate(line)}
    brought = _brought(commits, line)
    written = _written(objects, commits, brought, line[-1], paths)
    versions, blobs = [], {}
    for change in _changes(objects, line[-1], paths, "--first-parent", "--diff-merges=first-parent"):
        landing = commits[change.commit]
        writer = commits[written.get((change.commit, change.path, change.blob), change.commit)]
        actor = _merger(landing)
        second = actor if len(landing.parents) > 1 or actor.email != writer.author.email else None
        member = f"{change.path}@{landing.oid}" if change.blob else ""
        if member:
            blobs[member] = change.blob
        versions.append(
            history.Version(
                path=change.path,
                member=member,
                deleted=not change.blob,
                position=position[landing.oid],
                commit=writer.oid,
                author=writer.author,
                landed=landing.oid,
                landed_at=landing.time,
                actor=actor,
                merged_by=second,
            )
        )
    return sorted(versions, key=lambda version: (version.position, version.path)), blobs


def _merger(landing: _Commit) -> history.Name:
    if len(landing.parents) > 1 and landing.committer.email in _FORGE_COMMITTERS:
        return landing.author
    return landing.committer


def _brought(commits: Mapping[str, _Commit], line: Sequence[str]) -> dict[str, str]:
    """Commit to the commit of the line that made it part of the ref."""
    brought: dict[str, str] = {}
    for landing in line:
        waiting = [landing]
        while waiting:
            oid = waiting.pop()
            if oid not in brought:
                brought[oid] = landing
                waiting += commits[oid].parents
    return brought


def _written(
    objects: _Objects, commits: Mapping[str, _Commit], brought: Mapping[str, str], head: str, paths: Sequence[str]
) -> dict[tuple[str, str, str], str]:
    """(landing commit, path, object id) to the commit of its branch that wrote that content: the newest, if several."""
    written: dict[tuple[str, str, str], str] = {}
    for change in _changes(objects, head, paths, "--full-history", "--topo-order", "--no-merges"):
        written.setdefault((brought[change.commit], change.path, change.blob), change.commit)
    return written


def _changes(objects: _Objects, head: str, paths: Sequence[str], *how: str) -> Iterator[_Change]:
    """Changes of files' content, newest commit first."""
    options = ("-z", "--raw", "--no-abbrev", "--no-renames", "--no-ext-diff", "--root", "--format=format:%x01%H%x02")
    tokens = iter(objects.run("log", *options, *how, head, "--", *paths).split(b"\x00"))
    commit = ""
    for token in tokens:
        header, _, raw = token.rpartition(b"\x02\n")
        if header.startswith(b"\x01"):
            commit = header[1:].decode()
        if not raw.startswith(b":"):
            continue
        old_mode, mode, before, after, _ = raw[1:].split(b" ")
        path = next(tokens).decode("utf-8", "backslashreplace")
        was, now = (_is_file(old_mode) and before), (_is_file(mode) and after)
        if was != now:
            yield _Change(commit, path, now.decode() if now else "")


def _is_file(mode: bytes) -> bool:
    """A link's content is a path, and a submodule has none: neither is a document."""
    return mode.startswith(b"100")


def _refusal(name: str, reason: str, detail: str) -> Refusal:
    return Refusal(reason, detail, name, sha256=digest(name, reason, detail))


class _Objects:
    """One repository's objects. A stream is imported into a temporary bare repository that goes with this object.

    Args:
        place: folder, or file of a fast-export stream.
    """

    def __init__(self, place: Path, stream: bool) -> None:
        self._folder = place
        self._environment = _environment(place.parent)
        self._reader: subprocess.Popen[bytes] | None = None
        if stream:
            self._folder = Path(tempfile.mkdtemp(prefix="lorelake-")).resolve()
            self._environment = _environment(self._folder.parent)
            weakref.finalize(self, shutil.rmtree, self._folder, True)
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
                cwd=self._folder,
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
                _command("cat-file", "--batch"), cwd=self._folder, env=self._environment,
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
