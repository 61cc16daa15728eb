"""Rows for the SQL half: small builders for single cases, and `world`, a seeded lake of some hundred learnings."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from lorelake import lake as lakes
from lorelake.lake import Lake
from lorelake.tables import TABLES

Row = dict[str, Any]
AS_OF = date(2026, 3, 20)
HUMANS = ("ada", "ben", "cho", "dan")
SLACK_ONLY = ("slack:U1", "slack:U2")
REQUESTS = [f"github:shop!{number}" for number in range(60)]


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def claim_id(name: str) -> str:
    return "lrn_" + sha(name)[:32]


def text_hash(item: Mapping[str, Any]) -> str:
    parts = (item["title"], item["do"], item["because"] or "", "\x1e".join(item["not_when"]))
    return sha("\x1f".join(parts))


def days_ago(days: float) -> datetime:
    return datetime(2026, 3, 20, 12, tzinfo=UTC) - timedelta(days=days)


def person(person_id: str, kind: str = "human") -> Row:
    return {
        "source": "settings", "alias": f"{person_id}@example.org", "person_id": person_id, "kind": kind,
        "is_reviewer": kind == "human",
    }  # fmt: skip


def slack_name(person_id: str) -> Row:
    return {**person(person_id), "source": "slack", "alias": f"U{person_id.upper()}"}


def session(family: str) -> Row:
    return {
        "unit_id": family, "unit_kind": "session", "source": "claude_code", "family_id": family, "project": "shop",
        "project_assumed": False, "audience": "project:shop", "person": "ada", "branch": None, "began": days_ago(9),
        "ended": days_ago(9), "day": days_ago(9).date(), "events": 1, "errors": 0,
    }  # fmt: skip


def served(name: str, key: str, audience: str) -> Row:
    return {
        "sequence": 1, "release_id": "2026-03-01-00000000", "claim_id": claim_id(name), "content_key": key,
        "audience": audience,
    }  # fmt: skip


def signal(name: str, **changes: Any) -> Row:
    quote = f"do not push on fridays ({name})"
    row: Row = {
        "signal_id": sha("signal" + name)[:32], "kind": "instruction", "event_id": sha("event" + name)[:32],
        "unit_id": f"claude_code:{name}", "family_id": f"claude_code:{name}", "quote": quote, "quote_start": 0,
        "quote_end": len(quote), "quote_sha256": sha(quote), "quote_verified": True, "actor": "ada",
        "actor_class": "human", "ts": days_ago(5), "day": days_ago(5).date(), "project": "shop",
        "audience": "project:shop", "payload": "{}", "source_uri": f"{name}.jsonl:1", "first_kept": AS_OF,
    }  # fmt: skip
    return {**row, **changes}


def claim(name: str, of: Row, **changes: Any) -> Row:
    row: Row = {
        "claim_id": claim_id(name), "signal_id": of["signal_id"], "learning_id": claim_id(name), "is_canonical": True,
        "title": f"No pushes on Friday {name}", "when": "git push", "do": "Wait until Monday.",
        "because": "Nobody is on call.", "rejected": None, "not_when": [], "kind": "procedure", "severity": None,
        "applies_to": ["git push"], "self_check": [], "tags": [], "inferred": [], "content_key": sha("key" + name),
        "former_ids": [], "signature": [], "trust_basis": "stated", "risks": [], "document": None, "tombstone": None,
        "tombstone_match": None,
    }  # fmt: skip
    row.update(changes)
    row.setdefault("text_sha256", text_hash(row))
    return row


def decision(name: str, kind: str, on: str, **changes: Any) -> Row:
    row: Row = {
        "decision_id": sha("decision" + name)[:32], "decision": kind, "claim_id": on, "other_claim_id": None,
        "target": None, "claims": [], "content_key": None, "signature": [], "decided_on_sha256": None,
        "new_text": None, "revalidate_by": None, "reach": "team", "erase": False, "experiment": None, "actor": "cho",
        "actor_basis": "commit", "is_signed": False, "reason": "said so", "ts": days_ago(1), "verdict": "applies",
        "refused_because": None, "source_uri": f"decisions/{name}.yaml", "first_kept": AS_OF,
    }  # fmt: skip
    return {**row, **changes}


def exposure(name: str, of: str, act: str, **changes: Any) -> Row:
    row: Row = {
        "exposure_id": sha(f"exposure{name}{act}{of}")[:32], "claim_id": of, "unit_id": f"claude_code:{name}",
        "family_id": f"claude_code:{name}", "person": "ben", "act": act,
        "surface": "cli", "rank": 1 if act == "shown" else None, "recall_id": None,
        "verdict": "applying" if act == "confirmed" else None, "evidence": None,
        "release_id": "2026-03-01-00000000" if act == "shown" else None, "audience": "project:shop", "ts": days_ago(2),
    }  # fmt: skip
    return {**row, **changes}


def link(older: str, newer: str, **changes: Any) -> Row:
    row: Row = {
        "older_id": older, "newer_id": newer, "reason": "explicit", "evidence": "decision", "quote": None,
        "actor": "cho", "ts": days_ago(3), "partial": False, "part": None, "ambiguous": False, "older_evidence": None,
        "older_quote": None, "newer_evidence": None, "newer_quote": None, "features": "{}",
    }  # fmt: skip
    return {**row, **changes}


def event(name: str, **changes: Any) -> Row:
    row: Row = {
        "event_id": sha("event" + name)[:32], "unit_id": f"claude_code:{name}", "unit_kind": "session",
        "source": "claude_code", "seq": 0, "ts": days_ago(5), "day": days_ago(5).date(), "actor": "ada",
        "actor_class": "human", "kind": "prompt", "tool": None, "call_id": None, "reply_to": None, "is_error": None,
        "exit_code": None, "command": None, "path": None, "line": None, "revision": None, "text": "said",
        "text_sha256": sha("said"), "on_live_path": True, "project": "shop", "audience": "project:shop",
        "attributes": "{}", "source_uri": f"{name}.jsonl:1", "first_kept": AS_OF,
    }  # fmt: skip
    return {**row, **changes}


def intake(source: str, seen: int, reasons: Mapping[str, int]) -> Row:
    refused = sum(reasons.values())
    return {
        "source": source, "capture": f"{source}.zip", "capture_sha256": sha(source), "seen": seen,
        "kept": seen - refused, "refused": refused, "reasons": json.dumps(reasons), "fingerprint": sha(source),
        "extent": "{}",
    }  # fmt: skip


def write(lake: Lake, rows: Mapping[str, Sequence[Row]]) -> None:
    """The rows as the Python stages would leave them: daily files where the table is partitioned."""
    for name, some in rows.items():
        table = TABLES[name]
        if name == "served_ids":
            publish = "000001-2026-03-01-00000000.parquet"
            lakes.write_table(TABLES["history"], lakes.frame(TABLES["history"], []), lake.history / publish)
            lakes.write_table(table, lakes.frame(table, some), lake.history / name / publish)
            continue
        if not table.partitioned:
            lakes.write_table(table, lakes.frame(table, some), lake.table(table))
            continue
        for day in sorted({row["day"] for row in some}):
            part = [row for row in some if row["day"] == day]
            lakes.write_table(table, lakes.frame(table, part), lake.table(table, day))


def write_unordered(path: Path, name: str, rows: Sequence[Row]) -> None:
    """A Parquet file whose rows lie in the order given, which `write_table` would not leave."""
    import polars as pl

    path.parent.mkdir(parents=True, exist_ok=True)
    table = TABLES[name]
    frame = pl.DataFrame(list(rows), schema=table.polars_schema(), orient="row").select(table.column_names)
    frame.write_parquet(path, row_group_size=7)


class World:
    """Some hundred learnings with everything that can happen to one, from one seed."""

    def __init__(self, seed: int, learnings: int = 240) -> None:
        self.random = random.Random(seed)
        self.rows: dict[str, list[Row]] = {
            name: []
            for name in (
                "people", "events", "ledger", "signals", "admissions", "exposures", "claims",
                "supersession_candidates", "intake", "quarantine", "sessions", "session_merge_requests", "served_ids",
            )
        }  # fmt: skip
        self.rows["people"] = [*(person(name) for name in HUMANS), person("botty", "bot"), person("helper", "agent")]
        self.rows["people"] += [slack_name(name) for name in ("ada", "ben", *SLACK_ONLY)]
        self.rows["sessions"] = [session(f"claude_code:f{number}") for number in range(400)]
        self.learnings = [self._learning(number) for number in range(learnings)]
        self._take_away()
        self._serve()
        self._decide()
        self._tombstone()
        self._supersede()
        self._expose()
        self._books()
        self._join()

    def when(self, oldest: float = 210) -> datetime:
        """Whole hours, so that equal instants are frequent."""
        return days_ago(0) - timedelta(hours=self.random.randrange(int(oldest * 24)))

    def _learning(self, number: int) -> str:
        pick = self.random
        learning = claim_id(f"{number}-0")
        basis = pick.choice(["stated", "stated", "stated", "mechanical", "mechanical", "proposed", "reviewed"])
        document = f"learnings/{number}.md" if pick.random() < 0.2 else None
        audience = pick.choice(["team", "project:shop", "project:till", "channel:C1"])
        families = [f"claude_code:f{pick.randrange(400)}" for _ in range(4)]
        others = [row["content_key"] for row in self.rows["claims"]]
        keys = [
            pick.choice(others) if others and pick.random() < 0.25 else sha(f"key{number}-{nth}") for nth in range(4)
        ]
        for member in range(pick.choice([1, 1, 2, 3, 4])):
            own = basis if pick.random() < 0.8 else pick.choice(["stated", "mechanical", "proposed"])
            words = {
                "kind": pick.choice(["scar", "scar", "procedure", "fact"]),
                "severity": pick.choice([None, "low", "high"]),
                "because": pick.choice([None, "It broke the till last year."]),
                "when": pick.choice(["", "git push"]),
                "not_when": pick.sample(
                    ["thread: during a freeze it was allowed once", "ben: on a hotfix branch we always do it",
                     "Ben: On a HOTFIX branch, we always do it!", "short: no", "the release train has its own rule"],
                    pick.randrange(4),
                ),
                "risks": pick.choice([[], [], ["security"], ["deploys", "data loss"]]),
                "title": f"title {number} {member}",
                "inferred": ["title", "because"][: number % 3],
            }  # fmt: skip
            for nth in range(pick.choice([1, 1, 2])):
                name = f"{number}-{member}-{nth}"
                witness = self._witness(own)
                unit = f"documents:{document}" if document and own in ("stated", "reviewed") else f"claude_code:u{name}"
                family = pick.choice(families)
                if not unit.startswith("documents:") and pick.random() < 0.25:
                    unit = family = pick.choice(REQUESTS)
                said = self.when()
                late = pick.choice([0, 0, 0, pick.randrange(210)])
                kept = min(AS_OF, said.date() + timedelta(days=late))
                of = signal(
                    name, ts=said, family_id=family, unit_id=unit, audience=audience,
                    first_kept=kept, **witness,
                )  # fmt: skip
                self.rows["signals"].append(of)
                self.rows["admissions"].append(
                    {"signal_id": of["signal_id"], "admitted": True, "rule": "admitted", "detail": ""}
                )
                self.rows["claims"].append(
                    claim(
                        f"{number}-{member}",
                        of,
                        learning_id=learning,
                        is_canonical=member == 0 and nth == 0,
                        trust_basis=own,
                        document=document if unit.startswith("documents:") else None,
                        content_key=keys[member],
                        former_ids=[claim_id(f"former{number % 90}")] if member == 2 else [],
                        **words,
                    )
                )
        if document and pick.random() < 0.6:
            at = self.when()
            self.rows["events"].append(
                event(
                    f"deleted{number}",
                    unit_id=f"documents:{document}",
                    unit_kind="document",
                    source="documents",
                    kind="document_deleted",
                    ts=at,
                    day=at.date(),
                    **pick.choice([{"actor": "gitmem", "actor_class": "agent"}, {"actor": pick.choice(HUMANS)}]),
                    path=document,
                    first_kept=max(at.date(), AS_OF - timedelta(days=pick.randrange(30))),
                )
            )
        return learning

    def _take_away(self) -> None:
        """Messages deleted after something was drawn from them, and merge requests reverted, some reverts undone."""
        pick = self.random
        signals = {row["signal_id"]: row for row in self.rows["signals"]}
        for number, row in enumerate(pick.sample(self.rows["claims"], len(self.learnings) // 5)):
            said = signals[row["signal_id"]]
            if row["document"] is None and said["unit_id"] not in REQUESTS:
                at = said["ts"] + timedelta(hours=pick.randrange(1, 400))
                away = event(
                    f"away{number}", kind="message_deleted", actor="unknown", actor_class="system", ts=at,
                    day=at.date(), first_kept=max(at.date(), said["first_kept"]),
                )  # fmt: skip
                self.rows["events"].append(away)
                said["payload"] = json.dumps({"item": {}, "seen": {"deleted_by": away["event_id"]}})
        for number, row in enumerate(pick.sample(self.rows["claims"], 12)):
            for who in ("ada", "dan"):
                self.rows["ledger"].append(
                    decision(f"{who}-against-{number}", "dispute", row["claim_id"], actor=who, ts=self.when(40))
                )
        for number, request in enumerate(pick.sample(REQUESTS, 40)):
            seen = {"reverted": request} | ({"undone": True} if pick.random() < 0.2 else {})
            at = self.when(100)
            self.rows["signals"].append(
                signal(
                    f"revert{number}", kind="revert", ts=at, first_kept=at.date(), actor=pick.choice(HUMANS),
                    payload=json.dumps({"item": {}, "seen": seen}),
                )
            )  # fmt: skip
            self.rows["admissions"].append(
                {"signal_id": self.rows["signals"][-1]["signal_id"], "admitted": False, "rule": "no_item", "detail": ""}
            )

    def _serve(self) -> None:
        """Ids of earlier releases: of projects that are gone, of a private channel, and of claims that still stand."""
        pick = self.random
        for number in range(80):
            row = pick.choice(self.rows["claims"])
            audience = pick.choice(["team", "project:gone", "project:gone", "channel:C9"])
            self.rows["served_ids"].append(served(f"served{number}", row["content_key"], audience))
        known = {row["claim_id"]: row for row in pick.sample(self.rows["claims"], 40)}
        self.rows["served_ids"] += [
            {**served("", row["content_key"], "team"), "claim_id": claim} for claim, row in sorted(known.items())
        ]

    def _join(self) -> None:
        """Requests that sessions made: some of the very learnings they stand behind, and some nobody made."""
        pick = self.random
        by_learning: dict[str, set[str]] = {}
        families = {row["signal_id"]: row["family_id"] for row in self.rows["signals"]}
        for row in self.rows["claims"]:
            by_learning.setdefault(row["learning_id"], set()).add(families[row["signal_id"]])
        found = set()
        for some in by_learning.values():
            for request in sorted(some & set(REQUESTS)):
                mine = sorted(family for family in some if family.startswith("claude_code:f"))
                found |= {(family, request) for family in mine if pick.random() < 0.4}
                found |= {(f"claude_code:f{pick.randrange(400)}", request) for _ in range(pick.choice([0, 0, 1]))}
        self.rows["session_merge_requests"] = [
            {"session_id": one, "merge_request_id": request, "basis": "branch", "event_id": None, "ts": days_ago(8)}
            for one, request in sorted(found)
        ]

    def _witness(self, basis: str) -> Row:
        if basis == "mechanical":
            return {"actor": "Bash", "actor_class": "tool", "kind": "error_fixed"}
        if basis == "proposed":
            return {"actor": "claude", "actor_class": "agent", "kind": "instruction"}
        return {"actor": self.random.choice([*HUMANS, *SLACK_ONLY, "unknown:codex:m2"]), "actor_class": "human"}

    def _name(self, row: Row) -> str:
        """The item as somebody names it: whole, or by a prefix of 12 hex digits or more; or by an id it once had."""
        if self.random.random() < 0.1:
            return str(self.random.choice(self.rows["served_ids"])["claim_id"])[: self.random.choice([36, 16])]
        if row["former_ids"] and self.random.random() < 0.5:
            return str(row["former_ids"][0])
        return str(row["claim_id"])[: self.random.choice([36, 36, 16, 20])]

    def _decide(self) -> None:
        pick = self.random
        kinds = ["approve"] * 6 + ["edit"] * 3 + ["retire", "restore", "reject", "reject", "forget"]
        kinds += ["endorse"] * 4 + ["dispute"] * 4
        for number in range(len(self.learnings)):
            row = pick.choice(self.rows["claims"])
            canonical = next(c for c in self.rows["claims"] if c["learning_id"] == row["learning_id"])
            for nth in range(pick.choice([1, 1, 2, 3])):
                kind = pick.choice(kinds)
                new = None
                if kind == "edit" or (kind == "approve" and pick.random() < 0.3):
                    new = json.dumps(
                        dict(
                            pick.sample(
                                [("title", f"edited {number}"), ("do", "Ask first."), ("because", None),
                                 ("not_when", ["ben: when the office is closed anyway", "cho: in the sandbox account"]),
                                 ("kind", "scar"), ("severity", "high"), ("when", "deploy")],
                                pick.randrange(1, 4),
                            )
                        )
                    )  # fmt: skip
                self.rows["ledger"].append(
                    decision(
                        f"{number}-{nth}",
                        kind,
                        self._name(row),
                        new_text=new,
                        ts=self.when(120),
                        actor=pick.choice([*HUMANS, *HUMANS, "botty", "helper"]),
                        decided_on_sha256=pick.choice([canonical["text_sha256"]] * 3 + [sha("another text"), None]),
                        content_key=pick.choice([None, row["content_key"]]),
                        signature=["0f00000000", "0a00000000", "0f00000000", "e" * 16]
                        if kind in ("reject", "forget")
                        else [],
                        reach="project:shop" if kind == "reject" and number % 4 == 0 else "team",
                        verdict="applies" if pick.random() < 0.9 else "refused",
                    )
                )
        for row in self.rows["ledger"]:
            row["refused_because"] = "not_a_reviewer" if row["verdict"] == "refused" else None
            late = pick.choice([0, 0, 0, 0, pick.randrange(40)])
            row["first_kept"] = min(AS_OF, row["ts"].date() + timedelta(days=late))
        self._approve_own()
        self.rows["ledger"].append(decision("late", "reject", self.rows["claims"][0]["claim_id"], ts=days_ago(-3)))

    def _approve_own(self) -> None:
        """People approve what only they said."""
        said = {row["signal_id"]: row for row in self.rows["signals"]}
        for number, row in enumerate(self.rows["claims"][:60:4]):
            own = said[row["signal_id"]]["actor"]
            approval = {"actor": own, "ts": days_ago(2), "decided_on_sha256": row["text_sha256"]}
            self.rows["ledger"].append(decision(f"own-{number}", "approve", row["claim_id"], **approval))

    def _tombstone(self) -> None:
        """Near and exact hits, as the clustering would mark them; one points to a decision nobody has."""
        pick = self.random
        rejections = [row for row in self.rows["ledger"] if row["decision"] in ("reject", "forget")]
        for row in pick.sample(self.rows["claims"], len(self.learnings) // 8):
            row["tombstone"] = pick.choice(rejections)["decision_id"]
            row["tombstone_match"] = pick.choice(["near", "near", "exact"])
        self.rows["claims"][-1].update(tombstone="0" * 32, tombstone_match="exact")

    def _supersede(self) -> None:
        pick = self.random
        some = pick.sample(self.learnings, min(60, len(self.learnings)))
        seen = set()
        for _ in range(len(some)):
            older, newer = pick.choice(some), pick.choice(some)
            reason = pick.choice(["explicit", "same_document", "value_changed"])
            if (older, newer, reason) not in seen:
                seen.add((older, newer, reason))
                self.rows["supersession_candidates"].append(
                    link(older, newer, reason=reason, ts=self.when(90), actor=pick.choice(HUMANS))
                )
        for older, newer in zip(some[::2], some[1::2], strict=False):
            reason = pick.choice(["explicit", "decision_reversed", "duplicate"])
            if (older, newer, reason) not in seen:
                part = pick.choice([None, "the layout"])
                doubt = {"partial": pick.random() < 0.6, "part": part, "ambiguous": pick.random() < 0.3}
                self.rows["supersession_candidates"].append(
                    link(older, newer, reason=reason, ts=self.when(90), **doubt)
                )
        for row in self.rows["supersession_candidates"][:3]:
            undone = row["ts"] + timedelta(hours=1)
            self.rows["ledger"].append(decision(f"undo-{row['newer_id']}", "restore", row["older_id"], ts=undone))

    def _expose(self) -> None:
        pick = self.random
        for number in range(len(self.learnings) * 3):
            row = pick.choice(self.rows["claims"])
            family = f"claude_code:f{pick.randrange(400)}"
            who = pick.choice([*HUMANS, "botty", "unknown:codex:m2"])
            acts = [("shown",), ("shown", "cited"), ("shown", "shown", "cited"), ("cited",), ("opened", "confirmed")]
            for act in pick.choice(acts):
                self.rows["exposures"].append(
                    exposure(
                        f"{number}-{len(self.rows['exposures'])}",
                        self._name(row),
                        act,
                        family_id=family,
                        person=who if pick.random() < 0.9 else pick.choice(HUMANS),
                        ts=self.when(150),
                        **({"verdict": pick.choice(["applying", "n_a", "refuted"])} if act == "confirmed" else {}),
                    )
                )
            if pick.random() < 0.1:
                self._refute(self.rows["exposures"][-1])

    def _refute(self, shown: Row) -> None:
        """A person says in the session that what was shown is wrong, more or less plainly."""
        number, pick = len(self.rows["signals"]), self.random
        seen = {"claim": shown["claim_id"], "plain": pick.random() < 0.8}
        said = signal(
            f"refuting-{number}", kind="memory_refuted", family_id=shown["family_id"], actor=pick.choice(HUMANS),
            ts=shown["ts"] + timedelta(hours=pick.randrange(-3, 20)), quote_verified=pick.random() < 0.9,
            payload=json.dumps({"item": {}, "seen": seen}),
        )  # fmt: skip
        self.rows["signals"].append(said)
        self.rows["admissions"].append(
            {"signal_id": said["signal_id"], "admitted": False, "rule": "no_item", "detail": "no direction"}
        )

    def _books(self) -> None:
        self.rows["intake"] = [intake("claude_code", 500, {"not_json": 3, "no_time": 1}), intake("slack", 0, {})]
        refused = signal("refused", unit_id="slack:C1:1.2")
        self.rows["signals"].append(refused)
        self.rows["admissions"].append(
            {"signal_id": refused["signal_id"], "admitted": False, "rule": "too_short", "detail": "3 words"}
        )
        self.rows["events"] += [event(f"said{n}", ts=days_ago(n + 1), day=days_ago(n + 1).date()) for n in range(9)]
