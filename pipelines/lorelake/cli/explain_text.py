"""What `lorelake explain` found, as a person reads it. Stored words are data: nothing in them acts on a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from lorelake.cli.explain_trace import ClaimTrace, LearningTrace, SignalTrace
from lorelake.cli.text_table import count, plain
from lorelake.content.markers import neutralise
from lorelake.evidence.gates import RULES
from lorelake.recall.answer import AS_FAR_AS_IT_HOLDS, ID_SHOWN, TRUST_IN_WORDS, no_longer_holds
from lorelake.release.rows import ROW_RULES

REASONS = {
    "approved": "a person approved these words",
    "reviewed_at_source": "its document was merged by a person other than its author",
    "corroborated": "it was said or seen independently often enough",
    "stated": "one person's own words, and nothing risky in them",
    "mechanical": "one machine's observation waits for more of the same, or for a person",
    "proposed": "nobody but a machine or an agent said it yet",
    "waits_for_review": "it could do harm, so a person must look first",
    "disputed": "a person says that it does not hold",
    "near_tombstone": "it is close to what a person rejected or had forgotten",
    "rejected": "a person rejected it",
    "forgotten": "a person had it forgotten",
    "retired": "a person retired it",
    "document_deleted": "its document was deleted",
    "superseded": "something newer replaced it",
    "silent": "nobody repeated or reviewed it for too long",
    **ROW_RULES,
}
"""`learnings.state_reason` in words."""

LONGEST_QUOTE = 500
_FIELDS = ("when", "do", "because", "rejected")


def to_text(trace: LearningTrace | SignalTrace) -> str:
    """The whole answer, every line safe to print."""
    lines = _learning(trace) if isinstance(trace, LearningTrace) else _signal(trace, "", whole=True)
    return "\n".join(plain(neutralise(line)).rstrip() for line in lines)


def _learning(trace: LearningTrace) -> Iterator[str]:
    row = trace.learning
    yield row.get("title") or "(words withheld)"
    severity = f", {row['severity']}" if row.get("severity") else ""
    about = f"{row['kind']}{severity} · {row['state']} · {row['trust']} · {row['audience']}"
    yield f"  {row['learning_id'][:ID_SHOWN]}  {about}"
    if trace.asked != row["learning_id"] and not row["learning_id"].startswith(trace.asked):
        yield f"  {trace.asked} is an alias of it"
    yield f"  read from {trace.read_from}, {trace.release}"
    if trace.withheld:
        yield f"  {trace.withheld}"
    for replaced in row.get("replaced_parts", ()):
        yield f"  {no_longer_holds(replaced)}"
    for name in _FIELDS:
        if row.get(name):
            doubt = AS_FAR_AS_IT_HOLDS if name == "do" and row.get("replaced_parts") else ""
            inferred = " (inferred)" if name in row.get("inferred", ()) else ""
            yield f"  {name}{doubt}{inferred}: {_one_line(row[name])}"
    for argument in row.get("not_when", ()):
        yield f"  against: {_one_line(argument)}"
    yield ""
    yield "Why it stands where it stands"
    yield from _standing(trace)
    yield from _section("How it came there", _history(trace))
    yield from _section(
        "Filed under", (f"  {t['path']}  ({t['tagger']}: {_one_line(t['found_in'])})" for t in trace.topics)
    )
    if trace.claims:
        yield ""
        signals = sum(len(claim.signals) for claim in trace.claims)
        yield f"Where it comes from: {count(len(trace.claims), 'claim')}, {count(signals, 'signal')}"
        for claim in trace.claims:
            yield from _claim(claim)


def _section(title: str, lines: Iterator[str]) -> Iterator[str]:
    found = list(lines)
    if found:
        yield ""
        yield title
        yield from found


def _standing(trace: LearningTrace) -> Iterator[str]:
    row = trace.learning
    reason = row["state_reason"]
    yield f"  state       {row['state']}: {REASONS.get(reason, '')} ({reason})"
    behind = ""
    if "people" in row:
        families = f"{row['families']} session {'family' if row['families'] == 1 else 'families'}"
        behind = f"; {count(row['people'], 'person').replace('persons', 'people')}, {families}"
    yield f"  trust       {row['trust']}: {TRUST_IN_WORDS.get(row['trust'], '')}{behind}"
    if trace.confidence:
        part = trace.confidence
        yield (
            f"  confidence  {part['confidence']:.2f} ({part['confidence_low']:.2f} to {part['confidence_high']:.2f}): "
            f"{part['support']:.2f} for it, {part['against']:.2f} against, prior included; "
            f"{part['weak_shift']:+.2f} by what agents and its author did; {_votes(trace.votes)}"
        )
    if row.get("risks"):
        yield f"  risks       {', '.join(row['risks'])}"
    for link in trace.supersession:
        yield from _link(link, row["learning_id"])


_LINKS = {
    "applied": ("replaced by", "replaces"),
    "in_part": ("replaced in part by", "replaces in part"),
    "proposed": ("may be replaced by", "may replace"),
    "undone": ("no longer replaced by", "no longer replaces"),
}
"""Status of a link to (what it says of the older item, of the newer one)."""


def _link(link: dict[str, Any], learning: str) -> Iterator[str]:
    """One link to another item, why, who says so, and in which words."""
    is_older = link["older_id"] == learning
    other = link["newer_id" if is_older else "older_id"][:ID_SHOWN]
    title = link.get("newer_title" if is_older else "older_title")
    of = f" ({_one_line(title)})" if title else ""
    waits = {"proposed": ", waits for a person", "undone": ", a person brought the older one back"}
    reason = link["reason"].replace("_", " ") + waits.get(link["status"], "")
    yield f"  {_LINKS[link['status']][not is_older]} {other}{of}: {reason}, by {link['actor']}, {_day(link['ts'])}"
    if link["part"]:
        yield f"    the part  {_one_line(link['part'])}"
    if link["quote"]:
        yield f'    said      "{_cut(link["quote"])}"'
    yield f"    record    {_one_line(link['evidence'])}"


def _cut(quote: str) -> str:
    words = _one_line(quote)
    return words if len(words) <= LONGEST_QUOTE else words[: LONGEST_QUOTE - 1] + "…"


def _votes(votes: list[dict[str, Any]]) -> str:
    if not votes:
        return "no votes"
    told = Counter(
        f"{row['voter_class']} {act}" for row in votes for act in ("recalled", "upvoted", "refuted") if row[act]
    )
    return "votes: " + ", ".join(f"{number} {what}" for what, number in sorted(told.items()))


def _history(trace: LearningTrace) -> Iterator[str]:
    proposers = _proposers(trace)
    for event in sorted(trace.history, key=lambda row: row["ts"]):
        before = f"{event['from_state']} → " if event["from_state"] else ""
        evidence = f" ({_one_line(event['evidence'])})" if event["evidence"] else ""
        actor = proposers.get(event["evidence"], event["actor"])
        yield f"  {_day(event['ts'])}  {before}{event['to_state']}: {event['reason']}, by {actor}{evidence}"
    for row in sorted(trace.decisions, key=lambda row: row["ts"]):
        counts = "" if row["verdict"] == "applies" else f", refused: {row['refused_because']}"
        reason = f": {_one_line(row['reason'])}" if row["reason"] else ""
        decided = f"decision {row['decision_id'][:12]} {row['decision']} by {row['actor']}"
        yield f"  {_day(row['ts'])}  {decided}{counts}{reason}"


def _proposers(trace: LearningTrace) -> dict[str, str]:
    """Signal to who proposed it, where that is not who is quoted: a model or an agent in somebody's words."""
    signals = [signal for claim in trace.claims for signal in claim.signals if signal.kind == "proposed"]
    named = [(signal, next((one.value for one in signal.seen if one.name == "by"), "")) for signal in signals]
    return {
        signal.signal_id: by if by == signal.actor else f"{by}, in words of {signal.actor}"
        for signal, by in named
        if by
    }


