"""What memory said comes back in many ways; none of them is a further person who says it.

One rule, said once by a person, then handed to agents. Each way back is a session or a store of its own, beside a twin
that differs only in that nobody was handed anything: the twin counts.
"""

from __future__ import annotations

import hashlib
import io
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl
import pytest

from lorelake.content.markers import shown_marker
from lorelake.evidence import days as evidence_days
from lorelake.evidence.gates import admit
from lorelake.formats.record import Capture, Member
from lorelake.lake import frame, read_table, write_table
from lorelake.tables import ADMISSIONS, LEDGER, SESSIONS, SIGNALS

RULE = "Always rebuild the tide index before a deploy, since readers keep the old rows."
RELEASE, CLAIM = "2026-03-03-0a1b2c3d", "lrn_" + "ab" * 16
BEGAN = datetime(2026, 3, 5, 9, tzinfo=UTC)


class Session:
    """The lines of one Claude Code session of a person of their own."""

    def __init__(self, name: str, began: datetime = BEGAN, **base: Any) -> None:
        self.name, self.at = name, began
        self.base = {
            "sessionId": name,
            "cwd": "/home/mara/src/harbour",
            "version": "2.1.39",
            "isSidechain": False,
        } | base
        self.lines: list[dict[str, Any]] = []

    def add(self, kind: str, **fields: Any) -> Session:
        self.at += timedelta(seconds=20)
        number = len(self.lines)
        name = f"{self.name}-{self.base.get('agentId', '')}"
        ids = {"uuid": f"{name}-{number}", "parentUuid": f"{name}-{number - 1}" if number else None}
        self.lines.append({"type": kind, "timestamp": self.at.isoformat(), **ids, **self.base, **fields})
        return self

    def said(self, text: str) -> Session:
        return self.add("user", message={"role": "user", "content": text})

    def answered(self, text: str) -> Session:
        body = {"id": f"m{len(self.lines)}", "role": "assistant", "content": [{"type": "text", "text": text}]}
        return self.add("assistant", message=body)

    def ran(self, command: str, output: str) -> Session:
        call = f"t{len(self.lines)}"
        block = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}
        self.add("assistant", message={"id": f"m{len(self.lines)}", "role": "assistant", "content": [block]})
        return self.add("user", message={"content": [{"type": "tool_result", "tool_use_id": call, "content": output}]})

    def recalled(self) -> Session:
        return self.ran("lorelake recall 'tide index'", f"1. {RULE}\n{shown_marker(RELEASE, [CLAIM])}")

    def hooked(self, text: str) -> Session:
        return self.add(
            "attachment", attachment={"type": "hook_additional_context", "hookName": "SessionStart", "content": [text]}
        )


def capture(name: str, data: bytes) -> Capture:
    return Capture(name, (Member(name, len(data), lambda: io.BytesIO(data)),), hashlib.sha256(data).hexdigest())


def rules(nights: Any, jsonl: Any, sessions: list[Session], *others: tuple[str, Capture]) -> pl.DataFrame:
    """Signals with an item, and the gates' rule for each."""
    lake = nights()
    lake.night([*(jsonl(f"{one.name}.jsonl", one.lines) for one in sessions), *others])
    assert lake.quarantine().is_empty()
    units = lake.sessions()
    write_table(SESSIONS, units, lake.lake.table(SESSIONS))
    evidence_days.derive_days(lake.lake, units)
    signals = read_table(SIGNALS, lake.lake.days(SIGNALS))
    context = evidence_days.gate_context(lake.lake, units, frame(LEDGER, []), signals)
    verdicts = frame(ADMISSIONS, admit(signals.to_dicts(), context))
    return signals.join(verdicts, on="signal_id").sort("ts", "signal_id")


def told(found: pl.DataFrame, unit: str) -> list[tuple[str, str]]:
    """(kind, rule) of a unit's signals that carry an item."""
    rows = found.filter(pl.col("unit_id").str.contains(unit, literal=True)).iter_rows(named=True)
    return [(row["kind"], row["rule"]) for row in rows if json.loads(row["payload"])["item"]]


