"""How far learnings may be believed, and whether that came true: slow plain loops from docs/confidence.md."""

from __future__ import annotations

import math
from collections import defaultdict
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from typing import Any

from sql_oracle import BOUND, FOREVER, HALF_LIFE, PRIOR, WEIGHT, width
from sql_samples import Row
from usage_oracle import GOOD, UsageOracle

OWN = ("error_recurred", "error_fixed")
OUTCOME = {
    "error_recurred": 0.5, "error_fixed": 0.5, "reverted": 0.25, "merged": 0.1, "stopped": 0.05, "command_passed": 0.05,
}  # fmt: skip


def end_of(day: date) -> datetime:
    """The first instant after a day."""
    return datetime.combine(day + timedelta(days=1), time.min, UTC)


class BeliefOracle(UsageOracle):
    """Belief and calibration of one lake's rows."""

    def _voices(self, learning: str) -> list[tuple[str, Row, datetime | None]]:
        """(who, word, when the same person's next word came)."""
        last: dict[tuple[str, str], Row] = {}
        for row in sorted(self._refuting[learning], key=lambda row: (row["ts"], row["decision_id"])):
            last[row["actor"], row["family_id"]] = row
        said = [{**row, "family_id": row["decision_id"]} for row in self.on(learning, FOREVER, "endorse", "dispute")]
        by_person: dict[str, list[Row]] = defaultdict(list)
        for row in sorted([*said, *last.values()], key=lambda row: (row["ts"], row["decision_id"])):
            by_person[row["actor"]].append(row)
        return [
            (who, row, rows[place + 1]["ts"] if place + 1 < len(rows) else None)
            for who, rows in by_person.items()
            for place, row in enumerate(rows)
        ]

    def grounds(self, learning: str, trust: str, day: date) -> list[tuple[bool, bool, float, datetime]]:
        """(for it, weak, weight, since when) of all that counts at the end of a day."""
        until = end_of(day)
        found: list[tuple[bool, bool, float, datetime]] = []
        for who, row, replaced in self._voices(learning):
            kind = self.voter_class(learning, who, "human")
            if row["family_id"] in self.own_families(learning) or (replaced and replaced < until):
                continue
            if row["decision"] == "dispute" and kind in ("human", "author"):
                found.append((False, False, WEIGHT["human"], row["ts"]))
            elif row["decision"] == "endorse" and kind != "bot":
                found.append((True, kind != "human", WEIGHT[kind], row["ts"]))
        for (voter, family), (kind, recalled, up, _) in self.votes(learning).items():
            if recalled and up:
                found.append((True, True, WEIGHT[kind], self.vote_time(learning, voter, family)))
        for use in self.usage(learning).values():
            if use["voter_class"] == "bot":
                continue
            if use["refuted_by"] == "agent":
                found.append((False, True, WEIGHT[use["voter_class"]], use["acknowledged_at"]))
            basis = use["outcome_basis"]
            if basis in OWN or (basis and use["verdict"] in ("explicit", "acknowledged")):
                found.append((basis in GOOD, basis not in OWN, OUTCOME[basis], use["outcome_at"]))
        found += [(True, False, 0.5, ts) for ts in self._further_witnesses(learning, trust)]
        return [ground for ground in found if ground[3] < until]

    def _further_witnesses(self, learning: str, trust: str) -> list[datetime]:
        """When each independent one beyond the prior's first spoke, up to the sixth."""
        first: dict[str, datetime] = {}
        for claim, signal in [*self.members[learning], *self.narrower(learning)]:
            basis = claim["trust_basis"]
            if basis == "mechanical" or (signal["actor_class"] == "human" and basis != "proposed"):
                (family,) = self.families(learning, [(claim, signal)])
                first[family] = min(signal["ts"], first.get(family, signal["ts"]))
        order = sorted((ts, family) for family, ts in first.items())
        in_prior = 2 if trust == "corroborated" else 1
        return [ts for ts, _ in order[in_prior:6]]

    def belief(self, learning: str, trust: str, day: date) -> dict[str, Any]:
        support, against = map(float, PRIOR[trust])
        weak_for = weak_against = 0.0
        for is_for, weak, weight, ts in self.grounds(learning, trust, day):
            now = weight * 0.5 ** (max(0, (day - ts.date()).days) / HALF_LIFE)
            if weak:
                weak_for, weak_against = (weak_for + now, weak_against) if is_for else (weak_for, weak_against + now)
            elif is_for:
                support += now
            else:
                against += now
        mean = support / (support + against)
        low, high = interval(support, against)
        low, high = min(low, mean), max(high, mean)
        pulled = (support + weak_for) / (support + against + weak_for + weak_against)
        believed = min(high, max(low, min(mean + BOUND, max(mean - BOUND, pulled))))
        return {
            "support": support, "against": against, "weak_shift": believed - mean, "confidence": believed,
            "confidence_low": low, "confidence_high": high, "teamai_confidence": self.teamai(learning, day),
        }  # fmt: skip

    def teamai(self, learning: str, day: date) -> float | None:
        until = end_of(day)
        recalls = ups = 0
        last: list[datetime] = []
        for (voter, family), (kind, recalled, up, _) in self.votes(learning).items():
            ts = self.vote_time(learning, voter, family)
            if ts < until:
                ups += up
                if recalled and kind != "bot":
                    recalls += 1
                    last.append(ts)
        audiences = {
            (signal["unit_id"], signal["audience"]) for claim, signal in self.members[learning] if claim["document"]
        }
        for row in self.rows["imported_votes"]:
            mine = any(
                unit == row["unit_id"] and (width(row["audience"]) < 3 or row["audience"] == audience)
                for unit, audience in audiences
            )
            if mine and row["counted_at"] < until and not row["is_apart"] and not row["is_deleted"]:
                recalls += row["recalled"]
                ups += row["upvoted"]
                last += [row["last_recalled"]] if row["last_recalled"] else []
        if not recalls and not ups:
            return None
        age = max(0, (day - max(last).date()).days) if last else None
        recency = max(0.0, 1 - age / 180) if age is not None else 0.0
        base = min(1.0, 0.1 * recalls + 0.3 * ups)
        return math.floor((0.4 * base + 0.3 * recency + 0.3 * (ups / max(1, recalls))) * 100 + 0.5) / 100

    # What came after

    def later(self, learning: str) -> list[tuple[datetime, bool]]:
        found: list[tuple[datetime, bool]] = []
        for who, row, _ in self._voices(learning):
            kind = self.voter_class(learning, who, "human")
            against = row["decision"] == "dispute"
            heard = kind == "human" or (kind == "author" and against)
            if heard and row["family_id"] not in self.own_families(learning):
                found.append((row["ts"], not against))
        found += [(row["ts"], False) for row in self.on(learning, FOREVER, "reject")]
        for use in self.usage(learning).values():
            basis = use["outcome_basis"]
            worked = basis in ("merged", "reverted") and use["verdict"] in ("explicit", "acknowledged")
            if use["voter_class"] != "bot" and (basis in OWN or worked):
                found.append((use["outcome_at"], basis in GOOD))
        return [(ts, held) for ts, held in found if ts.date() <= self.as_of]

    def calibration(self) -> dict[tuple[str, str, str], list[float]]:
        """(method, events, bin) to (n, mean predicted, observed, Brier, log loss)."""
        pairs: dict[tuple[str, str, str], list[tuple[float, bool]]] = defaultdict(list)
        for learning in self.members:
            begun = min(signal["ts"] for _, signal in self.members[learning])
            for ts, held in self.later(learning):
                day = ts.date().replace(day=1) - timedelta(days=1)
                if begun >= end_of(day):
                    continue
                trust = self.trust(learning, end_of(day) - timedelta(microseconds=1))
                belief = self.belief(learning, trust, day)
                figures = [("confidence", "all", belief["confidence"])]
                if belief["teamai_confidence"] is not None:
                    figures += [(method, "both", belief[method]) for method in ("confidence", "teamai_confidence")]
                for method, events, figure in figures:
                    chance = min(0.99, max(0.01, figure))
                    tenth = min(9, math.floor(round(chance, 9) * 10))
                    for bin_ in ("all", f"{tenth / 10:.1f}-{(tenth + 1) / 10:.1f}"):
                        pairs[method, events, bin_].append((chance, held))
        return {key: scores(some) for key, some in pairs.items()}


