"""Replace pictures and other base64 content by type, size and hash, so that no byte of them reaches a table.

- A string that its neighbours or its own `data:` prefix declare as base64 becomes
  `{"blob": {"type", "size", "sha256"}}`.
- A `data:` URL or a long base64 run inside other text becomes `[blob:<type>:<size>:<sha256>]`.

Size and sha256 are those of the decoded bytes; where the base64 is broken, those of the encoded text. It runs before
redaction: twenty megabytes of picture need not be searched for keys, and the hash stays that of the picture.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lorelake.content import values as decoded

if TYPE_CHECKING:
    import polars

LONGEST_KEPT = 512
"""A run of base64 characters of this length or more is content. Hashes, tokens and signed URLs are shorter."""

UNKNOWN = "application/octet-stream"

_TYPE_NAMES = (
    "media_type", "mediaType", "mime_type", "mimeType", "mimetype", "content_type", "contentType", "type", "format",
)  # fmt: skip
_DATA_NAMES = frozenset({"data", "base64", "bytes", "blob", "b64_json", "image_base64", "content"})
_MEDIA_TYPE = re.compile(r"[a-z]+/[a-zA-Z0-9.+-]{1,70}")
_TEXT_TYPE = re.compile(r"text/|application/(?:json|xml|javascript|yaml)")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]+(?:\s*\n[A-Za-z0-9+/_-]+)*={0,2}\s*")
_DATA_URL = re.compile(
    rf"data:({_MEDIA_TYPE.pattern})?(?:;[a-zA-Z0-9=_.-]{{1,60}}){{0,4}};base64,([A-Za-z0-9+/_%-]{{4,}}={{0,2}})"
)
_LINE, _BREAK = "[A-Za-z0-9+/]{60,100}", r"(?:\r?\n|\\r\\n|\\n)"
_RUN = re.compile(
    rf"(?<!\\)[A-Za-z0-9+/_-]{{{LONGEST_KEPT},}}={{0,2}}"
    rf"|(?<!\\){_LINE}(?:{_BREAK}{_LINE}){{{LONGEST_KEPT // 60},}}"
    rf"(?:={{1,2}}|{_BREAK}(?:[A-Za-z0-9+/]{{1,100}}={{1,2}}|(?:[A-Za-z0-9+/]{{4}}){{5,25}}))?"
)
_MAGIC = (
    (b"\x89PNG", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"), (b"RIFF", "image/webp"),
    (b"%PDF", "application/pdf"), (b"PK\x03\x04", "application/zip"), (b"\x1f\x8b", "application/gzip"),
)  # fmt: skip

_STEP = 8
_SAMPLES = b"b" * (LONGEST_KEPT // _STEP)
_BASE64_BYTES = bytes(
    ord("b") if chr(code) in "+/=_-\\" or (code < 128 and chr(code).isalnum()) else ord(" ") for code in range(256)
)
_DECLARED = (
    '"(?:(?:media_?[tT]ype|mime_?[tT]ype|content_?[tT]ype|type|format)":"[a-z]+/|(?:image|audio|video)/'
    '|application/pdf")'
)


def may_hold_blobs(texts: Sequence[bytes], column: polars.Series | None = None) -> list[int]:
    """Positions of the values that may hold base64 content, judged by their JSON texts.

    Seldom one that holds none, never one left out that does. A long run, broken into lines or not, has nothing else
    under every eighth byte.

    Args:
        column: the same texts, where they are many enough for a vectorised search.
    """
    declared = (
        {place for place, text in enumerate(texts) if re.search(_DECLARED.encode(), text)}
        if column is None
        else set(column.str.contains(_DECLARED).arg_true())
    )
    return [
        place
        for place, text in enumerate(texts)
        if place in declared
        or b"base64" in text
        or b"b64_json" in text
        or (len(text) >= LONGEST_KEPT and _SAMPLES in text[::_STEP].translate(_BASE64_BYTES))
    ]


def strip_blobs(value: Any) -> Any:
    """A decoded JSON value without base64 content; the same value where it holds none. Idempotent."""
    texts, _ = decoded.strings([value])
    if not any(len(text) >= LONGEST_KEPT or ";base64," in text or _BASE64.fullmatch(text) for text in texts):
        return value
    return decoded.rebuild(value, _stripped, _declared)


def strip_text(text: str) -> str:
    """A text with every `data:` URL and long base64 run replaced by its mark."""
    text = _DATA_URL.sub(lambda match: _mark(match[1] or UNKNOWN, match[2]), text)
    if len(text) < LONGEST_KEPT:
        return text
    return _RUN.sub(lambda match: _mark(None, match[0]) if _varied(match[0]) else match[0], text)


def _declared(key: str, owner: dict[str, Any], _: str | None) -> str | None:
    """The media type that a key, or a neighbour of it, gives the string below; None where nothing does."""
    if _MEDIA_TYPE.fullmatch(key):
        return key if key.startswith(("image/", "audio/", "video/")) or key == "application/pdf" else None
    if key not in _DATA_NAMES:
        return None
    named = (owner.get(name) for name in _TYPE_NAMES)
    stated = next((name for name in named if isinstance(name, str) and _MEDIA_TYPE.fullmatch(name)), None)
    encoded = "base64" in (owner.get("encoding"), owner.get("type")) or "base64" in key or key == "b64_json"
    if stated and (encoded or (key != "content" and not _TEXT_TYPE.match(stated))):
        return stated
    return UNKNOWN if encoded else None


def _stripped(leaf: Any, declared: str | None) -> Any:
    if not isinstance(leaf, str):
        return leaf
    if declared and len(leaf) >= 8 and _BASE64.fullmatch(leaf):
        return {"blob": _blob(declared, leaf)}
    url = _DATA_URL.fullmatch(leaf)
    return {"blob": _blob(url[1] or UNKNOWN, url[2])} if url else strip_text(leaf)


def _blob(type_: str | None, encoded: str) -> dict[str, Any]:
    compact = re.sub(r"\s|\\[rn]", "", encoded).replace("-", "+").replace("_", "/").rstrip("=")
    try:
        content = base64.b64decode(compact + "=" * (-len(compact) % 4), validate=True)
    except (binascii.Error, ValueError):
        content = encoded.encode("utf-8", "surrogatepass")
    if type_ is None:
        type_ = next((name for magic, name in _MAGIC if content.startswith(magic)), UNKNOWN)
    return {"type": type_.lower(), "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def _mark(type_: str | None, encoded: str) -> str:
    blob = _blob(type_, encoded)
    return f"[blob:{blob['type']}:{blob['size']}:{blob['sha256']}]"


def _varied(run: str) -> bool:
    """Not a ruler: a line of dashes or one letter is no content."""
    return len(set(run[:4096])) >= 8 and bool(re.search("[A-Z]", run)) and bool(re.search("[a-z0-9]", run))
