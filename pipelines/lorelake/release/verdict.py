"""The stored verdict of an audit: what publish asks for, bound to the very files that were looked at."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from lorelake import served
from lorelake.formats.record import digest
from lorelake.lake import write_bytes

VERDICT = "verdict.json"
_NOT_AUDITED = {served.MANIFEST, VERDICT}


class Finding(msgspec.Struct, frozen=True):
    """One thing an audit found. An `error` blocks the publish. Messages name ids and counts, never stored words."""

    code: str
    severity: Literal["error", "warning"]
    message: str


class Verdict(msgspec.Struct, frozen=True):
    """`checks` holds what ran beside the invariants (suites, dbt tests) as name to `pass` or `fail`."""

    content_hash: str
    files_sha256: str
    status: Literal["pass", "fail"]
    findings: tuple[Finding, ...] = ()
    checks: dict[str, str] = msgspec.field(default_factory=dict)


class FileEntry(msgspec.Struct, frozen=True):
    """One file of a release: sha256 hex and size in bytes."""

    sha256: str
    size: int


def hash_files(folder: Path, leave_out: frozenset[str] = frozenset()) -> dict[str, FileEntry]:
    """Every file below a folder, by relative path in order, with hash and size."""
    entries: dict[str, FileEntry] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if name in leave_out or not path.is_file():
            continue
        with open(path, "rb") as handle:
            entries[name] = FileEntry(hashlib.file_digest(handle, "sha256").hexdigest(), path.stat().st_size)
    return entries


def files_digest(candidate: Path) -> str:
    """One sha256 over everything an audit looks at: all files but the manifest and the verdict itself."""
    entries = hash_files(candidate, frozenset(_NOT_AUDITED))
    return digest(*(f"{name} {entry.sha256}" for name, entry in entries.items()))


def store_verdict(
    candidate: Path, findings: Sequence[Finding], checks: Mapping[str, Literal["pass", "fail"]] | None = None
) -> Verdict:
    """Judge a candidate by its findings and the other checks, and write verdict.json into it."""
    head = msgspec.json.decode((candidate / served.MANIFEST).read_bytes(), type=served.ReleaseHead)
    checks = dict(sorted((checks or {}).items()))
    held = any(finding.severity == "error" for finding in findings) or any(v != "pass" for v in checks.values())
    verdict = Verdict(
        content_hash=head.content_hash,
        files_sha256=files_digest(candidate),
        status="fail" if held else "pass",
        findings=tuple(sorted(findings, key=lambda f: (f.severity, f.code, f.message))),
        checks=dict(checks),
    )
    write_bytes(candidate / VERDICT, msgspec.json.format(msgspec.json.encode(verdict), indent=2))
    return verdict


def read_verdict(candidate: Path) -> Verdict | None:
    """The stored verdict, or None where there is none that can be read."""
    try:
        return msgspec.json.decode((candidate / VERDICT).read_bytes(), type=Verdict)
    except (FileNotFoundError, msgspec.DecodeError):
        return None
