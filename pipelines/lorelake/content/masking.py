"""What a decoded record becomes before it is stored: without blobs, without marks that are none of ours, redacted.

Most records hold nothing of the kind. Whether one may is judged by its JSON text, which is stored anyway; only those
that may are walked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from lorelake.content.blobs import may_hold_blobs, strip_blobs
from lorelake.content.redaction import Redactor, column_of, disown

_MARKED = b"[redacted:"


def encoded(value: Any) -> bytes:
    """A decoded value as canonical JSON text in UTF-8."""
    return msgspec.json.encode(value, order="sorted")


def masked(values: Sequence[Any], texts: Sequence[bytes], redactor: Redactor) -> list[bytes]:
    """The body of each decoded value as it may be stored: canonical JSON text in UTF-8.

    Args:
        texts: what `encoded` gives of each value.
    """
    bodies, column = list(texts), column_of(texts)
    marked = [place for place, text in enumerate(texts) if _MARKED in text]
    changed: dict[int, Any] = {}
    for place in {*may_hold_blobs(texts, column), *marked}:
        value = disown(strip_blobs(values[place]))
        if value is not values[place]:
            changed[place], bodies[place] = value, encoded(value)
    hidden = dict(enumerate(redactor.values(values, column)))
    hidden.update(zip(changed, redactor.values(list(changed.values())), strict=True))
    for place, value in hidden.items():
        if value is not changed.get(place, values[place]):
            bodies[place] = encoded(value)
    return bodies
