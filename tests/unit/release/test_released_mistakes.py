"""Which errors came again, as the analysts' tables tell it: of a private session a number, never the error's key."""

from __future__ import annotations

from datetime import UTC, datetime

import polars as pl
import pytest

from lorelake.lake import frame
from lorelake.release.privacy import without_private_words
from lorelake.tables import TABLES

KEY = "sig-2:" + "a" * 32


@pytest.mark.parametrize(
    ("audience", "learning_audience", "signature"),
    [
        ("project:harbour", "team", KEY),
        ("team", "project:harbour", KEY),
        ("person:mara", "team", ""),
        ("channel:C9", "team", ""),
        ("project:harbour", "channel:C9", ""),
    ],
)
def test_the_error_of_a_private_session_or_learning_is_withheld(night, audience, learning_audience, signature):
    active = night.tables()["learnings"].filter(pl.col("state") == "active")
    learning = min(active["learning_id"])
    row = {
        "learning_id": learning, "family_id": "claude_code:f", "signature": KEY, "audience": audience,
        "first_ts": datetime(2026, 3, 1, tzinfo=UTC), "last_ts": datetime(2026, 3, 1, tzinfo=UTC), "times": 2,
        "shown_before": False, "shown_at": None,
    }  # fmt: skip
    frames = night.tables() | {"repeat_mistakes": frame(TABLES["repeat_mistakes"], [row])}
    of = pl.when(pl.col("learning_id") == learning).then(pl.lit(learning_audience)).otherwise("audience")
    frames["learnings"] = frames["learnings"].with_columns(audience=of)
    (shown,) = without_private_words(frames, None)["repeat_mistakes"].to_dicts()
    assert shown == {**row, "signature": signature}