def scores(pairs: list[tuple[float, bool]]) -> list[float]:
    """n, mean predicted, observed, Brier score, log loss."""
    n = len(pairs)
    return [
        n,
        sum(chance for chance, _ in pairs) / n,
        sum(held for _, held in pairs) / n,
        sum((chance - held) ** 2 for chance, held in pairs) / n,
        sum(-math.log(chance if held else 1 - chance) for chance, held in pairs) / n,
    ]


def _harmonic_tail(power: int, x: float) -> float:
    """The sum of 1 / (x + k)^power over all k, for a power above 1: 2,000 terms, the rest as an integral."""
    terms = 2_000
    rest = (x + terms - 0.5) ** (1 - power) / (power - 1)
    return sum((x + k) ** -power for k in range(terms)) + rest


@cache
def interval(support: float, against: float) -> tuple[float, float]:
    """The interval's formula, its polygammas from their series and the difference of two digammas from a sum."""
    terms = 2_000
    log_odds = sum(1 / (against + k) - 1 / (support + k) for k in range(terms))
    log_odds += math.log((support + terms - 0.5) / (against + terms - 0.5))
    deviation = math.sqrt(_harmonic_tail(2, support) + _harmonic_tail(2, against))
    skew = -2 * (_harmonic_tail(3, support) - _harmonic_tail(3, against)) / deviation**3
    kurtosis = 6 * (_harmonic_tail(4, support) + _harmonic_tail(4, against)) / deviation**4

    def quantile(z: float) -> float:
        moved = z + (z * z - 1) * skew / 6 + (z**3 - 3 * z) * kurtosis / 24 - (2 * z**3 - 5 * z) * skew**2 / 36
        return 1 / (1 + math.exp(-(log_odds + deviation * moved)))

    return quantile(-1.959964), quantile(1.959964)
