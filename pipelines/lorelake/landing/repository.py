"""Git repositories and `git fast-export` streams, read for the history of their Markdown and decision files.

A teamai store keeps newer learnings and votes on two branches of its own; they are read beside the protected ref.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from lorelake.formats import history, teamai
from lorelake.formats.record import Capture, Member, Refusal, digest
from lorelake.formats.strict_yaml import MAX_CHARS
from lorelake.landing.git_objects import GitError, Objects

DOCUMENTS = (
    "*.md", "*.MD", "*.markdown", "*.mdc", "*.cursorrules", "*.windsurfrules", "*.clinerules", *teamai.PATHS,
)  # fmt: skip
DECISIONS = ("decisions/*.yaml", "decisions/*.yml")
LEARNINGS = ("learnings/*.md", ".teamai/learnings/*.md")
"""What is read, as Git pathspecs; a `*` also spans folders."""

_FORGE_COMMITTERS = frozenset({"noreply@github.com"})
"""Committers that stand for whoever pressed the button; of a merge, its author did."""

_SIGNATURE = re.compile(rb"^gpgsig(?:-sha256)? ", re.MULTILINE)

_LONGEST_MESSAGE = 2000

_STREAM = re.compile(rb"(?:feature done\n|# git fast-export|blob\n(?:mark :|original-oid )|reset refs/|commit refs/)")


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
    message: str


class _Change(NamedTuple):
    commit: str
    path: str
    blob: str
    """Object id of the new content, or "" for a deletion."""


class _Told(NamedTuple):
    """What holds for every capture of one repository."""

    objects: Objects
    protected: str
    root: str
    remote: str | None
    projects: str
    projects_position: int
    project: str | None
    person: str | None


class _Line(NamedTuple):
    """One ref: its commits by id, and those of its first-parent line, oldest first."""

    ref: str
    commits: Mapping[str, _Commit]
    line: Sequence[str]


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
        objects = Objects(place, stream=place.is_file())
        return _read(objects, name, ref, project, person)
    except GitError as error:
        return Found([], _refusal(name, "unreadable", str(error)))


def copy(place: Path, target: Path, ref: str) -> None:
    """Copy what `read` reads into a bare repository: whole history, but of the files only the documents.

    What is there already is not copied again. Objects keep their ids, so both are one repository to `read`. Decisions
    stay behind: who decides for a team is set up in its settings, never brought along.

    Args:
        target: made where it is missing; its folder must exist.

    Raises:
        GitError: Git is missing, or refused.
    """
    source, copied = Objects(place, stream=place.is_file()), Objects(target, stream=False)
    if not target.exists():
        target.mkdir(mode=0o700)
        copied.run("init", "--quiet", "--bare", "--template=", ".")
    tips = {
        name: oid for name in (ref, teamai.LEARNINGS_BRANCH, teamai.REPORTS_BRANCH) if (oid := _resolve(source, name))
    }
    skeleton = source.text("rev-list", "--objects", "--no-object-names", "--filter=blob:none", *tips.values()).split()
    blobs = {
        change.blob
        for tip in tips.values()
        for change in _changes(source, tip, DOCUMENTS, "--first-parent", "--diff-merges=first-parent")
        if change.blob
    }
    here = copied.sizes({*skeleton, *blobs})
    wanted = [oid for oid in (*skeleton, *sorted(blobs & set(source.sizes(blobs)))) if oid not in here]
    if wanted:
        base = copied.folder / "objects" / "pack" / "pack"
        base.parent.mkdir(exist_ok=True)
        source.run("pack-objects", "-q", str(base.resolve()), data="\n".join([*wanted, ""]).encode())
    for name, oid in tips.items():
        copied.run("update-ref", name if name.startswith("refs/") else f"refs/heads/{name}", oid)
    if remote := _remote(source):
        copied.run("config", "remote.origin.url", remote)


def _read(objects: Objects, name: str, ref: str, project: str | None, person: str | None) -> Found:
    if objects.text("rev-parse", "--is-shallow-repository").strip() == "true":
        why = "a shallow clone names the wrong authors; run `git fetch --unshallow`"
        return Found([], _refusal(name, "no_history", why))
    head = _resolve(objects, ref)
    if head is None:
        why = f"no commit on `{ref}`; set `ledger.ref` to the branch that counts"
        return Found([], _refusal(name, "no_history", why))
    commits = _commits(objects, head)
    line = list(_line(commits, head))
    told = _Told(objects, ref, line[0], _remote(objects), *_projects(objects, line), project, person)
    captures = [("documents", _capture(told, name, _Line(ref, commits, line), DOCUMENTS))]
    decisions = _capture(told, name, _Line(ref, commits, line), DECISIONS, with_signatures=True)
    if len(decisions.members) > 1:
        captures.append(("decisions", decisions))
    for branch, paths in ((teamai.LEARNINGS_BRANCH, LEARNINGS), (teamai.REPORTS_BRANCH, teamai.PATHS)):
        tip = _resolve(objects, branch) if branch != ref else None
        if tip is not None:
            found = _commits(objects, tip)
            own = _Line(branch, found, list(_line(found, tip)))
            captures.append(("documents", _capture(told, f"{name}@{branch}", own, paths)))
    return Found(captures, None)


def _capture(told: _Told, name: str, line: _Line, paths: Sequence[str], with_signatures: bool = False) -> Capture:
    """What stood on one ref. `Capture.ref` is the protected one: on another nothing counts as merged."""
    objects = told.objects
    versions, blobs = _versions(objects, line.commits, line.line, paths)
    if with_signatures:
        signed = _signed(objects, {version.landed for version in versions})
        versions = [msgspec.structs.replace(version, signed=version.landed in signed) for version in versions]
    if line.ref == teamai.REPORTS_BRANCH:
        # Totals only ever grow, and are written at every sync: the newest say it all.
        versions = list({version.path: version for version in versions}.values())
        blobs = {version.member: blobs[version.member] for version in versions if version.member}
    head = line.line[-1]
    found = history.History(
        told.root, line.ref, head, told.remote, tuple(versions), told.projects, told.projects_position
    )
    carrier = msgspec.json.encode(found)
    sizes = objects.sizes(set(blobs.values()))
    members = [Member(history.MEMBER, len(carrier), partial(io.BytesIO, carrier))]
    members += [
        Member(member, sizes[blob], partial(objects.blob, blob))
        for member, blob in sorted(blobs.items())
        if blob in sizes
    ]
    sha256 = digest(told.root, head, line.ref, told.projects, *paths)
    return Capture(name, tuple(members), sha256, project=told.project, person=told.person, ref=told.protected)


def _projects(objects: Objects, line: Sequence[str]) -> tuple[str, int]:
    """(text, position on the line) of teamai's list of projects, or ("", -1)."""
    for path in teamai.PROJECTS_PATHS:
        text = objects.text("cat-file", "blob", f"{line[-1]}:{path}", may_fail=True)
        if text and len(text) <= MAX_CHARS:
            landed = objects.text("log", "-1", "--first-parent", "--format=%H", line[-1], "--", path).strip()
            return text, line.index(landed) if landed in line else -1
    return "", -1


