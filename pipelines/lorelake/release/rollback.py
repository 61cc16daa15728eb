"""Serve an earlier release again, as it was published, unless it says what was taken out since.

A tombstone acts at once, so an older release may only be served if no item of it meets one that stands tonight. What a
release holds is read from its own indexes, as its readers would; what stands is what the last night derived.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from lorelake import served
from lorelake.errors import ReleaseError
from lorelake.lake import Lake, read_table, write_bytes
from lorelake.release import history
from lorelake.release.audit import served_items
from lorelake.release.audit_tables import some
from lorelake.release.audit_words import shown_keys
from lorelake.release.build import TABLES_FOLDER, check_team
from lorelake.release.erase import erased_since
from lorelake.release.publish import Published, list_ids, state_changes, verify
from lorelake.tables import ALIASES, LEARNINGS, TOMBSTONES

_OUT = ("rejected", "forgotten")
_NEAR = "near_tombstone"


def rollback(lake: Lake, team: str, release: str, now: datetime | None = None) -> Published:
    """Point `CURRENT` at a release that is still here. The caller holds `lake.writing()`.

    Args:
        lake: must belong to `team`.
        team: the settings' team id.
        release: id of the release to serve.
        now: wall clock for history; informs only. Default: now, UTC.

    Raises:
        ReleaseError: there is no such release, it is damaged, something was erased since, or it holds items that were
            rejected or forgotten since, or wait for review because they are near such a one.
        SettingsError: the lake belongs to another team.
    """
    check_team(lake, team)
    folder = lake.releases / release
    if release not in list_ids(lake):
        raise ReleaseError(f"no release `{release}` is here", where=str(lake.root), remedy="`lorelake release list`")
    problems = verify(folder)
    if problems:
        raise ReleaseError(
            f"the release is damaged: {'; '.join(problems[:3])}", where=str(folder), remedy="choose another one"
        )
    if erased_since(lake, release):
        raise ReleaseError(
            "something was erased after this release was built", where=str(folder), remedy="choose a later one"
        )
    held = sorted(set(_taken_out(lake, release)))
    if held:
        raise ReleaseError(
            f"it serves {len(held)} items that were taken out since: {some(held)}",
            where=str(folder),
            remedy="roll back to a later release, or let `lorelake nightly` build one without what is wrong",
        )
    if lake.current_release() == release:
        return Published(release, new=False)
    changes = state_changes(lake, folder)
    aliases = read_table(ALIASES, folder / TABLES_FOLDER / "aliases.parquet")
    history.append(lake, release, changes, aliases, now or datetime.now(UTC))
    write_bytes(lake.current, f"{release}\n".encode())
    return Published(release, new=True)


def _taken_out(lake: Lake, release: str) -> Iterator[str]:
    """Ids of the items of a release that may not be served tonight."""
    tombstones = read_table(TOMBSTONES, lake.table(TOMBSTONES)).select("content_key", "reach").rows()
    learnings = read_table(LEARNINGS, lake.table(LEARNINGS)).select("learning_id", "state", "state_reason")
    out = {id_ for id_, state, reason in learnings.iter_rows() if state in _OUT or reason == _NEAR}
    aliases = read_table(ALIASES, lake.table(ALIASES)).select("reference", "learning_id", "basis").rows()
    gone = {name for name, learning, basis in aliases if learning in out or basis in _OUT} | out
    for audience, items in served_items(lake.releases / release).items():
        keys = {key for key, reach in tombstones if reach in (served.TEAM_AUDIENCE, audience)}
        for item in items:
            if item.learning_id in gone or not keys.isdisjoint(shown_keys(item)):
                yield item.learning_id
