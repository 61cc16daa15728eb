"""A lake in which learnings were used: errors that came again or went away, merges, reverts, stops, pins, imports."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

from sql_samples import (
    HUMANS,
    REQUESTS,
    Row,
    World,
    days_ago,
    decision,
    event,
    exposure,
    session,
    sha,
    signal,
)

SIGNATURES = [f"sig-2:{sha(f'error {number}')[:32]}" for number in range(30)]


def error_seen(
    name: str, family: str, signature: str, ts: datetime, last: datetime, count: int, **changes: object
) -> Row:
    """An error that a command told of `count` times in a session."""
    seen = {"signature": signature, "count": count, "last": last.isoformat()}
    return signal(
        name, kind="error_seen", actor="Bash", actor_class="tool", unit_id=family, family_id=family, ts=ts,
        payload=json.dumps({"item": {}, "seen": seen}), **changes,
    )  # fmt: skip


def error_fixed(name: str, family: str, signature: str, ts: datetime, passed: datetime) -> tuple[Row, Row]:
    """An error that went away, and the result that passed."""
    passing = event(
        f"pass{name}", unit_id=family, kind="tool_result", actor="Bash", actor_class="tool", ts=passed, is_error=False
    )
    seen = {"signature": signature, "passed_in": passing["event_id"]}
    found = signal(
        name, kind="error_fixed", actor="Bash", actor_class="tool", unit_id=family, family_id=family, ts=ts,
        payload=json.dumps({"item": {}, "seen": seen}),
    )  # fmt: skip
    return found, passing


def total(name: str, unit: str | None, **changes: object) -> Row:
    """What teamai counted of one item."""
    row: Row = {
        "total_id": sha(f"total{name}")[:32], "system": "teamai", "store": "shop@r", "item_id": name, "also": [],
        "voter": "ben", "unit_id": unit, "recalled": 3, "upvoted": 1, "refuted": 0, "last_recalled": days_ago(20),
        "last_upvoted": None, "unsynced": 0, "is_apart": False, "is_deleted": False, "counted_at": days_ago(10),
        "audience": "team",
    }  # fmt: skip
    return {**row, **changes}


class UsageWorld(World):
    """`World`, and what happened in its sessions after learnings were shown there."""

    def __init__(self, seed: int, learnings: int = 240) -> None:
        super().__init__(seed, learnings)
        self.rows["imported_votes"] = []
        self._show_where_it_comes_from()
        self._name_errors()
        self._happen()
        self._merge()
        self._count_elsewhere()
        self._pin()

    def _say(self, *signals: Row) -> None:
        for row in signals:
            self.rows["signals"].append(row)
            self.rows["admissions"].append(
                {"signal_id": row["signal_id"], "admitted": False, "rule": "no_item", "detail": "an observation"}
            )

    def _show_where_it_comes_from(self) -> None:
        """The session that a learning was learned in reads it back, and cites it."""
        families = {row["signal_id"]: row["family_id"] for row in self.rows["signals"]}
        for number, row in enumerate(self.random.sample(self.rows["claims"], 20)):
            where = {"family_id": families[row["signal_id"]], "ts": days_ago(2)}
            self.rows["exposures"] += [
                exposure(f"own{number}", row["claim_id"], act, **where) for act in ("shown", "cited")
            ]

    def _name_errors(self) -> None:
        """Some learnings name an error in their words, some have it from their evidence."""
        pick = self.random
        for row in self.rows["claims"]:
            if pick.random() < 0.4:
                row["applies_to"] = ["git push", pick.choice(SIGNATURES)]
        for row in self.rows["signals"]:
            if row["kind"] == "error_fixed":
                row["payload"] = json.dumps({"item": {}, "seen": {"signature": pick.choice(SIGNATURES)}})

    def _happen(self) -> None:
        pick = self.random
        signatures: dict[str, list[str]] = {}
        for row in self.rows["claims"]:
            signatures.setdefault(row["learning_id"], []).extend(x for x in row["applies_to"] if x.startswith("sig-"))
        meant = {row["claim_id"]: row["learning_id"] for row in self.rows["claims"]}
        families: dict[str, list[Row]] = {}
        for row in self.rows["exposures"]:
            families.setdefault(row["family_id"], []).append(row)
        for number, (family, acts) in enumerate(sorted(families.items())):
            around = acts[0]["ts"]
            near = [key for act in acts for key in signatures.get(meant.get(act["claim_id"], ""), ())]
            for nth in range(pick.choice([0, 1, 1, 2])):
                name = f"met-{number}-{nth}"
                key = pick.choice(near) if near and pick.random() < 0.7 else pick.choice(SIGNATURES)
                first = around + timedelta(hours=pick.randrange(-5, 6))
                last = first + timedelta(hours=pick.randrange(4))
                place = {"audience": pick.choice(["project:shop", "project:till", "person:ada"]), "project": "shop"}
                self._say(error_seen(name, family, key, first, last, pick.randrange(1, 4), **place))
                if pick.random() < 0.5:
                    passed = last + timedelta(hours=pick.randrange(-1, 3))
                    said, passing = error_fixed(f"mended-{name}", family, key, first, passed)
                    self._say(said)
                    self.rows["events"].append(passing)
            if pick.random() < 0.3:
                at = around + timedelta(hours=pick.randrange(-3, 4))
                kind = pick.choice(["rejection", "interrupt", "prompt"])
                live = pick.random() < 0.8
                self.rows["events"].append(event(f"stop{number}", unit_id=family, kind=kind, ts=at, on_live_path=live))
            if pick.random() < 0.1:
                ended = days_ago(pick.choice([-0.3, 0.7, 3]))
                self.rows["sessions"].append({**session(f"{family}/sub"), "family_id": family, "ended": ended})

    def _merge(self) -> None:
        pick = self.random
        families = sorted({row["family_id"] for row in self.rows["exposures"]})
        made = {(row["session_id"], row["merge_request_id"]) for row in self.rows["session_merge_requests"]}
        for family in pick.sample(families, len(families) // 2):
            made.add((family, pick.choice(REQUESTS)))
        self.rows["session_merge_requests"] = [
            {"session_id": one, "merge_request_id": request, "basis": "branch", "event_id": None, "ts": days_ago(8)}
            for one, request in sorted(made)
        ]
        for number, request in enumerate(REQUESTS[::2]):
            merged = self.when(90)
            of_request = {"unit_id": request, "unit_kind": "merge_request", "source": "github"}
            self.rows["events"].append(event(f"merge{number}", kind="merge_request_merged", ts=merged, **of_request))
            if pick.random() < 0.5:
                seen: dict[str, object] = {"reverted": request}
                seen |= {"undone": True} if pick.random() < 0.3 else {}
                at = min(merged + timedelta(days=pick.randrange(-2, 9)), days_ago(0))
                payload = json.dumps({"item": {}, "seen": seen})
                of = {"unit_id": request, "family_id": request, "payload": payload}
                self._say(signal(f"taken back {number}", kind="revert", ts=at, first_kept=at.date(), **of))

    def _count_elsewhere(self) -> None:
        pick = self.random
        units = sorted({row["unit_id"] for row in self.rows["signals"] if row["unit_id"].startswith("documents:")})
        for number, unit in enumerate(units):
            for nth in range(pick.choice([0, 1, 2])):
                self.rows["imported_votes"].append(
                    total(
                        f"{number}-{nth}", unit if pick.random() < 0.9 else None, recalled=pick.randrange(12),
                        upvoted=pick.randrange(4), last_recalled=pick.choice([None, self.when(200)]),
                        counted_at=self.when(100), is_apart=pick.random() < 0.2, is_deleted=pick.random() < 0.2,
                        audience=pick.choice(["team", "project:shop", "channel:C1", "channel:C9"]),
                    )
                )  # fmt: skip

    def _pin(self) -> None:
        for number, row in enumerate(self.random.sample(self.rows["claims"], 12)):
            self.rows["ledger"].append(
                decision(f"pin{number}", "pin", row["claim_id"], ts=self.when(60), actor=self.random.choice(HUMANS))
            )
