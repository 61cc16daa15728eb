"""What may leave a machine, of real sessions: every record a format reads, with nothing left to hide."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from lorelake.content.redaction import Redactor
from lorelake.formats import registry
from lorelake.formats.record import HEAD_BYTES, Capture, Member, Record
from lorelake.landing.redacted import redacted

DATA = Path(__file__).parents[4] / "shared" / "data"
FILES = sorted(
    path for name in ("claude-code", "codex", "copilot-cli", "gemini-cli") for path in (DATA / name).rglob("*.json*")
)
REDACTOR = Redactor(b"a key for this test, 32 bytes long")


def read(name: str, data: bytes, format_name: str) -> list[Record]:
    capture = Capture(name, (Member(name, len(data), lambda: io.BytesIO(data)),), "")
    return [item for item in registry.by_name(format_name).read(capture) if isinstance(item, Record)]


@pytest.mark.skipif(not FILES, reason="no real sessions at hand")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_record_of_a_real_session_is_delivered_and_read_as_the_same(path: Path) -> None:
    data = path.read_bytes()
    format_name = registry.sniff_member(path.name, data[:HEAD_BYTES])
    if format_name in (None, "documents"):
        pytest.skip("no transcript")
    made = redacted(path.name, data, REDACTOR)
    assert registry.sniff_member(path.name, made.data[:HEAD_BYTES]) == format_name
    before, after = read(path.name, data, format_name), read(path.name, made.data, format_name)
    assert [(one.unit, one.type, one.ts) for one in after] == [(one.unit, one.type, one.ts) for one in before]
    assert redacted(path.name, made.data, REDACTOR).left_out == {}
    hidden = REDACTOR.values([one.value for one in after])
    assert hidden == [one.value for one in after], "what a pass leaves has nothing more to hide"
