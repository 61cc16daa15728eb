"""Merge requests as GitHub tells them, small; and what the format makes of them."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from lorelake.formats import github
from lorelake.formats.record import Capture, Event, Member, Record, Refusal, Unit, UnitRecord, canonical, in_order

API = "https://api.github.com/repos/harbour/api"
PAGE = "https://github.com/harbour/api"
ANA = {"login": "ana-r", "id": 7, "type": "User"}


def file(content: Any, name: str = "capture.json", **settings: Any) -> Capture:
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    return Capture(name, (Member(name, len(data), lambda: io.BytesIO(data)),), "0" * 64, **settings)


def read(*captures: Capture) -> tuple[list[Record], list[Refusal]]:
    found = [one for capture in captures for one in github.read(capture)]
    return [one for one in found if isinstance(one, Record)], [one for one in found if isinstance(one, Refusal)]


def units(nights: Iterable[tuple[str, list[Record]]]) -> dict[str, Unit]:
    """What raw makes of records: each version once, kept on the day it was first met."""
    kept: dict[str, dict[tuple[str, str], UnitRecord]] = {}
    for day, records in nights:
        for one in records:
            stored = UnitRecord(
                one.id, one.type, one.ts or datetime(2026, 1, 1, tzinfo=UTC), one.value, f"{one.member}:{one.line}", day
            )
            kept.setdefault(one.unit, {}).setdefault((one.id, canonical(one.value)), stored)
    return {
        unit: Unit("github", f"github:{unit}", in_order(found.values()), None, None) for unit, found in kept.items()
    }


def told(*nights: Capture) -> list[Event]:
    found = units((f"2026-03-{2 + number:02d}", read(night)[0]) for number, night in enumerate(nights))
    return sorted((event for unit in found.values() for event in github.events(unit)), key=lambda event: event.ts)


def remark(number: int, body: str, minute: int = 0, **more: Any) -> dict[str, Any]:
    """A REST review comment on line 19."""
    return {
        "id": number, "pull_request_url": f"{API}/pulls/12", "html_url": f"{PAGE}/pull/12#discussion_r{number}",
        "diff_hunk": "@@ -1 +1 @@", "path": "src/rates.py", "line": 19, "original_line": 19, "position": 3,
        "commit_id": "c" * 40, "original_commit_id": "a" * 40, "user": ANA, "body": body, "subject_type": "line",
        "author_association": "MEMBER", "created_at": f"2026-03-02T09:{minute:02d}:00Z",
        "updated_at": f"2026-03-02T09:{minute:02d}:00Z", "pull_request_review_id": 99, **more,
    }  # fmt: skip


def comment(number: int, body: str, minute: int = 0, **more: Any) -> dict[str, Any]:
    """A REST comment of the conversation."""
    return {
        "id": number, "issue_url": f"{API}/issues/12", "html_url": f"{PAGE}/pull/12#issuecomment-{number}",
        "user": ANA, "body": body, "author_association": "MEMBER", "created_at": f"2026-03-02T10:{minute:02d}:00Z",
        "updated_at": f"2026-03-02T10:{minute:02d}:00Z", **more,
    }  # fmt: skip


def pull(**more: Any) -> dict[str, Any]:
    return {
        "number": 12, "html_url": f"{PAGE}/pull/12", "url": f"{API}/pulls/12", "diff_url": f"{PAGE}/pull/12.diff",
        "title": "Round rates half to even", "body": "Banks do.", "state": "open", "user": ANA, "draft": False,
        "created_at": "2026-03-02T08:00:00Z", "updated_at": "2026-03-02T08:00:00Z", "merged_at": None,
        "closed_at": None, "head": {"ref": "rates", "sha": "c" * 40}, "base": {"ref": "main", "sha": "b" * 40}, **more,
    }  # fmt: skip


def thread(state: str, number: int, **more: Any) -> dict[str, Any]:
    """A GraphQL review thread that holds one comment."""
    node = {"databaseId": number, "body": f"remark {number}", "author": {"login": "ana-r"}, "path": "src/rates.py",
            "createdAt": "2026-03-02T09:00:00Z", "originalLine": 19, "line": None if state == "outdated" else 19,
            "originalCommit": {"oid": "a" * 40}, "commit": {"oid": "c" * 40}, "diffHunk": "@@"}  # fmt: skip
    return {
        "id": f"PRRT_{number}", "isResolved": state == "resolved", "isOutdated": state == "outdated",
        "resolvedBy": {"login": "bo"} if state == "resolved" else None, "comments": {"nodes": [node]}, **more,
    }  # fmt: skip


def answer(*threads: dict[str, Any]) -> dict[str, Any]:
    request = {"number": 12, "url": f"{PAGE}/pull/12", "reviewThreads": {"nodes": list(threads)}}
    return {"data": {"repository": {"pullRequest": request}}}
