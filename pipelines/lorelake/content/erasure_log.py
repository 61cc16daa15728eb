"""What was erased from a lake, and when: one file per erasure in its history, holding keyed hashes and no text.

An erasure without an end was begun and not finished: its hashes hold from the moment it was written down, and
`lorelake forget --apply` goes on with it.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from datetime import datetime

import msgspec

from lorelake.content.erasure import Erased, label_of
from lorelake.errors import LakeBusyError, SettingsError
from lorelake.lake import Lake, write_bytes

_KEY = b"lorelake erasure key"


class Erasure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One erasure. `persons` holds the HMACs of one person a list; `decides` says whose decisions go on counting.

    `key` stands for the team's key, so that another one is noticed and nothing returns unasked. `taken` says since when
    raw holds nothing of it, `ended` since when the lake does. Times are UTC.
    """

    number: int
    decisions: tuple[str, ...]
    records: tuple[str, ...]
    persons: tuple[tuple[str, ...], ...]
    decides: tuple[str, ...]
    key: str
    begun: datetime
    taken: datetime | None = None
    ended: datetime | None = None


def begin(
    lake: Lake,
    key: bytes,
    decisions: Iterable[str],
    records: Iterable[str],
    persons: Iterable[tuple[str, ...]],
    decides: Iterable[str],
    now: datetime,
) -> Erasure:
    """Write down that an erasure begins: from now on raw keeps out what it names."""
    past = read(lake)
    begun = Erasure(
        number=past[-1].number + 1 if past else 1,
        decisions=tuple(sorted(decisions)),
        records=tuple(sorted(set(records))),
        persons=tuple(sorted(set(persons))),
        decides=tuple(sorted(decides)),
        key=check_of(key),
        begun=now,
    )
    _write(lake, begun)
    return begun


def took(lake: Lake, erasure: Erasure, now: datetime) -> Erasure:
    """Write down that raw holds nothing of it any more: nights may run again."""
    done = msgspec.structs.replace(erasure, taken=now)
    _write(lake, done)
    return done


def end(lake: Lake, erasure: Erasure, now: datetime) -> None:
    """Write down that the lake holds nothing of it any more."""
    _write(lake, msgspec.structs.replace(erasure, ended=now))


def check(lake: Lake) -> None:
    """Refuse to derive from a raw of which an erasure has taken only a part.

    Raises:
        LakeBusyError: an erasure was stopped halfway.
    """
    if any(erasure.taken is None for erasure in read(lake)):
        raise LakeBusyError(
            "an erasure was begun and not finished, so nothing may be derived yet",
            where=str(lake.root),
            remedy="`lorelake forget --apply` goes on with it",
        )


def read(lake: Lake) -> list[Erasure]:
    """Every erasure of a lake, in order.

    Raises:
        SettingsError: one cannot be read. Nothing is taken in on the strength of a damaged one.
    """
    found = []
    for path in sorted((lake.history / "erasures").glob("[0-9]*.json")):
        try:
            found.append(msgspec.json.decode(path.read_bytes(), type=Erasure))
        except (msgspec.DecodeError, msgspec.ValidationError) as error:
            raise SettingsError(
                f"an erasure cannot be read, so what it keeps out is unknown: {error}",
                where=str(path),
                remedy="put the file back from a copy of the lake",
            ) from None
    return found


def unfinished(lake: Lake) -> Erasure | None:
    """The erasure that was begun and not ended, or None."""
    return next((erasure for erasure in read(lake) if erasure.ended is None), None)


def load(lake: Lake, key: bytes) -> Erased:
    """Everything that is kept out of a lake.

    Raises:
        SettingsError: the key is not the one under which something was erased, or an erasure cannot be read.
    """
    past = read(lake)
    if any(erasure.key != check_of(key) for erasure in past):
        raise SettingsError(
            "this is not the key under which records were erased, so they would come back",
            where=str(lake.history / "erasures"),
            remedy="put the team's key back where redaction.key_file says",
        )
    persons = {hmac_: label_of(hmacs) for erasure in past for hmacs in erasure.persons for hmac_ in hmacs}
    records = frozenset(record for erasure in past for record in erasure.records)
    return Erased(key, records, persons, frozenset(label for erasure in past for label in erasure.decides))


def digest(lake: Lake) -> str:
    """What tells two states of a lake's erasures apart; empty where there are none. Needs no key."""
    past = [repr((e.number, e.decisions, e.records, e.persons)) for e in read(lake)]
    return hashlib.sha256("\n".join(past).encode()).hexdigest() if past else ""


def check_of(key: bytes) -> str:
    """What stands for a key, so that another one is noticed."""
    return hmac.new(key, _KEY, hashlib.sha256).hexdigest()


def _write(lake: Lake, erasure: Erasure) -> None:
    path = lake.history / "erasures" / f"{erasure.number:06d}.json"
    write_bytes(path, msgspec.json.format(msgspec.json.encode(erasure), indent=1))
