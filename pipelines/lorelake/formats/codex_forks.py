"""Which records of a Codex session are a copy of its parent's.

A fork opens by replaying what its parent had recorded, mostly under the fork's own time, so neither time nor session
tells a copy; a sub-agent names its parent in the same way and replays nothing. What tells is the content: a copy is
the run of records at the head of the file that the parent holds too, and it holds something the parent's agent said
or did, since a prompt alone may have been handed on. Whatever follows the run is the fork's own, however much it
reads like the parent: both may be told to push once more.
"""

from __future__ import annotations

import re
from typing import Any

from lorelake.formats.record import Unit, UnitRecord

META = "session_meta"
_LINE = re.compile(r":(\d+)$")


def replayed(unit: Unit, parent: Unit) -> dict[str, str]:
    """Ids of the records that a session copied, each with the id of the parent's record it is a copy of.

    Args:
        unit: the whole of a session that names a parent.
        parent: the whole of that parent, what it copied itself included; or of another fork of the same parent.
    """
    theirs = {_payload_key(record): record.id for record in parent.records if record.type != META}
    run: dict[str, str] = {}
    of_the_agent = False
    for record in sorted(unit.records, key=_place):
        if record.type == META or record.id in run:
            continue
        original = theirs.get(_payload_key(record))
        if original is None:
            break
        run[record.id] = original
        of_the_agent = of_the_agent or _is_the_agents(record)
    return run if of_the_agent else {}


def _payload_key(record: UnitRecord) -> str:
    """A record's id without its session: hash of the payload and which occurrence of it this is."""
    return record.id.rpartition(":")[2]


def _place(record: UnitRecord) -> tuple[int, str]:
    line = _LINE.search(record.source_uri)
    return (int(line[1]) if line else 0, record.id)


def _is_the_agents(record: UnitRecord) -> bool:
    payload: Any = record.value.get("payload") if isinstance(record.value, dict) else None
    if not isinstance(payload, dict):
        return False
    if record.type == "response_item":
        return payload.get("role") not in ("user", "developer", "system")
    return payload.get("type") in ("agent_message", "agent_reasoning")
