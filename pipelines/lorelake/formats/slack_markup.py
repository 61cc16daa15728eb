"""Slack's message markup as the plain text a person saw: names, labels and characters instead of tokens.

`names` maps ids of people and channels to what to show for them; "" shows the id and hides a label.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

_TOKEN = re.compile(r"<([@#!]?)([^<>|]+)(?:\|([^<>]*))?>|&(amp|lt|gt);")
_LINK = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")
_CHARACTERS = {"amp": "&", "lt": "<", "gt": ">"}
_MENTION = re.compile(r'<(?:@([^<>|"]+)>|#([^<>|"]+)(?:\|[^<>"]*)?>)|"(?:user_id|channel_id)":"([^"]+)"')
_DEEPEST = 8
"""Levels by which Slack indents a list."""
_NO_NAMES: Mapping[str, str] = MappingProxyType({})


def mentioned(canonical: str) -> list[str]:
    """Ids of the people and channels that a message, as canonical JSON, names by id; each once."""
    return list(dict.fromkeys(one[1] or one[2] or one[3] for one in _MENTION.finditer(canonical)))


def plain(text: str, names: Mapping[str, str] = _NO_NAMES) -> str:
    """`<@U1|ana>` as @ana, `<#C1|ops>` as #ops, links as their label or address, `&lt;` as <.

    One pass, so that what a person typed as `&lt;` and Slack stored as `&amp;lt;` comes back as typed. Bold, code and
    quote marks stay: they are what was typed.
    """
    return _TOKEN.sub(lambda token: _resolve(token, names), text)


def _resolve(token: re.Match[str], names: Mapping[str, str]) -> str:
    sign, target, label, character = token[1], token[2], token[3], token[4]
    if character:
        return _CHARACTERS[character]
    if sign == "!":
        return _command(target, _characters(label or ""))
    if sign:
        shown = names[target] if target in names else _characters(label or "")
        return sign + (shown or target).removeprefix(sign)
    return _characters(label or target) if _LINK.match(target) else token[0]


def _command(target: str, label: str) -> str:
    """`<!here>`, `<!subteam^S1|@ops>`, `<!date^1392734382^{date}|Feb 18>`."""
    name, _, rest = target.partition("^")
    if name == "subteam":
        return "@" + (label or rest.partition("^")[0]).removeprefix("@")
    if name == "date":
        return label
    return label if label.startswith("@") else f"@{name}"


def _characters(text: str) -> str:
    return re.sub(r"&(amp|lt|gt);", lambda found: _CHARACTERS[found[1]], text)


def links(text: str) -> list[str]:
    """Addresses of the links in a message, in order, each once."""
    found = (token[2] for token in _TOKEN.finditer(text) if token[2] and not token[1] and _LINK.match(token[2]))
    return list(dict.fromkeys(_characters(address) for address in found))


def from_blocks(blocks: Any, names: Mapping[str, str] = _NO_NAMES) -> str:
    """The text of a message's blocks, for messages that carry no other: one line a section, list item or quote."""
    return "\n".join(line for block in _dicts(blocks) for line in _block(block, names)).strip("\n")


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _block(block: dict[str, Any], names: Mapping[str, str]) -> Iterator[str]:
    if block.get("type") == "rich_text":
        for element in _dicts(block.get("elements")):
            yield from _rich(element, names)
        return
    for holder in (block, *_dicts(block.get("fields")), *_dicts(block.get("elements"))):
        inner = holder.get("text")
        if isinstance(inner, dict):
            holder, inner = inner, inner.get("text")
        if isinstance(inner, str) and holder.get("type") in ("mrkdwn", "plain_text", "section", "markdown"):
            yield plain(inner, names) if holder.get("type") != "plain_text" else inner


def _rich(element: dict[str, Any], names: Mapping[str, str]) -> Iterator[str]:
    kind, inner = element.get("type"), _dicts(element.get("elements"))
    if kind == "rich_text_list":
        indent = element.get("indent")
        margin = "  " * min(indent if isinstance(indent, int) else 0, _DEEPEST)
        for item in inner:
            yield margin + "• " + _run(_dicts(item.get("elements")), names)
    elif kind == "rich_text_preformatted":
        yield f"```{_run(inner, names)}```"
    elif kind == "rich_text_quote":
        yield from ("> " + line for line in _run(inner, names).split("\n"))
    else:
        yield _run(inner, names).removesuffix("\n")


_PIECES: dict[str, Callable[[dict[str, Any], Mapping[str, str]], object]] = {
    "text": lambda piece, names: piece.get("text"),
    "link": lambda piece, names: piece.get("text") or piece.get("url"),
    "user": lambda piece, names: "@" + _named(piece.get("user_id"), names),
    "usergroup": lambda piece, names: f"@{piece.get('usergroup_id')}",
    "channel": lambda piece, names: "#" + _named(piece.get("channel_id"), names),
    "broadcast": lambda piece, names: f"@{piece.get('range')}",
    "emoji": lambda piece, names: f":{piece.get('name')}:",
    "date": lambda piece, names: piece.get("fallback"),
    "color": lambda piece, names: piece.get("value"),
}


def _named(native: Any, names: Mapping[str, str]) -> str:
    return names.get(str(native)) or str(native)


def _run(pieces: list[dict[str, Any]], names: Mapping[str, str]) -> str:
    """Inline pieces in a row; unknown kinds are left out."""
    known = ((_PIECES.get(str(piece.get("type"))), piece) for piece in pieces)
    said = (read(piece, names) for read, piece in known if read)
    return "".join(part for part in said if isinstance(part, str))
