"""Which signals may become claims: the gates in their order, the first that refuses names the rule.

Every signal gets one row of `tables.ADMISSIONS`, admitted or not. Gates look at the words of one signal; the last
three look at what was admitted before it in its session family, so signals are judged in a fixed order: by family,
then by rank of their rule, time and id.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from lorelake.content import tombstones
from lorelake.content.normalise import content_key, words
from lorelake.content.similarity import shingle_share, shingles_of
from lorelake.evidence import cues

FEWEST_WORDS = 3
MOST_WORDS = 400
SMALLEST_LETTER_SHARE = 0.5
ECHO_SHARE = 0.6
MOST_PER_SESSION = 3

_MARK = re.compile(r"\[redacted:[a-z0-9_]+:[0-9a-f]{8}\]|\[blob:[^\]]*\]")
OBSERVATIONS = frozenset(("error_seen", "friction", "ownership", "commitment", "blocker", "open_question"))
"""Kinds that other tables read: what happened, who works on what. They advise nothing."""

_RANK = (
    "rejection", "decision", "instruction", "correction", "answer_accepted", "authored", "revert", "review_repeated",
    "review_change", "error_fixed", "retry_worked", "memory_refuted", "proposed", *sorted(OBSERVATIONS),
)  # fmt: skip
"""Of equal words in one session the first kind is kept: "we decided …" is a decision, also where it corrects."""
_MECHANICAL = frozenset(("error_fixed", "retry_worked"))
"""What a tool is a witness of: its own output, however little of it is prose."""

_VOLATILE_KINDS = frozenset(
    ("rejection", "correction", "instruction", "decision", "answer_accepted", "memory_refuted", "proposed")
)
"""What is said in passing; a document and a review comment are written to last."""

_SUBSTANCE = frozenset(("title", "do", "because"))

RULES: dict[str, str] = {
    "observation": "it tells what happened or who works on what, and advises nothing",
    "no_item": "an observation without a direction or a reason",
    "too_short": f"fewer than {FEWEST_WORDS} words",
    "too_long": f"more than {MOST_WORDS} words: a pasted text rather than a statement",
    "not_prose": "less than half of it is letters: code, a table or a log",
    "only_redacted": "what redaction left says nothing",
    "self_echo": "memory said it first in that session",
    "known_text_echo": "a rule file, skill or boot file of the repository says it already",
    "volatile_fact": "true for a while only, and owned by another tool",
    "machine_instruction": "it gives orders to whoever reads memory",
    "no_witness": "no person and no mechanical fact behind it, or the quote was not found again",
    "duplicate_in_session": "the same words, or more of that statement, are admitted from that session",
    "tombstone": "a person rejected these words, or had them forgotten, before they were said again",
    "session_cap": f"more than {MOST_PER_SESSION} items from one session",
    "admitted": "it becomes a claim",
}
"""Rule codes of `admissions.rule` in the order of the gates; a refused signal passed all that stand before its own."""


Given = tuple[datetime, str]
"""A text handed to an agent, and when. A hook may repeat what a person typed before: that is no echo of the hook."""


class Context(msgspec.Struct, frozen=True):
    """What the gates compare with.

    Attributes:
        memory: session family id to the texts memory gave it, and when (`memory_of_lake.texts`).
        known: audience to the rule, skill and boot texts of its repositories; the key "team" counts for all.
        injected: session family id to the texts that nobody in it said: boot files, reminders, output of hooks.
        unit_kinds: unit id to `sessions.unit_kind`; the cap is for agent sessions.
        ledger: rows of `tables.LEDGER`, refused ones included.
    """

    memory: Mapping[str, Sequence[Given]] = {}
    known: Mapping[str, Sequence[str]] = {}
    injected: Mapping[str, Sequence[Given]] = {}
    unit_kinds: Mapping[str, str] = {}
    ledger: Sequence[Mapping[str, Any]] = ()


class _Candidate(msgspec.Struct):
    """One signal row with what the gates need of it."""

    row: Mapping[str, Any]
    item: Mapping[str, Any]
    witness: str
    key: str

    @property
    def kind(self) -> str:
        return str(self.row["kind"])


def admit(signals: Iterable[Mapping[str, Any]], context: Context) -> list[dict[str, Any]]:
    """Rows of `tables.ADMISSIONS`, one for each row of `tables.SIGNALS`, by signal id. No order of input matters."""
    candidates = sorted((_candidate(row) for row in signals), key=_order)
    alone = _alone(context)
    judged = [(candidate, _first(alone, candidate)) for candidate in candidates]
    whole = _told_whole([candidate for candidate, refused in judged if refused is None])
    judged.sort(key=lambda pair: str(pair[0].row["signal_id"]) in whole)  # what is part of another comes after it
    together = _within_session(context, whole)
    rows = [_row(candidate, refused or _first(together, candidate)) for candidate, refused in judged]
    return sorted(rows, key=lambda row: str(row["signal_id"]))


_Gate = Callable[[_Candidate], "tuple[str, str] | None"]


def _first(gates: Sequence[_Gate], candidate: _Candidate) -> tuple[str, str] | None:
    """What the first gate that refuses says."""
    return next((refused for gate in gates if (refused := gate(candidate))), None)


def _row(candidate: _Candidate, refused: tuple[str, str] | None) -> dict[str, Any]:
    rule, detail = refused or ("admitted", "")
    return {"signal_id": candidate.row["signal_id"], "admitted": rule == "admitted", "rule": rule, "detail": detail}


def _alone(context: Context) -> tuple[_Gate, ...]:
    """The gates that look at one signal by itself, in order."""
    return (
        _observation,
        _no_item,
        _length_and_language,
        _redaction,
        _self_echo(context.memory),
        _known_text_echo(context.known, context.injected),
        _volatile,
        _machine_instruction,
        _witness,
    )


def _candidate(row: Mapping[str, Any]) -> _Candidate:
    item = json.loads(row["payload"]).get("item") or {}
    witness = str(item.get("witness") or row["quote"])
    return _Candidate(row, item, witness, content_key(witness))


def _order(candidate: _Candidate) -> tuple[str, int, datetime, str]:
    row = candidate.row
    return str(row["family_id"]), _RANK.index(candidate.kind), row["ts"], str(row["signal_id"])


def _observation(candidate: _Candidate) -> tuple[str, str] | None:
    return ("observation", candidate.kind) if candidate.kind in OBSERVATIONS else None


def _length_and_language(candidate: _Candidate) -> tuple[str, str] | None:
    text = candidate.witness
    count = len(words(text))
    if count < FEWEST_WORDS:
        return "too_short", f"{count} words"
    if count > MOST_WORDS:
        return "too_long", f"{count} words"
    solid = [c for c in text if not c.isspace()]
    share = sum(c.isalpha() for c in solid) / len(solid)
    if candidate.kind not in _MECHANICAL and share < SMALLEST_LETTER_SHARE:
        return "not_prose", f"{share:.2f} letters"
    return None


def _redaction(candidate: _Candidate) -> tuple[str, str] | None:
    if _MARK.search(candidate.witness) and len(words(_MARK.sub(" ", candidate.witness))) < FEWEST_WORDS:
        return "only_redacted", "marks and nothing else"
    return None


def _self_echo(memory: Mapping[str, Sequence[Given]]) -> _Gate:
    given = {family: [(ts, shingles_of([text])) for ts, text in texts] for family, texts in memory.items()}

    def gate(candidate: _Candidate) -> tuple[str, str] | None:
        texts = given.get(str(candidate.row["family_id"]), ())
        # What memory printed only later it may have from this very statement.
        told = set[str]().union(*(found for ts, found in texts if ts <= candidate.row["ts"]))
        share = shingle_share(candidate.witness, told)
        return ("self_echo", f"{share:.2f} of its shingles") if share >= ECHO_SHARE else None

    return gate


def _known_text_echo(known: Mapping[str, Sequence[str]], injected: Mapping[str, Sequence[Given]]) -> _Gate:
    stated = {audience: shingles_of(texts) for audience, texts in known.items()}
    given = {family: [(ts, shingles_of([text])) for ts, text in texts] for family, texts in injected.items()}

    def gate(candidate: _Candidate) -> tuple[str, str] | None:
        for audience in dict.fromkeys((str(candidate.row["audience"]), "team")):
            share = shingle_share(candidate.witness, stated.get(audience, set()))
            if share >= ECHO_SHARE:
                return "known_text_echo", f"{share:.2f} of its shingles in a rule file of {audience}"
        for ts, told in given.get(str(candidate.row["family_id"]), ()):
            share = shingle_share(candidate.witness, told) if ts < candidate.row["ts"] else 0.0
            if share >= ECHO_SHARE:
                return "known_text_echo", f"{share:.2f} of its shingles in a text given to that session before"
        return None

    return gate


def _volatile(candidate: _Candidate) -> tuple[str, str] | None:
    if candidate.kind not in _VOLATILE_KINDS:
        return None
    found = cues.find("volatile", candidate.witness)
    return ("volatile_fact", found.cue.name) if found and not _stands_without_it(candidate) else None


def _stands_without_it(candidate: _Candidate) -> bool:
    """Whether the advice itself speaks of nothing passing; the passing fact is then only its occasion."""
    do = str(candidate.item.get("do") or "")
    return bool(do) and do != candidate.witness and not cues.find("volatile", do)


def _machine_instruction(candidate: _Candidate) -> tuple[str, str] | None:
    """Text that addresses the reader's machine. Documents that pass only wait for a person: see claims.risks_of."""
    told = " ".join(str(candidate.item.get(name) or "") for name in ("title", "when", "do", "because"))
    for text in (str(candidate.row["quote"]), candidate.witness, told):
        found = cues.find("machine", text)
        if found:
            return "machine_instruction", found.cue.name
    return None


