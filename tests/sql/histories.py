"""Histories of small projects that have nothing to do with each other, so that one run derives a thousand of them.

Each has people, sessions, documents and words of its own; what happens in it comes from its number alone: things said
once, again, in other words and to others, mended errors, documents with versions and deletions, refutations, decisions
of every kind (also on old texts, also in circles), exposures, late records, and instants that are equal.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sql_samples import AS_OF, Row, days_ago, decision, event, exposure, person, session, sha, signal, slack_name

from lorelake.content.gist_signature import signature
from lorelake.content.tombstones import witness_of
from lorelake.learnings import claims as claiming

TABLES = (
    "people", "sessions", "session_merge_requests", "events", "signals", "admissions", "ledger", "exposures",
    "intake", "quarantine", "served_ids",
)  # fmt: skip
STEMS = ("gasket", "ferry", "buoy", "mast", "harbour", "winch", "rudder", "compass")
SAID = (
    "always run `make {a}` before you push the {b}",
    "never restart the {a} while the {b} is open",
    "use {a} instead of {b} for the {c}",
    "the {a} timeout of the {b} is {n} seconds",
    "keep the {a} out of the {b}, because it breaks the {c}",
)
DECIDED = (
    ["approve"] * 6 + ["edit"] * 3 + ["reject"] * 3 + ["forget", "retire", "retire", "restore", "restore"]
    + ["endorse"] * 4 + ["dispute"] * 4 + ["supersede"] * 3 + ["merge", "split", "pin", "dismiss"]
)  # fmt: skip
ACTS = ["shown"] * 3 + ["cited", "cited", "opened", "offered", "confirmed", "confirmed", "confirmed"]


class History:
    """One project's history.

    Args:
        number: all of it comes from this.
    """

    def __init__(self, number: int) -> None:
        self.number, self.random = number, random.Random(f"history {number}")
        self.rows: dict[str, list[Row]] = {name: [] for name in TABLES}
        self.instants = [self.random.randrange(24 * 100) for _ in range(4)]
        code = "".join(chr(97 + number // 26**place % 26) for place in range(3))
        self.words = [f"{stem}{code}" for stem in self.random.sample(STEMS, 5)]
        self.project = f"p{number}"
        self.people = [f"{name}{number}" for name in ("ada", "ben", "cho")]
        self.unknown = [f"unknown:codex:m{number}", f"slack:U{number}"]
        self.rows["people"] = [*map(person, self.people), person(f"bot{number}", "bot"), slack_name(self.people[0])]
        self.families = [f"claude_code:f{number}-{nth}" for nth in range(5)]
        self.rows["sessions"] = [
            {**session(family), "project": self.project, "audience": f"project:{self.project}"}
            for family in self.families
        ]
        self.requests = [f"github:{self.project}!{nth}" for nth in range(3)]
        self.claims: list[Row] = []
        for _ in range(self.random.randrange(2, 6)):
            self._say()
        self._meet_errors()
        self._write_documents()
        self._review()
        self._decide()
        self._expose()

    def when(self, oldest: int = 200) -> datetime:
        """Often one of a few instants, so that equal ones are frequent."""
        hours = self.random.choice(self.instants) if self.random.random() < 0.5 else self.random.randrange(oldest * 24)
        return days_ago(0) - timedelta(hours=hours)

    def _text(self) -> str:
        a, b, c = self.random.sample(self.words, 3)
        return self.random.choice(SAID).format(a=a, b=b, c=c, n=self.random.choice((10, 30, 60)))

    def _audience(self) -> str:
        return self.random.choice([f"project:{self.project}"] * 4 + ["team", f"channel:C{self.number}"])

    def _signal(self, item: Row, seen: Row, admitted: bool = True, **changes: Any) -> Row:
        name = f"h{self.number}-{len(self.rows['signals'])}"
        said = changes.pop("ts", None) or self.when()
        late = self.random.choice([0, 0, 0, self.random.randrange(200)])
        row = signal(
            name, ts=said, day=said.date(), first_kept=min(AS_OF, said.date() + timedelta(days=late)),
            project=self.project, audience=changes.pop("audience", f"project:{self.project}"),
            payload=json.dumps({"item": item, "seen": seen}), **changes,
        )  # fmt: skip
        row |= {"quote_end": len(row["quote"]), "quote_sha256": sha(row["quote"])}
        self.rows["signals"].append(row)
        rule = "admitted" if admitted else "no_item"
        self.rows["admissions"].append(
            {"signal_id": row["signal_id"], "admitted": admitted, "rule": rule, "detail": ""}
        )
        if admitted:
            self.claims.append(claiming.claim(row) | {"of": row})
        return row

    def _say(self) -> None:
        """A statement, and what becomes of it in mouths of others: the same, nearly the same, and its contrary."""
        pick = self.random
        text, audience = self._text(), self._audience()
        for nth in range(pick.choice((1, 1, 2, 3, 4))):
            words = text
            if nth and pick.random() < 0.5:
                words = pick.choice((f"please, {text}", f"{text} again", text.title(), text.replace("always", "never")))
            kind = pick.choice(("instruction", "instruction", "correction", "decision", "proposed", "answer_accepted"))
            item: Row = {"do": words, "kind": pick.choice(("procedure", "scar", "fact", "preference"))}
            item["tags"] = [pick.choice(self.words) + pick.choice(("", "s", "-test"))]
            item["trust_basis"] = "proposed" if kind == "proposed" else "stated"
            item["severity"] = pick.choice((None, "high"))
            item["not_when"] = pick.sample(("during a freeze it was allowed once", "the hotfix branch has its own"), 1)
            if kind == "decision":
                item |= {"rejected": pick.choice(self.words), "tags": [pick.choice(self.words)], "kind": "decision"}
            where = audience if pick.random() < 0.7 else self._audience()
            who = {"actor": pick.choice([*self.people, *self.people, *self.unknown]), "actor_class": "human"}
            if kind == "proposed":
                who = {"actor": "claude", "actor_class": "agent"}
            family = pick.choice(self.families)
            row = self._signal(
                item, {"cue": "always"}, kind=kind, quote=words, audience=where, unit_id=family, family_id=family,
                event_id=sha(f"said {self.number} {pick.randrange(6)}")[:32], **who,
            )  # fmt: skip
            if pick.random() < 0.1:
                self._take_back(row)

    def _take_back(self, said: Row) -> None:
        at = said["ts"] + timedelta(hours=self.random.randrange(1, 300))
        gone = event(
            f"gone {said['signal_id']}", kind="message_deleted", actor="unknown", actor_class="system", ts=at,
            day=at.date(), first_kept=min(AS_OF, max(at.date(), said["first_kept"])),
        )  # fmt: skip
        self.rows["events"].append(gone)
        payload = json.loads(said["payload"])
        said["payload"] = json.dumps(payload | {"seen": payload["seen"] | {"deleted_by": gone["event_id"]}})

    def _meet_errors(self) -> None:
        """One error in several sessions, mended in some; a machine's own observation."""
        pick = self.random
        error, passed = f"KeyError {' '.join(self.words[:3])}", event(f"passed{self.number}", ts=self.when())
        self.rows["events"].append(passed)
        item = {
            "do": f"run `make {self.words[1]}` first", "title": error, "kind": "anti_pattern", "witness": error,
            "former_witnesses": [f"KeyError {self.words[0]}"], "trust_basis": "mechanical", "applies_to": [],
            "error_signature": f"sig{self.number}",
        }  # fmt: skip
        for _ in range(pick.choice((0, 0, 1, 2, 4))):
            family, seen = pick.choice(self.families), {"signature": f"sig{self.number}", "count": pick.randrange(1, 4)}
            where = {"unit_id": family, "family_id": family, "actor": "Bash", "actor_class": "tool", "quote": error}
            if pick.random() < 0.7:
                self._signal(item, seen | {"passed_in": passed["event_id"]}, kind="error_fixed", **where)
            self._signal({}, seen, admitted=False, kind="error_seen", **where)

    def _write_documents(self) -> None:
        """Records with versions, which replace each other, some deleted, some reviewed."""
        pick = self.random
        for nth in range(pick.choice((0, 0, 1, 2, 3))):
            path, seq = f"docs/adr/{nth:04d}-{self.words[nth]}.md", 0
            unit, title = f"documents:{path}:{self.project}", f"{nth}. The {self.words[nth]} of {self.words[nth + 1]}"
            for ts in sorted(self.when() for _ in range(pick.choice((1, 1, 2, 3)))):
                text, name = self._text(), f"h{self.number}-doc{nth}-{seq}"
                replaced = f"Supersedes ADR-{pick.randrange(3):04d}.\n\n" if pick.random() < 0.4 else ""
                whole = f"# {title}\n\n## Status\n\nAccepted. {replaced}\n\n## Decision\n\n{text}.\n"
                about = {"title": title, "adr_number": nth, "adr_status": "accepted", "frontmatter": {}}
                by = pick.choice(self.people)
                item = {
                    "do": text, "title": title, "kind": "decision", "document": path,
                    "trust_basis": pick.choice(("stated", "reviewed", "proposed")),
                }  # fmt: skip
                written = self._document(name, unit, path, ts, seq, by)
                written |= {"text": whole, "text_sha256": sha(whole), "attributes": json.dumps(about)}
                self._signal(
                    item, {"version": seq}, kind="authored", quote=text, ts=ts, unit_id=unit, family_id=unit, actor=by,
                    event_id=written["event_id"],
                )  # fmt: skip
                seq += 1
            if pick.random() < 0.3:
                by = pick.choice([*self.people, "gitmem"])
                gone = self._document(f"h{self.number}-gone{nth}", unit, path, self.when(40), seq, by)
                gone |= {"kind": "document_deleted", "actor_class": "agent" if by == "gitmem" else "human"}

    def _document(self, name: str, unit: str, path: str, ts: datetime, seq: int, actor: str) -> Row:
        row = event(
            name, unit_id=unit, unit_kind="document", source="documents", kind="document_version", path=path, ts=ts,
            day=ts.date(), seq=seq, actor=actor, revision=f"r{seq}", project=self.project,
            audience=f"project:{self.project}", first_kept=ts.date(),
        )  # fmt: skip
        self.rows["events"].append(row)
        return row

    def _review(self) -> None:
        """Comments that were followed in merge requests, some of which were reverted; who made them."""
        pick = self.random
        for request in self.requests[: pick.randrange(3)]:
            text = self._text()
            item = {"do": text, "kind": "pattern", "witness": text, "trust_basis": "mechanical"}
            who = {"actor": pick.choice(self.people), "unit_id": request, "family_id": request}
            self._signal(item, {"comment": 1}, kind="review_change", quote=text, **who)
            self.rows["session_merge_requests"] += [
                {"session_id": one, "merge_request_id": request, "basis": "branch", "event_id": None, "ts": days_ago(8)}
                for one in pick.sample(self.families, pick.randrange(3))
            ]
            if pick.random() < 0.5:
                seen = {"reverted": request} | ({"undone": True} if pick.random() < 0.2 else {})
                self._signal({}, seen, admitted=False, kind="revert", actor=pick.choice(self.people))

    def _name(self, row: Row) -> str:
        """An item as somebody names it: whole, by a prefix, or by an id it had once."""
        if row["former_ids"] and self.random.random() < 0.4:
            return str(row["former_ids"][0])
        return str(row["claim_id"])[: self.random.choice((36, 36, 20))]

    def _decide(self) -> None:
        """Decisions of every kind; now and then two by one person on one item at one instant."""
        pick = self.random
        row, ts, who = pick.choice(self.claims), self.when(120), pick.choice(self.people)
        for nth in range(pick.choice((0, 1, 3, 5, 8))):
            if pick.random() < 0.8:
                row, ts, who = pick.choice(self.claims), self.when(120), pick.choice(self.people)
            kind, other = pick.choice(DECIDED), pick.choice(self.claims)
            changes: Row = {"content_key": row["content_key"] if kind in ("reject", "forget", "restore") else None}
            if kind in ("reject", "forget") and pick.random() < 0.7:
                changes["signature"] = signature(witness_of(row["of"]))
            if kind in ("approve", "edit"):
                changes["decided_on_sha256"] = pick.choice([row["text_sha256"]] * 3 + [sha("another text"), None])
                if kind == "edit" or pick.random() < 0.3:
                    field = pick.choice(
                        (("title", "Another title"), ("do", f"Ask {self.people[0]}."), ("because", None))
                    )
                    changes["new_text"] = json.dumps(dict([field]))
            if kind in ("supersede", "merge"):
                changes["other_claim_id"] = other["claim_id"]
            if kind == "split":
                changes["claims"] = [other["claim_id"]]
            if kind == "dismiss":
                changes["target"] = f"thr_{sha(str(self.number))[:32]}"
            refused = pick.random() < 0.1
            late = pick.choice((0, 0, 0, pick.randrange(60)))
            self.rows["ledger"].append(
                decision(
                    f"h{self.number}-{nth}", kind, self._name(row), ts=ts, actor=who,
                    verdict="refused" if refused else "applies", refused_because="not_a_reviewer" if refused else None,
                    first_kept=min(AS_OF, ts.date() + timedelta(days=late)), **changes,
                )
            )  # fmt: skip

    def _expose(self) -> None:
        pick = self.random
        for nth in range(pick.randrange(12)):
            row, family = pick.choice(self.claims), pick.choice(self.families)
            who = pick.choice([*self.people, f"bot{self.number}", *self.unknown])
            at = self.when(150)
            for act in ("shown", *pick.sample(ACTS, pick.randrange(4))):
                name = f"h{self.number}-{nth}-{len(self.rows['exposures'])}"
                verdict = pick.choice(("applying", "n_a", "refuted")) if act == "confirmed" else None
                self.rows["exposures"].append(
                    exposure(
                        name, self._name(row), act, unit_id=family, family_id=family, person=who,
                        ts=at if pick.random() < 0.6 else self.when(150),
                        audience=f"project:{self.project}", verdict=verdict,
                    )
                )  # fmt: skip
            if pick.random() < 0.15:
                seen = {"claim": row["claim_id"], "plain": pick.random() < 0.8}
                self._signal(
                    {}, seen, admitted=False, kind="memory_refuted", quote="no, that is wrong", family_id=family,
                    unit_id=family, actor=pick.choice(self.people),
                )  # fmt: skip


def merged(histories: Sequence[History]) -> dict[str, list[Row]]:
    """The rows of all, by table."""
    return {name: [row for history in histories for row in history.rows[name]] for name in TABLES}


def kept_by(rows: dict[str, list[Row]], day: Any) -> dict[str, list[Row]]:
    """What a lake held after the night of a day: of each record whose first night is known, those kept by then."""
    signals = [row for row in rows["signals"] if row["first_kept"] <= day]
    here = {row["signal_id"] for row in signals}
    return rows | {
        "signals": signals,
        "admissions": [row for row in rows["admissions"] if row["signal_id"] in here],
        "ledger": [row for row in rows["ledger"] if row["first_kept"] <= day],
        "events": [row for row in rows["events"] if row["first_kept"] <= day],
        "exposures": [row for row in rows["exposures"] if row["ts"].date() <= day],
    }


def whose(key: str, histories: Sequence[History]) -> set[int]:
    """Numbers of the histories of which a claim or signal is named in a text."""
    found = set()
    for history in histories:
        names = {row["claim_id"] for row in history.claims} | {row["signal_id"] for row in history.rows["signals"]}
        if any(name in key for name in names):
            found.add(history.number)
    return found
