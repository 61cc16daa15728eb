"""Histories whose truth is known: how often each learning really holds, and what its use would leave in the records."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from datetime import datetime, timedelta

from sql_samples import HUMANS, Row, claim, claim_id, days_ago, decision, event, exposure, person, sha, signal
from usage_samples import error_fixed, error_seen

TABLE_NAMES = (
    "people",
    "events",
    "ledger",
    "signals",
    "admissions",
    "exposures",
    "claims",
    "session_merge_requests",
    "sessions",
)
TRUTH = {"reviewed": (7, 2), "stated": (4, 3), "mechanical": (3, 3), "proposed": (2, 3)}
"""Of which Beta the share of cases is drawn in which a learning of that basis holds; not the priors of the models."""


@dataclass
class History:
    """Rows of a lake and, by learning, the share of cases in which it holds."""

    rows: dict[str, list[Row]]
    truth: dict[str, float]

    def learn(self, name: str, basis: str, said: datetime, **changes: object) -> str:
        """A learning that somebody or something stated once, about an error of its own."""
        witness = {"actor": "ada", "actor_class": "human"}
        if basis == "mechanical":
            witness = {"actor": "Bash", "actor_class": "tool", "kind": "error_fixed"}
        if basis == "proposed":
            witness = {"actor": "claude", "actor_class": "agent"}
        of = signal(name, ts=said, first_kept=said.date(), day=said.date(), **witness)
        self.rows["signals"].append(of)
        self.rows["admissions"].append(
            {"signal_id": of["signal_id"], "admitted": True, "rule": "admitted", "detail": ""}
        )
        words = {"trust_basis": basis, "applies_to": [self.error(name)], "kind": "scar", **changes}
        self.rows["claims"].append(claim(name, of, **words))
        return claim_id(name)

    @staticmethod
    def error(name: str) -> str:
        """The signature of the error a learning is about."""
        return f"sig-2:{sha(name)[:32]}"

    def show(self, name: str, family: str, ts: datetime, *acts: str, who: str = "ben") -> None:
        """It is shown in a session, and the agent does these: cited, applying, n_a, refuted."""
        place = {"unit_id": family, "family_id": family, "person": who, "ts": ts}
        self.rows["exposures"].append(exposure(f"{family}-{name}", claim_id(name), "shown", **place))
        for act in acts:
            kind = {} if act == "cited" else {"verdict": act}
            self.rows["exposures"].append(
                exposure(
                    f"{family}-{name}-{act}",
                    claim_id(name),
                    "cited" if act == "cited" else "confirmed",
                    **place,
                    **kind,
                )
            )

    def meet(self, name: str, family: str, ts: datetime, held: bool) -> None:
        """Its error is met in a session; the command passes after, or the error is all there is."""
        self._observe(error_seen(f"{family}-{name}-met", family, self.error(name), ts, ts, 1, first_kept=ts.date()))
        if held:
            passed = ts + timedelta(minutes=20)
            said, passing = error_fixed(f"{family}-{name}-mended", family, self.error(name), ts, passed)
            self._observe({**said, "first_kept": ts.date()})
            self.rows["events"].append(passing)

    def merge(self, family: str, ts: datetime, held: bool) -> None:
        """The session's merge request is merged, and perhaps taken back."""
        request = f"github:shop!{family}"
        of = {"unit_id": request, "unit_kind": "merge_request", "source": "github"}
        self.rows["sessions"].append(_unit(family, ts))
        self.rows["session_merge_requests"].append(
            {"session_id": family, "merge_request_id": request, "basis": "commit", "event_id": None, "ts": ts}
        )
        self.rows["events"].append(event(f"{family}-merged", kind="merge_request_merged", ts=ts, **of))
        if not held:
            payload = json.dumps({"item": {}, "seen": {"reverted": request}})
            at = ts + timedelta(hours=5)
            self._observe(
                signal(
                    f"{family}-reverted",
                    kind="revert",
                    ts=at,
                    payload=payload,
                    unit_id=request,
                    family_id=request,
                    first_kept=at.date(),
                )
            )

    def say(self, name: str, who: str, ts: datetime, held: bool) -> None:
        """A person says in the ledger that it holds, or does not."""
        kind = "endorse" if held else "dispute"
        key = f"{name}-{who}-{ts:%Y%m%d%H}"
        self.rows["ledger"].append(decision(key, kind, claim_id(name), actor=who, ts=ts, first_kept=ts.date()))

    def _observe(self, row: Row) -> None:
        self.rows["signals"].append(row)
        self.rows["admissions"].append(
            {"signal_id": row["signal_id"], "admitted": False, "rule": "no_item", "detail": "an observation"}
        )


def _unit(family: str, ts: datetime) -> Row:
    return {
        "unit_id": family, "unit_kind": "session", "source": "claude_code", "family_id": family, "project": "shop",
        "project_assumed": False, "audience": "project:shop", "person": "ben", "branch": None, "began": ts, "ended": ts,
        "day": ts.date(), "events": 1, "errors": 0,
    }  # fmt: skip


def nothing() -> History:
    """A lake with people in it and nothing else."""
    rows: dict[str, list[Row]] = {name: [] for name in TABLE_NAMES}
    rows["people"] = [person(name) for name in HUMANS]
    return History(rows, {})


def simulate(seed: int, learnings: int) -> History:
    """A year of a team's memory, from one seed.

    Each learning holds in a share of cases that nobody sees. It is shown up to a dozen times; agents cite it nearly
    as often where it does not hold as where it does; sometimes its error comes up and goes away or not, sometimes the
    work is merged and stays or not, and now and then somebody says what they think of it.
    """
    pick = random.Random(seed)
    history = nothing()
    for number in range(learnings):
        name = f"true{number}"
        basis = pick.choices(list(TRUTH), [2, 4, 3, 2])[0]
        share = pick.betavariate(*TRUTH[basis])
        age = pick.randrange(40, 360)
        history.truth[history.learn(name, basis, days_ago(age))] = share
        for nth in range(pick.randrange(0, 13)):
            family = f"claude_code:{name}-{nth}"
            ts = days_ago(pick.uniform(1.5, age - 1))
            held = pick.random() < share
            cited = pick.random() < (0.6 if held else 0.45)
            history.show(name, family, ts, *(["cited"] if cited else []), who=pick.choice(HUMANS))
            chance = pick.random()
            if chance < 0.3:
                history.meet(name, family, ts + timedelta(minutes=10), held)
            elif chance < 0.45:
                history.merge(family, ts + timedelta(hours=3), held)
            elif chance < 0.5:
                history.say(name, pick.choice(HUMANS[1:]), ts + timedelta(hours=4), held)
    return history
