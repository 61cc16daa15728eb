"""One answer of a memory as a transcript holds it: what was asked, how it was judged, and which items it gave."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from lorelake.content.markers import Verdict
from lorelake.evidence.memory_calls import MemoryCall, Surface, memory_calls
from lorelake.evidence.unit import EventRow, results


class Given(msgspec.Struct, frozen=True):
    """One item of an answer.

    Attributes:
        reference: the item as it was shown: `lrn_…`, `teamai:<document id>` or `gitmem:<hex>`.
        title: its title, `""` where the answer does not tell it.
        text: everything the answer says of it.
        path: the file it stands in, where the answer names one.
    """

    reference: str
    title: str = ""
    text: str = ""
    path: str = ""


class Answered(msgspec.Struct, frozen=True):
    """One answer.

    Attributes:
        event: the result it stands in.
        number: which answer of that result, from 0.
        query: what was asked; None where that cannot be told.
        verdict: what the memory itself said; its `verdict` is None where the system judges nothing.
        release_id: lorelake's release.
        opened: the items were asked for by their ids.
    """

    event: EventRow
    number: int
    surface: Surface
    query: str | None
    verdict: Verdict | None = None
    release_id: str | None = None
    items: tuple[Given, ...] = ()
    opened: bool = False


def paired(events: Sequence[EventRow]) -> Iterator[tuple[EventRow, list[MemoryCall], EventRow]]:
    """Each call that asked a memory, its questions, and its result: the first after it, and only that."""
    met: set[str] = set()
    for _, result, call in results(events):
        if call is None or call.seq > result.seq or str(result.call_id) in met:
            continue
        met.add(str(result.call_id))
        if asked := memory_calls(call):
            yield call, asked, result
