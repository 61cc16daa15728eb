"""What became of the prompts a person typed while Claude Code worked.

The queue is a log beside the tree: `enqueue` with the words, then `dequeue` (they become the next user record),
`remove`, or `popAll` (taken back into the input line). `remove` reads like a withdrawal and is mostly none: the
running turn took the words in, the agent answers them, and no user record ever repeats them. 2.1.246 and later
say so (`reason: absorbed_mid_turn`); 2.0 to 2.1.4x give no reason and write nothing else.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import msgspec

DELIVERED = ("absorbed_mid_turn", "delivered_to_agent")


class QueueStep(msgspec.Struct, frozen=True):
    """One line of the log; `text` is "" where it names no words."""

    record_id: str
    operation: str
    text: str
    reason: str | None


def fates(
    steps: Iterable[QueueStep], prompts: Collection[str], attached: Collection[str] | None = None
) -> dict[str, str]:
    """What became of each `enqueue`, by its record id: dequeued, absorbed, withdrawn or waiting.

    Args:
        steps: the log, in order.
        prompts: texts of the session's user records. A dequeued text that none of them holds counts as waiting,
            so that words whose record was lost are still said once.
        attached: texts of `queued_command` attachments, or None where the version writes none. Where it writes
            them, a reasonless `remove` without one is a withdrawal.
    """
    waiting: list[QueueStep] = []
    fate: dict[str, str] = {}
    for step in steps:
        if step.operation == "enqueue":
            waiting.append(step)
            fate[step.record_id] = "waiting"
            continue
        for taken in _taken(waiting, step):
            waiting.remove(taken)
            fate[taken.record_id] = _fate(taken, step, prompts, attached)
    return fate


def _taken(waiting: list[QueueStep], step: QueueStep) -> list[QueueStep]:
    """The queued texts a step takes: the one it names, else the first; `popAll` without a name takes all."""
    named = [queued for queued in waiting if step.text and queued.text == step.text]
    if named:
        return named[:1]
    if step.operation == "popAll":
        return [] if step.text else list(waiting)
    return waiting[:1] if step.operation in ("dequeue", "remove") else []


def _fate(taken: QueueStep, step: QueueStep, prompts: Collection[str], attached: Collection[str] | None) -> str:
    if step.operation == "dequeue":
        return "dequeued" if any(taken.text.strip() in prompt for prompt in prompts) else "waiting"
    if step.operation == "popAll":
        return "withdrawn"
    if step.reason is not None:
        return "absorbed" if step.reason in DELIVERED else "withdrawn"
    return "withdrawn" if attached is not None and taken.text not in attached else "absorbed"
