"""YAML that people write by hand, read without its surprises.

Safe types only; `no`, `on` and the like stay words, as in YAML 1.2. Doubled keys are refused, since the later
one would win unseen; anchors are refused, since a few lines of them unfold into gigabytes. Times become ISO 8601
text, so that every value is JSON-able.
"""

from __future__ import annotations

import math
import re
from datetime import date
from typing import Any, ClassVar

import yaml
from yaml.events import AliasEvent

MAX_CHARS = 256 * 1024
MAX_DEPTH = 50
_BOOL = "tag:yaml.org,2002:bool"


class YamlError(ValueError):
    """Not acceptable YAML. `line` counts from 1 within the given text."""

    def __init__(self, what: str, line: int) -> None:
        self.what, self.line = what, line
        super().__init__(f"line {line}: {what}")


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers: ClassVar = {  # type: ignore[misc]
        first: [(tag, pattern) for tag, pattern in known if tag != _BOOL]
        for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, AliasEvent) or getattr(event, "anchor", None):
            raise YamlError("anchors and aliases are not read here", event.start_mark.line + 1)
        return super().compose_node(parent, index)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except (ValueError, OverflowError) as error:
            if isinstance(error, YamlError):
                raise
            # 2026-02-31 looks like a date to YAML and is none.
            raise YamlError(str(error), node.start_mark.line + 1) from None

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            name = key.value if isinstance(key, yaml.ScalarNode) else ""
            if name in seen:
                raise YamlError(f"`{name}` is given twice", key.start_mark.line + 1)
            seen.add(name)
        return super().construct_mapping(node, deep)


_Loader.add_implicit_resolver(_BOOL, re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z"), list("tTfF"))


def load(text: str) -> Any:
    """One YAML document as JSON-able values.

    Raises:
        YamlError: with the line, for whatever is not plain YAML.
    """
    if len(text) > MAX_CHARS:
        raise YamlError(f"longer than {MAX_CHARS} characters", 1)
    try:
        return _plain(yaml.load(text, Loader=_Loader))  # noqa: S506 - a SafeLoader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlError(error.problem or "not valid YAML", mark.line + 1 if mark else 1) from None
    except yaml.reader.ReaderError as error:
        raise YamlError(
            f"{error.reason} (character {error.position})", text.count("\n", 0, error.position) + 1
        ) from None
    except RecursionError:
        raise YamlError("nested too deeply", 1) from None


def _plain(value: Any, depth: int = 0) -> Any:
    if depth > MAX_DEPTH:
        raise YamlError(f"nested deeper than {MAX_DEPTH}", 1)
    if isinstance(value, dict):
        return {_key(key): _plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, depth + 1) for item in value]
    if isinstance(value, set):
        return sorted(_key(item) for item in value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bytes) or (isinstance(value, float) and not math.isfinite(value)):
        return str(value)
    return _whole(value) if isinstance(value, str) else value


def _key(key: Any) -> str:
    return key.isoformat() if isinstance(key, date) else _whole(str(key))


def _whole(text: str) -> str:
    """A text whose escapes spell a character in two halves, as JSON does, with the character; half of one is none."""
    if text.isascii():
        return text
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise YamlError("holds half a surrogate pair", 1) from None