def _claim(claim: ClaimTrace) -> Iterator[str]:
    about = [
        part for part in ("its words are the item's" if claim.is_served else "an alias", claim.trust_basis) if part
    ]
    yield f"  claim {claim.claim_id[:ID_SHOWN]}  {', '.join(about)}"
    for signal in claim.signals:
        yield from _signal(signal, "    ", whole=False)


def _signal(trace: SignalTrace, indent: str, whole: bool) -> Iterator[str]:
    said_by = f"{trace.actor_class} {trace.actor}".strip()
    about = [part for part in (trace.kind, trace.ts[:16].replace("T", " "), said_by, trace.unit_id) if part]
    yield f"{indent}signal {trace.signal_id}  {' · '.join(about)}"
    inner = indent + "  "
    if whole and trace.learning_id:
        yield f"{inner}counts for {trace.learning_id[:ID_SHOWN]} through claim {(trace.claim_id or '')[:ID_SHOWN]}"
    if trace.quote:
        verified = {True: "", False: "  (not found again at its place)", None: ""}[trace.quote_verified]
        yield f'{inner}said    "{_cut(trace.quote)}"{verified}'
    else:
        yield f"{inner}said    (its words are not here)"
    yield from _seen(trace, inner)
    yield from _place(trace, inner)
    yield from _gates(trace, inner)