def _witness(candidate: _Candidate) -> tuple[str, str] | None:
    if not candidate.row["quote_verified"]:
        return "no_witness", "the quote is not at its place"
    actor_class = candidate.row["actor_class"]
    if actor_class == "human" or (candidate.kind in _MECHANICAL and actor_class == "tool"):
        return None
    if candidate.kind in ("authored", "proposed") and candidate.item.get("trust_basis") in (None, "proposed"):
        return None  # what a machine wrote or handed in may be proposed; only a person can make it more
    return "no_witness", f"said by {actor_class}"


def _no_item(candidate: _Candidate) -> tuple[str, str] | None:
    if any(candidate.item.get(name) for name in _SUBSTANCE):
        return None
    seen = json.loads(candidate.row["payload"]).get("seen") or {}
    return "no_item", "taken back later" if seen.get("taken_back_by") else "no direction and no reason"


def _told_whole(left: Sequence[_Candidate]) -> dict[str, _Candidate]:
    """Id of each signal whose quote lies within a longer quote of another rule, to the longest of those.

    Two rules that met in one statement saw one lesson, and the longer quote holds more of it. What a model proposed
    holds nothing that a rule saw.
    """
    in_event: dict[str, list[_Candidate]] = {}
    for candidate in left:
        in_event.setdefault(str(candidate.row["event_id"]), []).append(candidate)
    found: dict[str, _Candidate] = {}
    for some in in_event.values():
        longest_first = sorted(some, key=lambda one: one.row["quote_start"] - one.row["quote_end"])
        for inner in some:
            outer = next((one for one in longest_first if _holds(one, inner)), None)
            if outer is not None:
                found[str(inner.row["signal_id"])] = outer
    return found


