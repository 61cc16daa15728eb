from __future__ import annotations

import inspect

import pytest

from lorelake.formats import registry
from lorelake.tables import SOURCES


def test_every_source_has_a_format_that_offers_the_whole_interface() -> None:
    assert set(registry.FORMATS) == set(SOURCES)
    for name in registry.FORMATS:
        module = registry.by_name(name)
        assert name == module.NAME
        assert module.SEEN
        for function in ("sniff", "read", "facts", "events"):
            assert inspect.isfunction(getattr(module, function))


def test_a_name_that_is_no_format_loads_nothing() -> None:
    for name in ("record", "registry", "os", ""):
        with pytest.raises(KeyError):
            registry.by_name(name)


@pytest.mark.parametrize(
    ("name", "head", "format_name"),
    [
        ("notes/a.md", b"# A note\n", "documents"),
        ("decisions/a.yaml", b"decision: reject\nlearning: lrn_0123456789ab\n", "decisions"),
        ("a.jsonl", b'{"type":"user","uuid":"1","sessionId":"s","message":{}}\n', "claude_code"),
        ("a.json", b"{}", None),
        ("a.bin", b"\x00\x01\x02", None),
    ],
)
def test_content_decides(name: str, head: bytes, format_name: str | None) -> None:
    assert registry.sniff_member(name, head) == format_name