def _seen(trace: SignalTrace, indent: str) -> Iterator[str]:
    """What the rule went by: what it knows by itself on one line, and each event it names with its words."""
    named = {"by": "proposed by"}
    plain_facts = [
        f"{named.get(one.name, one.name).replace('_', ' ')} {_cut(one.value)}"
        for one in trace.seen
        if one.words is None
    ]
    if plain_facts:
        yield f"{indent}saw     {'; '.join(plain_facts)}"
    for one in trace.seen:
        if one.words is not None:
            said = f"{one.said_by}, {_day(one.said)}"
            yield f'{indent}saw     {one.name.replace("_", " ")}: "{_cut(one.words)}" ({said})'


def _place(trace: SignalTrace, indent: str) -> Iterator[str]:
    place = trace.place
    if place.record:
        kept = f", first kept {trace.first_kept}" if trace.first_kept else ""
        yield f"{indent}record  {place.record}{kept}"
    if place.assumed:
        yield f"{indent}assumed {'; '.join(place.assumed)}"
    if place.raw_file:
        there = "" if place.in_raw else "  (no longer kept there; the quote and its hash remain)"
        yield f"{indent}raw     {place.raw_file}{there}"
    if place.file:
        line = f", line {place.line}" if place.line and place.file_is_there else ""
        yield f"{indent}file    {place.file}{line}{'' if place.file_is_there else '  (no longer there)'}"
    elif place.record:
        yield f"{indent}file    not on this machine, as far as the settings here tell"


def _gates(trace: SignalTrace, indent: str) -> Iterator[str]:
    passed = [reading for reading in trace.gates if reading.outcome == "passed"]
    refused = [reading for reading in trace.gates if reading.outcome == "refused"]
    late = len(trace.gates) - len(passed) - len(refused)
    verdict = "admitted" if trace.admitted else "refused"
    asked = f", {count(late, 'gate')} not asked" if late else ""
    yield f"{indent}gates   {verdict}: {len(passed)} passed{asked}"
    widest = max((len(reading.rule) for reading in (*passed, *refused)), default=0)
    for reading in passed:
        yield f"{indent}  ✓ {reading.rule:<{widest}}  {_one_line(reading.saw)}"
    for reading in refused:
        meaning = RULES.get(reading.rule, "")
        yield f"{indent}  ✗ {reading.rule:<{widest}}  {_one_line(reading.saw) or 'no detail kept'}  ({meaning})"


def _day(moment: Any) -> str:
    return str(moment)[:10]


def _one_line(text: str) -> str:
    return " ".join(text.split())
