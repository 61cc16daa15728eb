"""A team's evidence of a year, as the stages before `learnings` leave it: so many claims, and what goes with them.

One claim brings ten exposures, half an observed error, half a session with its events, and every thirtieth a decision.
Nine projects and the team share them unevenly, as do forty people; a few learnings are shown a thousand times as often
as most. Words come from `test_cluster.Sentences`: a fifth are near copies, a twentieth contrasts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import accumulate
from typing import Any

import polars as pl
from test_cluster import Sentences

from lorelake import lake as lakes
from lorelake.content.normalise import claim_id, content_key
from lorelake.content.tombstones import witness_of
from lorelake.lake import Lake
from lorelake.tables import TABLES

Row = dict[str, Any]
AS_OF = date(2026, 6, 30)
MINUTES = 365 * 24 * 60
BEGAN = datetime(2025, 6, 30, tzinfo=UTC)
PEOPLE = [f"person{number}" for number in range(40)]
REVIEWERS = PEOPLE[:6]
AUDIENCES = ["team"] * 6 + [f"project:p{n}" for n in range(9) for _ in range(max(1, 5 - n))] + ["channel:C1"]
ERRORS = ("TypeError", "KeyError", "ConnectionError", "AssertionError", "PermissionError")
SHARES = {"instruction": 35, "correction": 10, "decision": 10, "authored": 20, "error_fixed": 15, "review_change": 10}
ACTS = ["shown"] * 16 + ["cited"] * 2 + ["opened", "confirmed"]


def digest(*parts: object) -> str:
    return hashlib.sha256("\x1f".join(map(str, parts)).encode()).hexdigest()


class Years:
    """All rows of one team, from one seed.

    Args:
        claims: how many admitted signals.
    """

    def __init__(self, claims: int, seed: int = 11) -> None:
        self.words = Sentences(seed)
        self.random = self.words.random
        self.sessions = [self._session(number, max(1, claims // 2)) for number in range(max(1, claims // 2))]
        self.documents: list[Row] = []
        self.errors = [self._error(number) for number in range(max(5, claims // 40))]
        self.claims = [self._claim(number, *said) for number, said in enumerate(self._texts(claims))]
        self.others = self._errors(claims // 2) + self._refutations(claims // 200) + self._reverts(claims // 500)

    def write(self, lake: Lake) -> None:
        """Every input of the derivation after evidence, into the lake."""
        exposures = self._exposures(10 * len(self.claims))
        signals = self.claims + self.others
        tables: dict[str, Sequence[Row]] = {
            "people": [_person(name) for name in PEOPLE],
            "sessions": self.sessions,
            "session_merge_requests": self._joins(),
            "ledger": self._decisions(len(self.claims) // 30),
            "admissions": [self._verdict(number, row) for number, row in enumerate(signals)],
        }
        for name, rows in tables.items():
            lakes.write_table(TABLES[name], lakes.frame(TABLES[name], rows), lake.table(TABLES[name]))
        lakes.write_table(TABLES["exposures"], exposures, lake.table(TABLES["exposures"]))
        for name, whole in (("signals", lakes.frame(TABLES["signals"], signals)), ("events", self._events())):
            for (day,), rows in whole.group_by("day"):
                lakes.write_table(TABLES[name], rows, lake.table(TABLES[name], day))

    def _words(self, count: int) -> list[str]:
        return self.random.choices(self.words.words, cum_weights=self.words.weights, k=count)

    def _word(self) -> str:
        return self._words(1)[0]

    def _when(self, number: int, of: int) -> datetime:
        return BEGAN + timedelta(minutes=number * MINUTES // of)

    def _session(self, number: int, of: int) -> Row:
        audience = self.random.choice([one for one in AUDIENCES if one.startswith("project:")])
        began = self._when(number, of)
        return {
            "unit_id": f"claude_code:s{number}", "unit_kind": "session", "source": "claude_code",
            "family_id": f"claude_code:s{number - number % 5 if number % 5 == 1 else number}",
            "project": audience.removeprefix("project:"), "project_assumed": False, "audience": audience,
            "person": self.random.choice(PEOPLE), "branch": None, "began": began, "ended": began + timedelta(hours=1),
            "day": began.date(), "events": 10, "errors": 1,
        }  # fmt: skip

    def _texts(self, count: int) -> list[tuple[str, str]]:
        """(words, audience); who says again what was said mostly says it in the same place."""
        made: list[tuple[list[str], str]] = []
        for _ in range(count):
            kind, audience = self.random.random(), self.random.choice(AUDIENCES)
            if kind < 0.75 or not made:
                made.append((self.words.sentence(), audience))
                continue
            words, of = self.random.choice(made)
            words = self.words.copy(words) if kind < 0.95 else self.words.contrast(words)
            made.append((words, of if self.random.random() < 0.8 else audience))
        return [(" ".join(words), audience) for words, audience in made]

    def _error(self, number: int) -> tuple[str, str, str]:
        """(type, signature, message) of an error that many meet."""
        kind = self.random.choice(ERRORS)
        return kind, f"{kind}-{number}", " ".join(self._words(8))

    def _claim(self, number: int, text: str, audience: str) -> Row:
        pick = self.random
        session = self.sessions[number // 2 % len(self.sessions)]
        path = f"src/{self._word()}/{self._word()}.py"
        item: Row = {"do": text, "kind": "pattern", "trust_basis": "stated", "when": f"editing {path}"}
        item["applies_to"] = [path] if pick.random() < 0.5 else []
        seen: Row = {"cue": "always"}
        what = pick.choices(
            ("instruction", "correction", "decision", "authored", "error_fixed", "review_change"),
            (35, 10, 10, 20, 15, 10),
        )[0]
        changes: Row = {"kind": what, "quote": text, "audience": audience}
        if what == "correction":
            item["because"] = " ".join(self._words(9))
            changes["quote"] = f"{text} because {item['because']}"
        elif what == "decision":
            old, new = self._words(2)
            item |= {"do": f"use {new} instead of {old} {text}", "kind": "decision", "rejected": old, "tags": [new]}
            changes["quote"] = item["do"]
        elif what == "authored":
            changes |= self._document(number, text, item, session | {"audience": audience})
            seen = {"sections": 3, "status": "accepted", "version": 1}
        elif what == "error_fixed":
            error, signature, message = pick.choice(self.errors)
            item |= {
                "do": f"run `make {self._word()}` first", "title": f"{error}: {message}", "kind": "anti_pattern",
                "witness": f"{error} {message}", "former_witnesses": [f"{signature} {message}"],
                "trust_basis": "mechanical", "applies_to": [path], "when": "running make",
            }  # fmt: skip
            seen = {"signature": signature, "type": error}
            changes |= {"actor": "Bash", "actor_class": "tool", "quote": f"{error}: {message}"}
        elif what == "review_change":
            item |= {"trust_basis": "mechanical", "witness": text, "because": " ".join(self._words(7))}
            changes |= {"unit_id": f"gitlab:p!{number}", "family_id": f"gitlab:p!{number}"}
        return self._signal(f"claim{number}", session, {"item": item, "seen": seen, "support": []}, **changes)

    def _document(self, number: int, text: str, item: Row, session: Row) -> Row:
        """A section of a decision record: most are one version of their document, some replace another."""
        pick = self.random
        of = number if pick.random() < 0.8 else pick.randrange(number + 1)
        path, title = f"docs/adr/{of:06d}-{self.words.words[of % 5000]}.md", f"{of}. {' '.join(self._words(5))}"
        body = " ".join(" ".join(self.words.sentence()) + "." for _ in range(6))
        replaced = f"Supersedes ADR-{pick.randrange(number + 1)}.\n\n" if pick.random() < 0.1 else ""
        whole = f"# {title}\n\n## Status\n\nAccepted. {replaced}\n\n## Context\n\n{body}\n\n## Decision\n\n{text}.\n"
        basis = pick.choice(["stated", "stated", "reviewed", "proposed"])
        item |= {"title": title, "kind": "decision", "trust_basis": basis, "document": path}
        item |= {"because": " ".join(self._words(12)), "tags": self._words(3)}
        unit = f"documents:{path}"
        about = {"title": title, "adr_number": of, "adr_status": "accepted", "frontmatter": {}}
        self.documents.append(
            self._event(
                f"claim{number}", session, kind="document_version", unit_id=unit, unit_kind="document",
                source="documents", seq=number, path=path, text=whole, revision=f"r{number}",
                attributes=json.dumps(about),
            )
        )  # fmt: skip
        return {"unit_id": unit, "family_id": unit, "quote": body[:300]}

    def _signal(self, name: str, session: Row, payload: Mapping[str, Any], **changes: Any) -> Row:
        ts = session["began"] + timedelta(minutes=self.random.randrange(60))
        row: Row = {
            "signal_id": digest("signal", name)[:32], "event_id": digest("event", name)[:32],
            "unit_id": session["unit_id"], "family_id": session["family_id"], "quote": "it says so", "quote_start": 0,
            "quote_verified": True, "actor": session["person"], "actor_class": "human", "ts": ts, "day": ts.date(),
            "project": session["project"], "audience": session["audience"], "payload": json.dumps(payload),
            "source_uri": f"{name}.jsonl:1", "first_kept": ts.date(), **changes,
        }  # fmt: skip
        return row | {"quote_end": len(row["quote"]), "quote_sha256": digest(row["quote"])}

    def _errors(self, count: int) -> list[Row]:
        made = []
        for number in range(count):
            session = self.random.choice(self.sessions)
            seen = {"signature": self.random.choice(self.errors)[1], "count": 2}
            made.append(self._signal(f"error{number}", session, {"item": {}, "seen": seen}, kind="error_seen"))
        return made

    def _refutations(self, count: int) -> list[Row]:
        made = []
        for number in range(count):
            session, seen = self.random.choice(self.sessions), {"claim": self._any_claim(), "plain": number % 4 > 0}
            made.append(self._signal(f"refuted{number}", session, {"item": {}, "seen": seen}, kind="memory_refuted"))
        return made

    def _reverts(self, count: int) -> list[Row]:
        seen = [{"reverted": f"gitlab:p!{self.random.randrange(len(self.claims))}"} for _ in range(count)]
        return [
            self._signal(f"revert{number}", self.random.choice(self.sessions), {"item": {}, "seen": one}, kind="revert")
            for number, one in enumerate(seen)
        ]

    def _any_claim(self) -> str:
        row = self.random.choice(self.claims)
        return claim_id(row["audience"], witness_of(row))

    def _verdict(self, number: int, row: Row) -> Row:
        admitted = number < len(self.claims)
        return {
            "signal_id": row["signal_id"], "admitted": admitted, "rule": "admitted" if admitted else "no_item",
            "detail": "",
        }  # fmt: skip

    def _decisions(self, count: int) -> list[Row]:
        pick = self.random
        kinds = ["approve"] * 10 + [
            "edit",
            "edit",
            "endorse",
            "endorse",
            "dispute",
            "retire",
            "restore",
            "reject",
            "forget",
        ]
        made = []
        for number in range(count):
            row = pick.choice(self.claims)
            witness, ts = witness_of(row), max(row["ts"], self._when(number, count)) + timedelta(seconds=number)
            kind = pick.choice(kinds)
            made.append(
                {
                    "decision_id": digest("decision", number)[:32], "decision": kind,
                    "claim_id": claim_id(row["audience"], witness), "other_claim_id": None, "target": None,
                    "claims": [], "content_key": content_key(witness), "signature": [], "decided_on_sha256": None,
                    "new_text": json.dumps({"do": "Ask first."}) if kind == "edit" else None, "revalidate_by": None,
                    "reach": "team", "erase": False, "experiment": None, "actor": pick.choice(REVIEWERS),
                    "actor_basis": "commit", "is_signed": False, "reason": "said so", "ts": ts, "verdict": "applies",
                    "refused_because": None, "source_uri": f"decisions/{number}.yaml", "first_kept": ts.date(),
                }
            )  # fmt: skip
        return made

    def _joins(self) -> list[Row]:
        return [
            {
                "session_id": session["unit_id"], "merge_request_id": f"gitlab:p!{number}", "basis": "branch",
                "event_id": None, "ts": session["began"],
            }
            for number, session in enumerate(self.sessions) if number % 4 == 0
        ]  # fmt: skip

    def _event(self, name: str, session: Row, **changes: Any) -> Row:
        ts = session["began"] + timedelta(minutes=self.random.randrange(60))
        text = str(changes.get("text", "said"))
        return {
            "event_id": digest("event", name)[:32], "unit_id": session["unit_id"], "unit_kind": "session",
            "source": "claude_code", "seq": 0, "ts": ts, "day": ts.date(), "actor": session["person"],
            "actor_class": "human", "kind": "prompt", "tool": None, "call_id": None, "reply_to": None, "is_error": None,
            "exit_code": None, "command": None, "path": None, "line": None, "revision": None, "text": text,
            "text_sha256": digest(text), "on_live_path": True, "project": session["project"],
            "audience": session["audience"], "attributes": "{}", "source_uri": f"{name}.jsonl:1",
            "first_kept": ts.date(), **changes,
        }  # fmt: skip

    def _events(self) -> pl.DataFrame:
        """Ten events a session, of which one in ten is a person who stops the agent; merges; and the documents."""
        said = lakes.frame(TABLES["events"], [self._event(row["unit_id"], row) for row in self.sessions])
        turns = pl.DataFrame({"nth": range(10)})
        many = said.join(turns, how="cross").with_columns(
            pl.concat_str("event_id", "nth").alias("event_id"),
            pl.when(pl.col("nth") == 0, pl.col("seq") % 3 == 0)
            .then(pl.lit("interrupt"))
            .otherwise(pl.lit("command_result"))
            .alias("kind"),
            pl.col("nth").alias("seq"),
        )
        merges = [
            self._event(f"merge{n}", row, kind="merge_request_merged", unit_id=f"gitlab:p!{n}", source="gitlab")
            for n, row in enumerate(self.sessions) if n % 5 == 0
        ]  # fmt: skip
        rest = lakes.frame(TABLES["events"], [*merges, *self.documents])
        return pl.concat([many.select(rest.columns), rest])

    def _exposures(self, count: int) -> pl.DataFrame:
        """Shown, cited, opened, confirmed; popularity falls as in a language, and nobody is shown the future."""
        pick, claims = self.random, self.claims
        names = [claim_id(row["audience"], witness_of(row)) for row in claims]
        popular = list(accumulate((rank + 20) ** -0.8 for rank in range(len(claims))))
        order = pick.sample(range(len(claims)), len(claims))
        shown = [order[rank] for rank in pick.choices(range(len(claims)), cum_weights=popular, k=count)]
        columns: dict[str, list[Any]] = {name: [] for name in TABLES["exposures"].column_names}
        for number, at in enumerate(shown):
            first = min(at // 2, len(self.sessions) - 1)
            session = self.sessions[pick.randrange(first, len(self.sessions))]
            act = pick.choice(ACTS)
            columns["exposure_id"].append(f"{number:032x}")
            columns["claim_id"].append(names[at] if number % 3 else names[at][:20])
            for name in ("unit_id", "family_id", "person", "audience"):
                columns[name].append(session[name])
            columns["act"].append(act)
            columns["surface"].append("cli")
            columns["rank"].append(1 if act == "shown" else None)
            columns["recall_id"].append(None)
            columns["verdict"].append(pick.choice(("applying", "n_a", "refuted")) if act == "confirmed" else None)
            columns["evidence"].append(None)
            columns["release_id"].append("2025-07-01-00000000" if act == "shown" else None)
            columns["ts"].append(session["began"] + timedelta(minutes=number % 60))
        return pl.DataFrame(columns, schema=TABLES["exposures"].polars_schema())


def _person(name: str) -> Row:
    return {
        "source": "settings", "alias": f"{name}@example.org", "person_id": name, "kind": "human",
        "is_reviewer": name in REVIEWERS,
    }  # fmt: skip