ECHOES = {
    "pasted back": lambda s: s.recalled().answered(RULE).said(RULE),
    "pasted back in other clothes": lambda s: s.recalled().said(f"OK, do it: {RULE.lower()}"),
    "pasted back later": lambda s: s.recalled().said("go on").answered("Done.").said(RULE),
    "given by a hook": lambda s: s.hooked(f"Team memory:\n- {RULE}").said(RULE),
}
TWINS = {
    "said": lambda s: s.said(RULE),
    "said where memory told of another thing": lambda s: s.ran("lorelake recall x", "1. Sign your commits.").said(RULE),
    "said before memory told it": lambda s: s.said(RULE).answered("Noted.").recalled(),
    "said before a hook repeated it": lambda s: s.said(RULE).answered("Noted.").hooked(RULE),
}


@pytest.mark.parametrize("way", [*ECHOES, *TWINS])
def test_a_person_who_repeats_what_memory_told_is_no_further_witness(nights, jsonl, way) -> None:
    first = Session("first", BEGAN - timedelta(days=2)).said(RULE)
    later = (ECHOES | TWINS)[way](Session("later"))
    found = rules(nights, jsonl, [first, later])
    assert told(found, ":first") == [("instruction", "admitted")]
    ((kind, rule),) = told(found, ":later")
    assert kind == "instruction"
    if way in TWINS:
        assert rule == "admitted"
    else:
        assert rule in ("self_echo", "known_text_echo")


def test_what_the_agent_says_of_it_is_nothing_at_all(nights, jsonl) -> None:
    later = Session("later").recalled().answered(RULE).ran(f"echo '{RULE}' >> notes.md", RULE).said("fine, go on")
    found = rules(nights, jsonl, [later])
    assert told(found, ":later") == []


def test_a_sub_agent_and_its_session_are_one_family(nights, jsonl) -> None:
    """Memory told the sub-agent; the person read its report and typed it into the session."""
    child = Session("later", isSidechain=True, agentId="a1f").said("look it up").recalled()
    child.name = "agent-a1f"
    parent = Session("later", BEGAN + timedelta(hours=1)).said(RULE)
    assert told(rules(nights, jsonl, [parent, child]), "later") == [("instruction", "self_echo")]


@pytest.mark.parametrize(("path", "wanted"), [("AGENTS.md", "known_text_echo"), ("notes/tides.md", "admitted")])
def test_who_repeats_a_rule_file_that_copied_it_is_no_further_witness(nights, jsonl, path, wanted) -> None:
    """Only a file that agents are given anyway; what stands in a note is a person's, and may be said again."""
    text = f"# Rules\n\n- {RULE}\n- Sign your commits.\n".encode()
    later = Session("later").said(RULE)
    found = rules(nights, jsonl, [later], ("documents", capture(path, text)))
    assert told(found, ":later") == [("instruction", wanted)]
    if path == "AGENTS.md":
        assert set(found["kind"]) == {"instruction"}, "and a rule file is no learning"


def test_another_memorys_copy_is_a_proposal_and_nobodys_word(nights, jsonl) -> None:
    """GitMem took it from a transcript: its row has no person behind it."""
    row = {
        "id": "0b6f3a52-6a52-4a4e-9d5c-1f5a1b2c3d4e", "learning_type": "pattern", "title": "Rebuild the tide index",
        "description": RULE, "created_at": "2026-03-06T10:00:00Z", "persona_name": "cli", "is_active": True,
        "project": "default", "severity": "low", "source_date": "2026-03-06", "domain": [], "keywords": [],
    }  # fmt: skip
    store = capture("learnings.json", json.dumps([row]).encode())
    first = Session("first", BEGAN - timedelta(days=2)).said(RULE)
    found = rules(nights, jsonl, [first], ("gitmem", store))
    (copy,) = found.filter(pl.col("kind") == "authored").iter_rows(named=True)
    assert copy["actor_class"] != "human"
    assert json.loads(copy["payload"])["item"]["trust_basis"] == "proposed"
    assert told(found, ":first") == [("instruction", "admitted")]


def test_an_agents_proposal_of_it_is_a_candidate_and_no_voice(nights, jsonl) -> None:
    later = Session("later").recalled().ran(f'lorelake propose "{RULE}"', "noted")
    fresh = Session("fresh", BEGAN + timedelta(hours=2)).ran(f'lorelake propose "{RULE}"', "noted")
    found = rules(nights, jsonl, [later, fresh])
    assert told(found, ":later") == [("proposed", "self_echo")]
    assert told(found, ":fresh") == [("proposed", "admitted")]
    assert set(found.filter(pl.col("kind") == "proposed")["actor_class"]) == {"agent"}
