"""What became of each decision: pending, applied in which release, overruled by which, or refused and why."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from lorelake.cli.text_table import plain, terminal_width, text_table
from lorelake.errors import LorelakeError, UsageError
from lorelake.events.ledger import REFUSED, SOURCE, decision_ids
from lorelake.formats.decisions import parse
from lorelake.formats.strict_yaml import YamlError
from lorelake.lake import read_table
from lorelake.landing.git_objects import GitError, Objects
from lorelake.learnings import regrouping
from lorelake.recall.reader import RELEASES, release_folder
from lorelake.served import RELEASE_ID
from lorelake.tables import DECISION_STATUS, LEDGER

if TYPE_CHECKING:
    from lorelake.cli.review_verbs import Desk

REASONS: dict[str, str] = {
    **REFUSED,
    **regrouping.REFUSED,
    regrouping.OVERRULED: "a later merge or split moved the same claims",
    "own_proposal": "nobody but this person, or their own sessions, speaks for the item: somebody else must decide",
    "taken_away": "the item is rejected, forgotten or retired; that stands until a restore",
    "restored": "somebody brought it back later",
    "text_changed": "the item reads otherwise than it did then; it waits for a new look",
    "edited_again": "later edits word every field of it otherwise",
    "said_otherwise": "the same person said otherwise later",
    "closes_a_circle": "it would close a circle of items that replace each other; the newer one holds",
}
"""Every rule code of `decision_status`, in words."""
_PATH = re.compile(r"(?:^|/)decisions/([^/@]+\.ya?ml)(?:@|\Z)", re.IGNORECASE)


class Status(msgspec.Struct, frozen=True):
    """One decision file, or one decision of the ledger whose file is not here.

    Attributes:
        state: pending, applies, overruled, refused, no_item, or unreadable.
        detail: why, in words; of a pending one what it waits for.
        release: the first release that is still here in which it stood so; None where none does.
        by: file of the decision that overrules it.
    """

    file: str
    decision: str
    about: str
    state: str
    detail: str
    actor: str = ""
    release: str | None = None
    by: str | None = None
    self_reviewed: bool = False
    decision_id: str = ""


def statuses(desk: Desk) -> Iterator[Status]:
    """Every decision file of the checkout by name, then what the ledger has beside them."""
    rows, first = _known(desk.root)
    by_file: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        by_file[_file_of(row)].append(row)
    names = {row["decision_id"]: _file_of(row) for row in rows}
    folder = None
    with suppress(UsageError):
        folder = desk.folder
    files = sorted(folder.glob("*.y*ml")) if folder and folder.is_dir() else []
    ref = desk.settings.ledger.ref if desk.settings else "main"
    rows_by_id = {row["decision_id"]: row for row in rows}
    told_of: set[str] = set()
    for path in files:
        for one in _of_file(path, by_file.pop(path.name, []), names, first, ref, rows_by_id):
            told_of.add(one.decision_id)
            yield one
    for name, beside in sorted(by_file.items()):
        yield from (_row(name, row, names, first) for row in beside if row["decision_id"] not in told_of)


def _of_file(
    path: Path,
    rows: Sequence[dict[str, Any]],
    names: Mapping[str, str],
    first: Mapping[str, str],
    ref: str,
    rows_by_id: Mapping[str, dict[str, Any]],
) -> Iterator[Status]:
    try:
        decision = parse(path.read_text(encoding="utf-8"))
    except (YamlError, UnicodeDecodeError) as error:
        yield Status(path.name, "", "", "unreadable", str(error))
        return
    here = [row for row in rows if _is_of(row, decision)] or _by_id(path, decision, rows_by_id)
    if not here:
        about = decision.get("learning") or decision.get("target") or f"{len(decision.get('items', ()))} items"
        yield Status(path.name, decision["decision"], str(about), "pending", _waits_for(path, ref))
    yield from (_row(path.name, row, names, first) for row in here)


def _is_of(row: Mapping[str, Any], decision: Mapping[str, Any]) -> bool:
    """Whether a ledger row is this version of the file. Words that privacy took out of the table tell nothing."""
    named = {decision.get("learning"), *(item["learning"] for item in decision.get("items", ()))}
    same = row["decision"] == decision["decision"] and (row["claim_id"] is None or row["claim_id"] in named)
    changed = decision.get("text_sha256"), decision.get("target")
    theirs = row["decided_on_sha256"], row["target"]
    several = bool(decision.get("items"))
    return bool(same and (several or changed == theirs) and row["reason"] in ("", decision["reason"]))


def _by_id(path: Path, decision: Mapping[str, Any], rows_by_id: Mapping[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of a decision whose file the tables do not name, since it is on something private: by their ids."""
    try:
        objects, place = _checkout(path)
        first = objects.text("rev-list", "--first-parent", "HEAD").split()[-1]
    except (GitError, IndexError):
        return []
    found = (rows_by_id.get(made) for made in decision_ids(f"{SOURCE}:{place}@{first[:12]}", decision))
    return [row for row in found if row]


