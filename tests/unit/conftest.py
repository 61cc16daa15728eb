"""A small night, made by hand: four audiences, one item replaced, one forgotten, one waiting. Published once."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from lorelake.settings import Settings, Team
from lorelake.tables import TABLES, Table

AS_OF = date(2026, 3, 20)
NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
EMPTY: dict[str, Any] = {
    "str": "", "int": 0, "float": 0.5, "bool": False, "ts": NOON, "date": date(2026, 3, 10), "list[str]": [],
}  # fmt: skip


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def learning_id(name: str) -> str:
    return "lrn_" + sha256(name)[:32]


def row(table: Table, **values: Any) -> dict[str, Any]:
    """A row with every column: given values, else null where it may be, else something plain."""
    unknown = values.keys() - set(table.column_names)
    assert not unknown, f"{table.name} has no {unknown}"
    plain = {c.name: None if c.nullable else c.values[0] if c.values else EMPTY[c.base] for c in table.columns}
    return plain | values


class Night:
    """The tables of one night. Change `rows` before `tables()`; `add` makes a learning with its witness."""

    def __init__(self) -> None:
        self.rows: dict[str, list[dict[str, Any]]] = {name: [] for name, table in TABLES.items() if table.released}
        self.rows["signals"] = []

    def put(self, name: str, **values: Any) -> dict[str, Any]:
        made = row(TABLES[name], **values)
        self.rows[name].append(made)
        return made

    def add(self, name: str, audience: str, title: str, do: str, quote: str, **values: Any) -> dict[str, Any]:
        id_ = learning_id(name)
        learning = self.put(
            "learnings",
            **{
                "learning_id": id_, "state": "active", "state_reason": "stated", "trust": "stated", "kind": "procedure",
                "title": title, "when": "", "do": do, "audience": audience, "project": "unknown", "said_by": "mara",
                "people": 1, "families": 1, "confidence": 0.7, "confidence_low": 0.4, "confidence_high": 0.9,
                "text_sha256": sha256(title + do), "content_key": sha256("key " + name),
            } | values,
        )  # fmt: skip
        self.put(
            "learning_evidence", learning_id=id_, signal_id=sha256("s" + name)[:32], claim_id=id_, kind="correction",
            quote=quote, quote_start=0, quote_end=len(quote), quote_sha256=sha256(quote), quote_verified=True,
            actor="mara", actor_class="human", family_id="f-" + name, source_uri=f"claude-code/{name}.jsonl:7",
        )  # fmt: skip
        self.put("aliases", reference=id_, learning_id=id_, basis="claim", audience=audience)
        self.put("signals", signal_id=sha256("s" + name)[:32], audience=audience, quote=quote)
        self.put("admissions", signal_id=sha256("s" + name)[:32], admitted=True, rule="admitted", detail=quote)
        self.put("confidence", learning_id=id_, confidence=0.7, confidence_low=0.4, confidence_high=0.9)
        return learning

    def file_under(self, name: str, path: str, tagger: str = "tag") -> None:
        """File a learning under a topic of its audience; topics above it are made with it."""
        learning = self.learning(name)
        audience, parts = learning["audience"], path.split("/")
        above: str | None = None
        for depth in range(2, len(parts) + 1):
            place = "/".join(parts[:depth])
            topic = sha256(audience + place)[:32]
            if topic not in [row["topic_id"] for row in self.rows["topics"]]:
                self.put(
                    "topics", topic_id=topic, audience=audience, path=place, kind=parts[0], label=parts[depth - 1],
                    parent_id=above, learnings=1, active=1,
                )  # fmt: skip
            above = topic
        self.put(
            "topic_members", learning_id=learning["learning_id"], topic_id=above, tagger=tagger, found_in=parts[-1]
        )

    def learning(self, name: str) -> dict[str, Any]:
        return next(r for r in self.rows["learnings"] if r["learning_id"] == learning_id(name))

    def tables(self) -> dict[str, Any]:
        from lorelake.lake import frame

        return {name: frame(TABLES[name], rows) for name, rows in self.rows.items()}


def sample_night() -> Night:
    night = Night()
    night.put("intake", source="claude_code", capture="a.jsonl", capture_sha256="c0ffee", seen=12, kept=12)
    night.put("sessions", unit_id="claude_code:s1", family_id="f-other", audience="project:harbour", person="mara")
    night.put("funnel", source="claude_code", step="seen", position=1, rows=12)
    night.add(
        "paths", "team", "Quote every path in shell scripts", "Put double quotes around every path variable.",
        "please quote the paths, the deploy broke on a folder with a space", trust="reviewed", confidence=0.9,
        confidence_low=0.8, confidence_high=0.95, because="A folder name with a space split the argument.",
        not_when=["review: globs must stay outside the quotes"], applies_to=["scripts/deploy.sh"],
    )  # fmt: skip
    night.add(
        "paths_old", "team", "Escape blanks in paths with a backslash", "Write a backslash before each blank.",
        "we escape blanks by hand here", state="superseded", superseded_by=learning_id("paths"),
    )  # fmt: skip
    night.put(
        "supersession", older_id=learning_id("paths_old"), newer_id=learning_id("paths"), reason="explicit",
        status="applied", actor="mara", evidence="decisions/7.yaml",
    )  # fmt: skip
    night.add(
        "review", "team", "Ask for a second reader on migrations", "Request two reviews for any schema migration.",
        "any migration wants two reviewers, always",
    )  # fmt: skip
    night.add(
        "pnpm", "project:harbour", "Use pnpm, never npm, to install packages", "Run pnpm install --frozen-lockfile.",
        "no, we use pnpm here, not npm: harbourmark", applies_to=["package.json", "ERR_PNPM_OUTDATED_LOCKFILE"],
    )  # fmt: skip
    night.add(
        "waits", "project:harbour", "Restart the worker after a config change", "Restart the worker.",
        "restart the worker afterwards", state="candidate", trust="proposed",
    )  # fmt: skip
    night.put(
        "review_queue", learning_id=learning_id("waits"), why="candidate", audience="project:harbour",
        title="Restart the worker after a config change",
    )  # fmt: skip
    night.add(
        "cache", "project:lantern", "Clear the tile cache with lanternmark before a release", "Run make tiles-clean.",
        "always clear the tile cache first, lanternmark",
    )  # fmt: skip
    night.add(
        "secret_plan", "channel:C0PRIVATE",
        "Keep the ochremark numbers out of tickets", "Never paste ochremark figures.",
        "do not put the ochremark figures into any ticket", said_by="jonas",
    )  # fmt: skip
    night.put(
        "ledger", decision_id="d1", decision="endorse", claim_id=learning_id("secret_plan"), actor="jonas",
        reason="ochremark is right", verdict="applies", source_uri="decisions/ochremark.yaml",
    )  # fmt: skip
    night.put("decision_status", decision_id="d1", decision="endorse", learning_id=learning_id("secret_plan"))
    night.add(
        "gone", "team", "forgetmark wants his number removed", "Call forgetmark at home.", "call forgetmark at home",
        state="forgotten",
    )  # fmt: skip
    night.put(
        "exposures", exposure_id="e1", claim_id=learning_id("pnpm"), family_id="f-other", person="mara", act="shown"
    )
    night.put(
        "exposures", exposure_id="e2", claim_id=learning_id("pnpm"), family_id="f-other", person="mara", act="cited"
    )
    night.put(
        "votes", learning_id=learning_id("pnpm"), voter="mara", family_id="f-other", voter_class="agent",
        recalled=True, upvoted=True,
    )  # fmt: skip
    return night


@pytest.fixture
def night() -> Night:
    return sample_night()


@pytest.fixture(scope="session")
def make_night() -> Callable[[], Night]:
    return sample_night


@pytest.fixture
def ids() -> Callable[[str], str]:
    return learning_id


@pytest.fixture(scope="session")
def learning_of() -> Callable[[str], str]:
    """`ids`, for fixtures that live longer than a test."""
    return learning_id


@pytest.fixture(scope="session")
def settings() -> Settings:
    return Settings(team=Team(id="harbour-team"))


@pytest.fixture
def lake(tmp_path: Path) -> Any:
    from lorelake.lake import Lake

    return Lake(tmp_path / "lake")


Publish = Callable[..., Any]


def build_and_publish(lake: Any, settings: Settings, night: Night, as_of: date = AS_OF, **options: Any) -> Any:
    """One release from hand-made tables: build, audit, verdict, publish."""
    from lorelake.release.audit import invariants
    from lorelake.release.build import build_candidate
    from lorelake.release.publish import publish
    from lorelake.release.verdict import store_verdict

    build_candidate(lake, settings, as_of, night.tables(), {"night": "0" * 64})
    current = lake.current_release()
    findings = invariants(lake.candidate, lake.releases / current if current else None, settings, **options)
    store_verdict(lake.candidate, findings, {"suites": "pass"})
    return publish(lake, settings.team.id, datetime(2026, 3, 21, 2, tzinfo=UTC))


@pytest.fixture(scope="session")
def publish_night() -> Publish:
    return build_and_publish


@pytest.fixture(scope="session")
def _published_once(tmp_path_factory: pytest.TempPathFactory, settings: Settings) -> Path:
    from lorelake.lake import Lake

    root = tmp_path_factory.mktemp("published") / "lake"
    build_and_publish(Lake(root), settings, sample_night())
    return root


@pytest.fixture
def published(_published_once: Path, tmp_path: Path) -> Any:
    """A lake with one published release, a copy of its own for each test."""
    from lorelake.lake import Lake

    root = tmp_path / "published"
    shutil.copytree(_published_once, root)
    return Lake(root)
