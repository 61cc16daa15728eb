"""Memories a coding agent can trust, derived every night from what a team leaves behind.

    landing    find files, exports and repositories
    raw        keep what arrived, redacted; quarantine what cannot be read
    events     one shape for everything that happened
    evidence   signals with verified quotes, through admission gates
    learnings  claims and clusters; trust, confidence and supersession in SQL
    release    audit, publish, verify; agents read through `recall`

`open_release` is the Python way to read; nothing here writes memory on an agent's behalf.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["__version__", "open_release"]

if TYPE_CHECKING:
    from lorelake.recall.reader import open_release


def __getattr__(name: str) -> Any:
    if name == "open_release":
        from lorelake.recall.reader import open_release

        return open_release
    raise AttributeError(f"module 'lorelake' has no attribute {name!r}")
