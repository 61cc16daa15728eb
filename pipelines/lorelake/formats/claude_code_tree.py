"""Which turns of a Claude Code session were rewound.

Every record names its parent. A rewind leaves the abandoned turns in the file and attaches the new prompt to the
parent of the old one. Forks are common for other reasons (parallel tool results, progress records, streamed
pieces), missing parents too (refused lines, older captures), so nothing is dead merely for lying off the path from
the last leaf: only a *prompt* that another prompt replaced is, with all that followed from it.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime

import msgspec


class Node(msgspec.Struct, frozen=True):
    """A record of the tree. `role`: prompt (a person's), turn (answers, results, stops) or between (all else)."""

    id: str
    parent: str | None
    ts: datetime
    role: str


def depths(nodes: dict[str, Node]) -> dict[str, int]:
    """Ancestors of each node that are at hand: tells parent from child where both state the same millisecond."""
    known: dict[str, int] = {}
    for start in nodes:
        path: list[str] = []
        seen: set[str] = set()
        here: str | None = start
        while here is not None and here in nodes and here not in known and here not in seen:
            seen.add(here)
            path.append(here)
            here = nodes[here].parent
        depth = known.get(here, -1) if here is not None else -1
        for node_id in reversed(path):
            depth += 1
            known[node_id] = depth
    return known


def rewound(nodes: dict[str, Node]) -> set[str]:
    """Ids of the records that belong to abandoned turns.

    Two prompts that follow the same turn are rivals. The earlier one was abandoned if everything that came of
    it was over when the later one was typed; else two terminals went on from one session, which abandons nothing.
    """
    children: dict[str, list[str]] = defaultdict(list)
    rivals: dict[tuple[str, str], list[Node]] = defaultdict(list)
    for node in nodes.values():
        if node.parent is not None:
            children[node.parent].append(node.id)
        if node.role == "prompt":
            rivals[_follows(nodes, node)].append(node)
    dead: set[str] = set()
    for prompts in rivals.values():
        if len(prompts) == 1:
            continue  # a session is one long chain: to walk it once for each of its prompts is not needed
        last = max(prompts, key=lambda node: (node.ts, node.id))
        for prompt in prompts:
            branch = _branch(children, prompt.id)
            ended = max(nodes[node_id].ts for node_id in branch if nodes[node_id].role != "between")
            if prompt is not last and ended <= last.ts:
                dead |= branch
    return dead


def _follows(nodes: dict[str, Node], prompt: Node) -> tuple[str, str]:
    """The turn a prompt follows, over the records in between; a start of its own where the chain ends."""
    if prompt.parent is None:
        return ("start", "")
    here, seen = prompt.parent, {prompt.id}
    while True:
        node = nodes.get(here)
        if node is None:
            return ("missing", here)
        if node.role != "between" or node.parent is None or node.id in seen:
            return ("node", node.id)
        seen.add(node.id)
        here = node.parent


def _branch(children: dict[str, list[str]], start: str) -> set[str]:
    """A node and everything below it."""
    found = {start}
    todo = [start]
    while todo:
        for child in children.get(todo.pop(), ()):
            if child not in found:
                found.add(child)
                todo.append(child)
    return found
