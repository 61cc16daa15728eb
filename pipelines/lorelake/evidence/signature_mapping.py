"""Which key an error has now that had another under a former algorithm: what was filed under the old is found again.

Nothing is guessed: a pair stands here because one stored output was read by both algorithms. A former key may lead to
several new ones, where the algorithm now tells apart what it took for one error, and several may lead to one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any


def mapping_rows(signals: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rows of `tables.SIGNATURE_MAPPING`, by former key and key, from the `error_seen` rows of `tables.SIGNALS`."""
    families: dict[tuple[str, str], set[str]] = {}
    for row in signals:
        if row["kind"] != "error_seen":
            continue
        seen = json.loads(row["payload"])["seen"]
        for former in seen["former"].values():
            families.setdefault((former, seen["signature"]), set()).add(str(row["family_id"]))
    return [
        {"former_key": former, "key": key, "algorithm": key.partition(":")[0], "families": len(found)}
        for (former, key), found in sorted(families.items())
    ]
