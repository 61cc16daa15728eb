"""Publish a judged candidate, verify and list releases.

A kill at any point leaves the served release serving, and the same call (or the next run) ends in the same state:

    complete the manifest, make the files read-only   the candidate is still a candidate
    rename it to releases/<id>                        not served; taken up by the next publish of the same content
    append to history                                 once per switch: skipped if its last entry is this release
    replace CURRENT                                   one atomic rename
    delete the releases older than an erasure         again by the next run, if this one was killed
"""

from __future__ import annotations

import os
from collections import Counter
from datetime import UTC, date, datetime
from pathlib import Path
from typing import NamedTuple

import msgspec

from lorelake import served
from lorelake.errors import AuditError, ReleaseError
from lorelake.lake import Lake, read_table, sync_folder, write_bytes
from lorelake.release import history
from lorelake.release.build import TABLES_FOLDER, check_team, remove_tree
from lorelake.release.erase import remove_outdated
from lorelake.release.manifest import Manifest, read_manifest, release_id, write_manifest
from lorelake.release.verdict import Verdict, files_digest, hash_files, read_verdict
from lorelake.tables import ALIASES, LEARNINGS

FILE_MODE = 0o440
FOLDER_MODE = 0o750
_MANIFEST_ONLY = frozenset({served.MANIFEST})


class Published(NamedTuple):
    """What a publish did. `new` is false where this very content was served already."""

    release_id: str
    new: bool


def publish(lake: Lake, team: str, now: datetime | None = None) -> Published:
    """Publish `lake.candidate`. The caller holds `lake.writing()`.

    Args:
        lake: must belong to `team`.
        team: the settings' team id.
        now: wall clock for the manifest and history; informs only. Default: now, UTC.

    Raises:
        AuditError: no verdict is stored for exactly these files, or it is not a pass.
        ReleaseError: no candidate, an as-of older than what is served, or a damaged release in the way.
        SettingsError: the lake belongs to another team.
    """
    now = now or datetime.now(UTC)
    check_team(lake, team)
    candidate = lake.candidate
    if not candidate.is_dir():
        raise ReleaseError("there is no candidate", where=str(candidate), remedy="build one first")
    for stray in candidate.rglob(".*.tmp"):  # half-written by a publish that was killed
        stray.unlink()
    draft = read_manifest(candidate)
    verdict = _passed(candidate, draft)
    refuse_older(lake, draft.as_of)

    target = lake.releases / draft.release_id
    served_now = lake.current_release()
    changes = state_changes(lake, candidate)
    if target.exists():
        _take_up(target, draft)
        remove_tree(candidate)
        if served_now == draft.release_id:
            remove_outdated(lake)
            return Published(draft.release_id, new=False)
    else:
        _complete(candidate, draft, verdict, changes, now)
        os.rename(candidate, target)
        sync_folder(lake.releases)
    aliases = read_table(ALIASES, target / TABLES_FOLDER / "aliases.parquet")
    history.append(lake, draft.release_id, changes, aliases, now)
    write_bytes(lake.current, f"{draft.release_id}\n".encode())
    remove_outdated(lake)
    return Published(draft.release_id, new=True)


def _passed(candidate: Path, draft: Manifest) -> Verdict:
    verdict = read_verdict(candidate)
    where = str(candidate)
    if verdict is None:
        raise AuditError("the candidate has no verdict", where=where, remedy="run the audit, then publish")
    if verdict.content_hash != draft.content_hash or verdict.files_sha256 != files_digest(candidate):
        raise AuditError(
            "the verdict was given on other files than these", where=where, remedy="run the audit again, then publish"
        )
    if verdict.status != "pass":
        held = [finding.code for finding in verdict.findings if finding.severity == "error"]
        held += [name for name, result in verdict.checks.items() if result != "pass"]
        raise AuditError(
            f"the audit refused this candidate: {', '.join(dict.fromkeys(held))}",
            where=where,
            remedy="verdict.json names each finding; the release served so far goes on serving",
        )
    return verdict


def refuse_older(lake: Lake, as_of: date) -> None:
    """Refuse to look at a day before that of the served release. Its id tells the day, even where it is damaged.

    Raises:
        ReleaseError: naming both days.
    """
    current = lake.current_release()
    if current is None:
        return
    served_day = date.fromisoformat(current[:10])
    if as_of < served_day:
        raise ReleaseError(
            f"as of {as_of} is before the served release, which is as of {served_day}",
            where=str(lake.root),
            remedy=f"run as of {served_day} or later; a correction of past days ends in a release as of tonight",
        )


