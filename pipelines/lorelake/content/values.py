"""Walk decoded JSON values without recursion: a record may be nested as deep as its sender liked.

What is rebuilt keeps shape, order and types; only leaves and keys change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

Context = TypeVar("Context")


def strings(values: Iterable[Any]) -> tuple[dict[str, None], dict[str, None]]:
    """Every string and every key in the values, each once; and the keys alone."""
    texts: dict[str, None] = {}
    keys: dict[str, None] = {}
    stack: list[Iterable[Any]] = [values]
    while stack:
        for node in stack.pop():
            if isinstance(node, str):
                texts[node] = None
            elif isinstance(node, dict):
                keys.update(dict.fromkeys(node))
                stack.append(node.values())
            elif isinstance(node, list):
                stack.append(node)
    texts.update(keys)
    return texts, keys


def rebuild(
    value: Any,
    change: Callable[[Any, Context | None], Any],
    enter: Callable[[str, dict[str, Any], Context | None], Context | None],
    rename: Callable[[str], str] = str,
) -> Any:
    """A copy of a value with its leaves changed.

    Args:
        value: decoded JSON.
        change: a leaf (string, number, boolean or None) and its context to what stands there instead.
        enter: key, its object, and the object's context to the context below that key. Lists hand theirs on.
        rename: key to key. Two keys that come out equal are told apart by a number, so that no value is lost.
    """
    top: list[Any] = [None]
    stack: list[tuple[Any, Context | None, Any, Any]] = [(value, None, top, 0)]
    while stack:
        node, context, parent, slot = stack.pop()
        if isinstance(node, dict):
            fresh: dict[str, Any] = {}
            parent[slot] = fresh
            for key, child in node.items():
                name = _free(rename(key), fresh)
                fresh[name] = None
                stack.append((child, enter(key, node, context), fresh, name))
        elif isinstance(node, list):
            parent[slot] = row = [None] * len(node)
            stack.extend((child, context, row, i) for i, child in enumerate(node))
        else:
            parent[slot] = change(node, context)
    return top[0]


def _free(name: str, taken: dict[str, Any]) -> str:
    free, number = name, 2
    while free in taken:
        free, number = f"{name}#{number}", number + 1
    return free
