"""Long work on many rows, without the collector of cycles."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collector() -> Iterator[None]:
    """Keep Python from looking for cycles meanwhile; also as a decorator.

    Rows hold none, and looking through a hundred thousand of them again and again took a fifth of the stage's time.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