def _take_up(target: Path, draft: Manifest) -> None:
    """A folder of this id is here already: from a run that was killed before CURRENT, or served before."""
    problems = verify(target)
    if problems or read_manifest(target).content_hash != draft.content_hash:
        raise ReleaseError(
            f"a damaged release of the same name is in the way: {'; '.join(problems[:3]) or 'other content'}",
            where=str(target),
            remedy="move the folder away and publish again",
        )


def _complete(candidate: Path, draft: Manifest, verdict: Verdict, changes: list[history.Change], now: datetime) -> None:
    """Fill in the manifest, then make everything read-only and durable."""
    moved = [change for change in changes if change.before != change.after]
    manifest = msgspec.structs.replace(
        draft,
        files=hash_files(candidate, _MANIFEST_ONLY),
        checks={"invariants": "pass", **verdict.checks},
        warnings=tuple(sorted({finding.code for finding in verdict.findings})),
        changes=dict(sorted(Counter(f"{c.before or 'none'}>{c.after or 'none'}" for c in moved).items())),
        created_at=now,
    )
    write_manifest(candidate, manifest)
    for path in sorted(candidate.rglob("*"), reverse=True):
        os.chmod(path, FOLDER_MODE if path.is_dir() else FILE_MODE)
        sync_folder(path)
    os.chmod(candidate, FOLDER_MODE)
    sync_folder(candidate)


def state_changes(lake: Lake, candidate: Path) -> list[history.Change]:
    """What serving this folder instead of the served release changes, by learning id."""
    current = lake.current_release()
    before = _states(lake.releases / current) if current else {}
    after = _states(candidate)
    ids = sorted(before.keys() | after.keys())
    nothing = (None, None)
    return [
        history.Change(learning, before.get(learning, nothing)[0], *after.get(learning, nothing))
        for learning in ids
        if before.get(learning, nothing) != after.get(learning, nothing)
    ]


def _states(folder: Path) -> dict[str, tuple[str, str | None]]:
    """Learning id to its state, and to its words where they are served."""
    data = read_table(LEARNINGS, folder / TABLES_FOLDER / "learnings.parquet")
    rows = data.select("learning_id", "state", "text_sha256").iter_rows()
    return {id_: (state, sha if state == history.SERVED_STATE else None) for id_, state, sha in rows}


def verify(release: Path) -> list[str]:
    """What is wrong with a release folder, in words; empty where every file is the one that was published."""
    try:
        manifest = read_manifest(release)
    except ReleaseError as error:
        return [str(error)]
    problems = []
    if release_id(manifest.as_of, manifest.content_hash) != manifest.release_id or release.name != manifest.release_id:
        problems.append(f"the folder's name, {release.name}, is not that of the content in its manifest")
    here = hash_files(release, _MANIFEST_ONLY)
    for name, entry in manifest.files.items():
        if name not in here:
            problems.append(f"{name} is missing")
        elif here[name] != entry:
            problems.append(f"{name} is not the file that was published ({here[name].size} bytes, was {entry.size})")
    problems += [f"{name} was not published" for name in here if name not in manifest.files]
    return problems


def verify_lake(lake: Lake) -> dict[str, list[str]]:
    """Problems of every release by id, and of `CURRENT`; only what has problems is listed."""
    found = {manifest_id: verify(lake.releases / manifest_id) for manifest_id in list_ids(lake)}
    current = lake.current_release()
    if current is None:
        found["CURRENT"] = ["no release is served"]
    elif current not in found:
        found["CURRENT"] = [f"it names {current}, which is not here"]
    return {name: problems for name, problems in found.items() if problems}


def list_ids(lake: Lake) -> list[str]:
    """Ids of the published releases, oldest as-of first."""
    if not lake.releases.is_dir():
        return []
    return sorted(path.name for path in lake.releases.iterdir() if served.RELEASE_ID.fullmatch(path.name))


def list_releases(lake: Lake) -> list[Manifest]:
    """Manifests of the published releases, oldest as-of first, then as published; damaged ones are left to `verify`."""
    manifests = []
    for name in list_ids(lake):
        try:
            manifests.append(read_manifest(lake.releases / name))
        except ReleaseError:
            continue
    epoch = datetime.min.replace(tzinfo=UTC)
    return sorted(manifests, key=lambda m: (m.as_of, m.created_at or epoch, m.release_id))