def _resolve(objects: Objects, ref: str) -> str | None:
    names = (ref,) if ref.startswith("refs/") else (f"refs/remotes/origin/{ref}", f"refs/heads/{ref}")
    for name in names:
        found = objects.text("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", may_fail=True).strip()
        if found:
            return found
    return None


def _remote(objects: Objects) -> str | None:
    """The origin's URL without user, password or query, any of which may be a key."""
    url = objects.text("config", "--get", "remote.origin.url", may_fail=True).strip()
    return re.sub(r"^([a-z+]+://)[^/]*@", r"\1", re.split(r"[?#]", url)[0]) or None


def _commits(objects: Objects, head: str) -> dict[str, _Commit]:
    """Every commit up to one. No field of a commit can hold the byte that separates them."""
    form = "%H%x00%P%x00%an%x00%ae%x00%cn%x00%ce%x00%ct%x00%B"
    fields = iter(objects.text("log", "-z", f"--format=tformat:{form}", head).split("\x00")[:-1])
    commits = {}
    for oid, parents, author, author_email, committer, committer_email, time, message in zip(
        *[fields] * 8, strict=True
    ):
        commits[oid] = _Commit(
            oid,
            tuple(parents.split()),
            _name(author, author_email),
            _name(committer, committer_email),
            int(time or 0),
            message.strip()[:_LONGEST_MESSAGE],
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
    objects: Objects, commits: Mapping[str, _Commit], line: Sequence[str], paths: Sequence[str]
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
                message=landing.message,
                written=writer.message,
            )
        )
    return sorted(versions, key=lambda version: (version.position, version.path)), blobs


def _signed(objects: Objects, commits: set[str]) -> set[str]:
    """Those of the commits that carry a signature. Nothing is run to check it: `git_objects` says why."""
    asked = "".join(f"{oid}\n" for oid in sorted(commits)).encode()
    answers = io.BytesIO(objects.run("cat-file", "--batch", data=asked))
    signed = set()
    while header := answers.readline().split():
        head = answers.read(int(header[2])).partition(b"\n\n")[0]
        answers.read(1)
        if _SIGNATURE.search(head):
            signed.add(header[0].decode())
    return signed


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
    objects: Objects, commits: Mapping[str, _Commit], brought: Mapping[str, str], head: str, paths: Sequence[str]
) -> dict[tuple[str, str, str], str]:
    """(landing commit, path, object id) to the commit of its branch that wrote that content: the newest, if several."""
    written: dict[tuple[str, str, str], str] = {}
    for change in _changes(objects, head, paths, "--full-history", "--topo-order", "--no-merges"):
        written.setdefault((brought[change.commit], change.path, change.blob), change.commit)
    return written


def _changes(objects: Objects, head: str, paths: Sequence[str], *how: str) -> Iterator[_Change]:
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