def _checkout(path: Path) -> tuple[Objects, str]:
    """The repository a file lies in, and its path there. Raises GitError where it lies in none."""
    whole = path.resolve()
    root = next((folder for folder in whole.parents if (folder / ".git").exists()), None)
    if root is None:
        raise GitError("no repository")
    return Objects(root, stream=False), whole.relative_to(root).as_posix()


def _waits_for(path: Path, ref: str) -> str:
    """What a decision that no release has seen waits for."""
    try:
        objects, place = _checkout(path)
        if objects.text("status", "--porcelain", "--", place).strip():
            return "it is not committed"
        on_ref = f"refs/remotes/origin/{ref}", f"refs/heads/{ref}"
        there = next(
            (name for name in on_ref if objects.text("rev-parse", "-q", "--verify", name, may_fail=True)), None
        )
        if there is None or not objects.text("ls-tree", there, "--", place, may_fail=True).strip():
            return f"it is not on {ref} yet"
    except GitError:
        return "the next night, if this folder is a source"
    return "it is on the protected ref; the next night takes it in"


def _row(file: str, row: Mapping[str, Any], names: Mapping[str, str], first: Mapping[str, str]) -> Status:
    state, code = str(row["state"]), row["because"]
    detail = REASONS.get(str(code), str(code)) if code else ""
    if state == "no_item":
        detail = "no item of that name is in memory"
    about = str(row["claim_id"] or row["target"] or "")
    return Status(
        file, row["decision"], about, state, detail, row["actor"], first.get(row["decision_id"]),
        names.get(row["overruled_by"] or "", row["overruled_by"]), bool(row["self_reviewed"]), row["decision_id"],
    )  # fmt: skip


def _known(root: Path) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """(ledger rows of the served release with what came of each, decision id to the first release it stood so in)."""
    current = release_folder(root, None)
    tables = current / "tables"
    if not (tables / f"{DECISION_STATUS.name}.parquet").exists():
        raise LorelakeError("this release does not say what became of decisions", where=str(current))
    status = _verdicts(current)
    rows = []
    for row in read_table(LEDGER, tables / "ledger.parquet").sort("ts", "decision_id").iter_rows(named=True):
        came = status[row["decision_id"]]
        extra = {"state": came["verdict"], **{k: came[k] for k in ("because", "overruled_by", "self_reviewed")}}
        rows.append({**row, **extra})
    first: dict[str, str] = {}
    for folder in sorted((root / RELEASES).iterdir(), key=_when):
        if RELEASE_ID.fullmatch(folder.name) and (folder / "tables" / f"{DECISION_STATUS.name}.parquet").exists():
            for decision, came in _verdicts(folder).items():
                if decision in status and came["verdict"] == status[decision]["verdict"]:
                    first.setdefault(decision, folder.name)
    return rows, first


def _when(folder: Path) -> tuple[date, float]:
    """As-of day, then when it was published."""
    day = folder.name[:10]
    known = date.fromisoformat(day) if RELEASE_ID.fullmatch(folder.name) else date.min
    return known, folder.stat().st_mtime


def _verdicts(release: Path) -> dict[str, dict[str, Any]]:
    path = release / "tables" / f"{DECISION_STATUS.name}.parquet"
    return {row["decision_id"]: row for row in read_table(DECISION_STATUS, path).iter_rows(named=True)}


def _file_of(row: Mapping[str, Any]) -> str:
    found = _PATH.search(str(row["source_uri"]))
    return found[1] if found else str(row["source_uri"]) or f"decision {row['decision_id'][:12]}"


def told(found: Sequence[Status]) -> str:
    """The decisions as a table."""
    if not found:
        return "no decisions yet"
    rows = [
        (
            one.file, f"{one.decision} {one.about[:16]}", one.actor, one.state + " (self-reviewed)" * one.self_reviewed,
            one.release, plain("; ".join(filter(None, (one.detail, one.by and f"by {one.by}")))),
        )
        for one in found
    ]  # fmt: skip
    table = text_table(
        ("file", "decision", "by", "state", "since release", "why"), rows, terminal_width(), wrap_last=True
    )
    states = [one.state for one in found]
    return f"{table}\n\n" + ", ".join(f"{states.count(state)} {state}" for state in dict.fromkeys(sorted(states)))
