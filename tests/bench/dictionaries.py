"""The plain way to do the same, for figures to be held against: `orjson` dictionaries from first byte to last."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from lorelake.content.redaction import RULES, Redactor
from lorelake.formats.transcripts import blocks_text

Row = tuple[Any, ...]


def flatten(lines: Iterable[bytes | str]) -> list[Row]:
    """One row for each block of each message."""
    rows: list[Row] = []
    for line in lines:
        rows.extend(_blocks(orjson.loads(line)))
    return rows


def _blocks(value: dict[str, Any]) -> Iterator[Row]:
    message = value.get("message")
    kind = value.get("type")
    if kind not in ("user", "assistant") or not isinstance(message, dict):
        return
    content, own, parent = message.get("content"), value.get("uuid"), value.get("parentUuid")
    usage = message.get("usage")
    model = message.get("id"), message.get("model"), b"" if usage is None else orjson.dumps(usage)
    if isinstance(content, str):
        yield own, parent, kind, 0, "text", content, None, None, None, *model
        return
    for place, block in enumerate(content or ()):
        form = block.get("type")
        if form == "text":
            yield own, parent, kind, place, form, block.get("text"), None, None, None, *model
        elif form == "tool_use":
            given = orjson.dumps(block.get("input"))
            yield own, parent, kind, place, form, given, block.get("id"), block.get("name"), None, *model
        elif form == "tool_result":
            given = block.get("content")
            text = given if isinstance(given, str) else blocks_text(given)
            yield own, parent, kind, place, form, text, block.get("tool_use_id"), None, block.get("is_error"), *model


def ingest(paths: Sequence[Path], out: Path, redactor: Redactor) -> int:
    """Redacted raw rows and event rows of transcripts, each as one Parquet file a day. Returns the rows of both."""
    raw: dict[str, list[Row]] = defaultdict(list)
    events: dict[str, list[Row]] = defaultdict(list)
    for path in paths:
        with path.open("rb") as lines:
            values = [orjson.loads(line) for line in lines if line.endswith(b"}\n")]
        hidden = _hidden({text: None for value in values for text in _strings(value)}, redactor)
        day = next((value["timestamp"][:10] for value in values if value.get("timestamp")), "")
        for number, value in enumerate(values):
            clean = _replaced(value, hidden.get) if hidden else value
            body = orjson.dumps(clean, option=orjson.OPT_SORT_KEYS)
            unit, own = str(value.get("sessionId", path.stem)), value.get("uuid")
            raw[day].append(
                ("claude_code", unit, own, hashlib.sha256(body).hexdigest(), value.get("type"), value.get("timestamp"),
                 body.decode(), f"{path.name}:{number}")
            )  # fmt: skip
            for row in _blocks(clean):
                text = row[5].decode() if isinstance(row[5], bytes) else row[5]
                digest = hashlib.sha256((text or "").encode()).hexdigest()
                events[day].append((*row[:5], text, *row[6:], unit, value.get("timestamp"), digest))
    for name, days in (("raw", raw), ("events", events)):
        for day, rows in days.items():
            table = pl.DataFrame(rows, orient="row", infer_schema_length=None)
            folder = out / name / f"day={day or 'none'}"
            folder.mkdir(parents=True, exist_ok=True)
            table.sort(table.columns[:4]).write_parquet(
                folder / "rows.parquet", compression="zstd", compression_level=3
            )
    return sum(map(len, raw.values())) + sum(map(len, events.values()))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for child in value.values():
            yield from _strings(child)
    elif isinstance(value, list):
        for child in value:
            yield from _strings(child)


def _hidden(texts: dict[str, None], redactor: Redactor) -> dict[str, str]:
    """The same rules, each searched through all strings."""
    column = pl.Series(list(texts), dtype=pl.String)
    rows: set[int] = set()
    for rule in RULES:
        rows.update(column.str.contains(rule.pattern).arg_true())
    found = {column[row]: redactor.text(column[row]) for row in rows}
    return {text: clean for text, clean in found.items() if clean != text}


def _replaced(value: Any, hidden: Callable[[str], str | None]) -> Any:
    if isinstance(value, str):
        return hidden(value) or value
    if isinstance(value, dict):
        return {key: _replaced(child, hidden) for key, child in value.items()}
    return [_replaced(child, hidden) for child in value] if isinstance(value, list) else value