def _holds(outer: _Candidate, inner: _Candidate) -> bool:
    first, last = outer.row["quote_start"], outer.row["quote_end"]
    start, end = inner.row["quote_start"], inner.row["quote_end"]
    return bool(first <= start and end <= last and last - first > end - start) and outer.kind != "proposed"


def _within_session(context: Context, told_whole: Mapping[str, _Candidate]) -> tuple[_Gate, _Gate, _Gate]:
    """The gates that remember: duplicate, tombstone and cap. The cap counts what reaches it, so it comes last."""
    admitted: set[tuple[str, str]] = set()
    passed: set[str] = set()
    counts: dict[str, int] = {}

    buried = tombstones.by_key(context.ledger)

    def duplicate(candidate: _Candidate) -> tuple[str, str] | None:
        place = str(candidate.row["family_id"]), candidate.key
        if candidate.kind != "authored" and place in admitted:
            return "duplicate_in_session", "the same words"
        whole = told_whole.get(str(candidate.row["signal_id"]))
        if whole is not None and whole.row["signal_id"] in passed:
            return "duplicate_in_session", f"part of what is admitted as {whole.kind}"
        return None

    def tombstone(candidate: _Candidate) -> tuple[str, str] | None:
        # What a person decided on stays, to be shown as rejected; only what is said again later is refused.
        for ts, decision in buried.get(candidate.key, ()):
            if candidate.row["ts"] > ts:
                return "tombstone", f"decision {decision}"
        return None

    def cap(candidate: _Candidate) -> tuple[str, str] | None:
        family = str(candidate.row["family_id"])
        if context.unit_kinds.get(str(candidate.row["unit_id"]), "session") == "session":
            if counts.get(family, 0) >= MOST_PER_SESSION:
                return "session_cap", f"{MOST_PER_SESSION} items before it"
            counts[family] = counts.get(family, 0) + 1
        admitted.add((family, candidate.key))
        passed.add(candidate.row["signal_id"])
        return None

    return duplicate, tombstone, cap
