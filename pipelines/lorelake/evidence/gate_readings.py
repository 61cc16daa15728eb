"""What each gate saw of one signal, the ones it passed included: `admissions` keep only what the refusing gate saw.

The gates themselves say nothing of what they let pass, so their measures are taken again here, for one signal and on
request. The verdict is always the stored one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from lorelake.content import tombstones
from lorelake.content.normalise import content_key, words
from lorelake.content.similarity import shingle_share, shingles_of
from lorelake.evidence import cues, gates


class Reading(msgspec.Struct, frozen=True):
    """One gate's verdict on one signal. `saw` is empty for a gate that was not asked, or that keeps no measure."""

    rule: str
    outcome: Literal["passed", "refused", "not asked"]
    saw: str


class _Asked(msgspec.Struct, frozen=True):
    row: Mapping[str, Any]
    item: Mapping[str, Any]
    witness: str
    context: gates.Context | None
    beside: Sequence[Mapping[str, Any]]
    """Admitted signals of its session family, itself left out."""


def readings(
    verdict: Mapping[str, Any],
    signal: Mapping[str, Any] | None = None,
    context: gates.Context | None = None,
    beside: Iterable[Mapping[str, Any]] = (),
) -> list[Reading]:
    """One reading for each gate, in their order.

    Args:
        verdict: a row of `tables.ADMISSIONS`.
        signal: its row of `tables.SIGNALS`; without it only the verdict is known.
        context: what the gates compared with; without it the comparing gates keep no measure.
        beside: the other admitted signals of its session family.
    """
    rules = [rule for rule in gates.RULES if rule != "admitted"]
    stop = rules.index(verdict["rule"]) if verdict["rule"] in rules else len(rules)
    asked = None if signal is None else _Asked(signal, _item_of(signal), _witness_of(signal), context, list(beside))
    found = [
        Reading(rule, "passed", _MEASURES[rule](asked) if asked and rule in _MEASURES else "") for rule in rules[:stop]
    ]
    if not verdict["admitted"]:
        found.append(Reading(verdict["rule"], "refused", verdict["detail"]))
    return found + [Reading(rule, "not asked", "") for rule in rules[stop + 1 :]]


def _observation(asked: _Asked) -> str:
    return f"{asked.row['kind']}: a kind that may advise"


def _no_item(asked: _Asked) -> str:
    return "has " + ", ".join(name for name in ("title", "do", "because") if asked.item.get(name))


def _count(asked: _Asked) -> str:
    return f"{len(words(asked.witness))} words"


def _letters(asked: _Asked) -> str:
    solid = [c for c in asked.witness if not c.isspace()]
    return f"{sum(c.isalpha() for c in solid) / len(solid):.2f} letters" if solid else "no text"


def _redacted(asked: _Asked) -> str:
    marks = asked.witness.count("[redacted:") + asked.witness.count("[blob:")
    if not marks:
        return "nothing redacted in it"
    return f"redacted in {marks} place{'' if marks == 1 else 's'}, with words beside"


def _self_echo(asked: _Asked) -> str:
    if asked.context is None:
        return ""
    given = asked.context.memory.get(str(asked.row["family_id"]), ())
    texts = [text for ts, text in given if ts <= asked.row["ts"]]
    return _shared(asked.witness, [texts], "what memory gave that session") or "memory gave that session nothing"


def _known_text(asked: _Asked) -> str:
    """As the gate compares: an audience's rule files as one, each text given to the session by itself."""
    if asked.context is None:
        return ""
    own, family = str(asked.row["audience"]), str(asked.row["family_id"])
    groups = [asked.context.known.get(audience, ()) for audience in dict.fromkeys((own, "team"))]
    groups += [[text] for ts, text in asked.context.injected.get(family, ()) if ts < asked.row["ts"]]
    return _shared(asked.witness, groups, "rule files and texts given to it") or "no rule file to compare with"


def _shared(witness: str, groups: Iterable[Sequence[str]], where: str) -> str:
    """The largest share of the words that stands in one group of texts; "" where there is no text."""
    shares = [shingle_share(witness, shingles_of(texts)) for texts in groups if texts]
    return f"{max(shares):.2f} of its shingles in {where}" if shares else ""


def _volatile(asked: _Asked) -> str:
    found = cues.find("volatile", asked.witness)
    return f"the advice stands without what passes ({found.cue.name})" if found else "nothing passing in it"


def _witness(asked: _Asked) -> str:
    return f"quote found again; said by {asked.row['actor_class']} {asked.row['actor']}"


def _duplicate(asked: _Asked) -> str:
    key = content_key(asked.witness)
    same = sum(content_key(_witness_of(other)) == key for other in asked.beside)
    return f"{same} more with its words, which came after it" if same else "first with its words in its session"


def _item_of(signal: Mapping[str, Any]) -> Mapping[str, Any]:
    item: Mapping[str, Any] = json.loads(signal["payload"]).get("item") or {}
    return item


def _witness_of(signal: Mapping[str, Any]) -> str:
    return str(_item_of(signal).get("witness") or signal["quote"])


def _tombstone(asked: _Asked) -> str:
    if asked.context is None:
        return ""
    later = tombstones.by_key(asked.context.ledger).get(content_key(asked.witness), ())
    return f"decision {later[0][1]} came after it" if later else "no decision on its words"


def _cap(asked: _Asked) -> str:
    if asked.context is not None:
        kind = asked.context.unit_kinds.get(str(asked.row["unit_id"]), "session")
        if kind != "session":
            return f"a {kind.replace('_', ' ')} has no cap"
    return f"one of {len(asked.beside) + 1} admitted from its session"


_MEASURES: dict[str, Callable[[_Asked], str]] = {
    "observation": _observation,
    "no_item": _no_item,
    "too_short": _count,
    "too_long": _count,
    "not_prose": _letters,
    "only_redacted": _redacted,
    "self_echo": _self_echo,
    "known_text_echo": _known_text,
    "volatile_fact": _volatile,
    "machine_instruction": lambda asked: "gives no order to who reads it",
    "no_witness": _witness,
    "duplicate_in_session": _duplicate,
    "tombstone": _tombstone,
    "session_cap": _cap,
}
