"""Some thousand short lives of learnings, so crowded into the same few instants that every allowed move is met."""

from __future__ import annotations

import json
import random
from datetime import timedelta
from typing import Any

from sql_samples import AS_OF, HUMANS, Row, claim, days_ago, decision, event, link, person, sha, signal

INSTANTS = (150, 120, 40, 40, 10, 10)
"""Days ago at which anything happens; few, so that one instant both undoes one thing and does another."""

BASES = ("stated", "stated", "mechanical", "proposed", "reviewed")

TABLES_READ = (
    "people", "events", "ledger", "signals", "admissions", "exposures", "claims", "supersession_candidates", "intake",
    "quarantine", "sessions", "session_merge_requests", "served_ids",
)  # fmt: skip


class Lives:
    """Rows of a lake in which each learning has its own evidence, decisions, newer one and deletions."""

    def __init__(self, seed: int, lives: int) -> None:
        self.random = random.Random(seed)
        self.rows: dict[str, list[Row]] = {name: [] for name in TABLES_READ}
        self.rows["people"] = [person(name) for name in HUMANS]
        self._tombstone = self._decide("near", "reject", "lrn_" + "0" * 32, content_key=sha("near"), ts=days_ago(160))
        self._decide("lift", "restore", "lrn_" + "0" * 32, content_key=sha("near"), ts=days_ago(10))
        self._held = self._decide("held", "reject", "lrn_" + "1" * 32, content_key=sha("held"), ts=days_ago(40))
        for number in range(lives):
            self._live(str(number))

    def when(self) -> Any:
        """One of the instants."""
        return days_ago(self.random.choice(INSTANTS))

    def _decide(self, name: str, kind: str, on: str, **values: Any) -> str:
        row = decision(name, kind, on, **values)
        row["first_kept"] = row["ts"].date()
        self.rows["ledger"].append(row)
        return str(row["decision_id"])

    def _live(self, name: str) -> None:
        pick = self.random
        basis = pick.choice(BASES)
        near = pick.random() < 0.15
        words = {
            "kind": pick.choice(["fact", "procedure"]),
            "risks": ["deploys"] if pick.random() < 0.3 else [],
            "tombstone": pick.choice([self._tombstone, self._held]) if near else None,
            "tombstone_match": "near" if near else None,
            "document": f"learnings/{name}.md" if basis in ("stated", "reviewed") and pick.random() < 0.4 else None,
        }
        said = [
            self._say(f"{name}-{nth}", name, basis if nth == 0 else pick.choice([basis, *BASES]), words, nth)
            for nth in range(pick.choice([1, 1, 1, 2, 3]))
        ]
        canonical = self.rows["claims"][-len(said)]
        for nth in range(pick.choice([0, 1, 2, 3, 4, 5])):
            kind = pick.choice(
                [
                    "approve",
                    "retire",
                    "restore",
                    "restore",
                    "reject",
                    "forget",
                    "endorse",
                    "dispute",
                    "dispute",
                    "dispute",
                ]
            )
            self._decide(
                f"{name}/{nth}", kind, canonical["claim_id"], ts=self.when(), actor=pick.choice(HUMANS),
                decided_on_sha256=canonical["text_sha256"],
                revalidate_by=AS_OF - timedelta(days=pick.choice([5, 30])) if kind == "approve" else None,
                content_key=canonical["content_key"] if kind in ("reject", "forget") else None,
            )  # fmt: skip
        if pick.random() < 0.3:
            # Whoever lifts a tombstone by its words alone says nothing of this learning.
            self._decide(
                f"{name}/key", "restore", "lrn_" + "2" * 32, ts=self.when(), content_key=canonical["content_key"]
            )
        if pick.random() < 0.4:
            self._replace(name, canonical["claim_id"])
        if pick.random() < 0.5:
            self._take_away(name, said, words["document"])

    def _say(self, name: str, learning: str, basis: str, words: Row, nth: int) -> Row:
        pick = self.random
        witness: Row = {"actor": pick.choice(HUMANS[:2])}
        if basis == "mechanical":
            witness = {"actor": "Bash", "actor_class": "tool", "kind": "error_fixed", "unit_id": f"github:shop!{name}"}
        if basis == "proposed":
            witness = {"actor": "claude", "actor_class": "agent", "kind": "proposed"}
        if words["document"]:
            witness["unit_id"] = f"documents:{words['document']}"
        at = self.when()
        said = signal(name, ts=at, day=at.date(), first_kept=at.date(), **witness)
        self.rows["signals"].append(said)
        self.rows["admissions"].append(
            {"signal_id": said["signal_id"], "admitted": True, "rule": "admitted", "detail": ""}
        )
        of = claim(learning, said)
        self.rows["claims"].append(
            claim(learning, said, is_canonical=nth == 0, trust_basis=basis, title=of["title"], **words)
        )
        return said

    def _replace(self, name: str, older: str) -> None:
        """A newer one of its own, which may be rejected and come back."""
        pick = self.random
        words = {"kind": "procedure", "risks": [], "tombstone": None, "tombstone_match": None, "document": None}
        self._say(f"{name}-newer", f"{name}-newer", "stated", words, 0)
        id_ = self.rows["claims"][-1]["claim_id"]
        self.rows["supersession_candidates"].append(link(older, id_, ts=self.when()))
        for nth in range(pick.choice([0, 1, 2])):
            kind = ["reject", "restore"][nth]
            self._decide(
                f"{name}/newer{nth}", kind, id_, ts=self.when(), content_key=self.rows["claims"][-1]["content_key"]
            )

    def _take_away(self, name: str, said: list[Row], document: str | None) -> None:
        pick = self.random
        at = self.when()
        if document:
            who = pick.choice([{"actor": "ada"}, {"actor": "gitmem", "actor_class": "agent"}])
            self.rows["events"].append(
                event(
                    f"gone{name}", unit_id=f"documents:{document}", kind="document_deleted", ts=at, day=at.date(),
                    first_kept=at.date(), **who,
                )
            )  # fmt: skip
        elif said[0]["actor_class"] == "tool":
            for nth, one in enumerate(said):
                payload = json.dumps({"item": {}, "seen": {"reverted": one["unit_id"]}})
                found = signal(f"revert{name}/{nth}", kind="revert", ts=at, first_kept=at.date(), payload=payload)
                self.rows["signals"].append(found)
                self.rows["admissions"].append(
                    {"signal_id": found["signal_id"], "admitted": False, "rule": "no_item", "detail": ""}
                )
        else:
            for nth, one in enumerate(said[: pick.choice([1, 3])]):
                later = at if at > one["ts"] else one["ts"] + timedelta(seconds=1)
                away = event(
                    f"away{name}/{nth}", kind="message_deleted", actor_class="system", ts=later, first_kept=later.date()
                )
                away["day"] = away["ts"].date()
                self.rows["events"].append(away)
                one["payload"] = json.dumps({"item": {}, "seen": {"deleted_by": away["event_id"]}})
