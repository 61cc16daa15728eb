"""History that a fork replays, or a rendition repeats, is said once: by who said it first, whatever arrives first."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import permutations
from typing import Any

import polars as pl
import pytest

FORKED = datetime(2026, 3, 5, 14, tzinfo=UTC)


class Rollout:
    """The lines of one Codex session."""

    def __init__(self, session: str, began: datetime, **meta: Any) -> None:
        self.session, self.at = session, began
        self.lines: list[dict[str, Any]] = []
        self._add("session_meta", {"id": session, "cwd": "/home/mara/src/harbour", **meta})

    def _add(self, kind: str, payload: dict[str, Any]) -> None:
        self.at += timedelta(seconds=20)
        self.lines.append({"timestamp": self.at.isoformat(), "type": kind, "payload": payload})

    def turn(self, prompt: str, answer: str) -> Rollout:
        self._add("event_msg", {"type": "user_message", "message": prompt})
        text = {"type": "output_text", "text": answer}
        self._add("response_item", {"type": "message", "role": "assistant", "content": [text]})
        return self

    def replays(self, parent: Rollout, own_times: bool = False) -> Rollout:
        self.lines += [line if own_times else {**line, "timestamp": self.at.isoformat()} for line in parent.lines]
        return self


def parent() -> Rollout:
    rollout = Rollout("parent", datetime(2026, 3, 2, 9, tzinfo=UTC))
    return rollout.turn("never edit the generated client", "Noted.").turn("push", "Pushed.")


def fork(own_times: bool = False, session: str = "fork", began: datetime = FORKED) -> Rollout:
    rollout = Rollout(session, began, forked_from_id="parent").replays(parent(), own_times)
    return rollout.turn("push", "Pushed again.")


def sub_agent() -> Rollout:
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": "parent"}}}
    return Rollout("helper", FORKED, source=spawn).turn("never edit the generated client", "Looking.")


@pytest.fixture
def after(nights, jsonl):
    """The lake after one night for each group of rollouts."""

    def run(name: str, *groups: Sequence[Rollout]) -> Any:
        lake = nights(name)
        for group in groups:
            lake.night(jsonl(f"rollout-{one.session}.jsonl", one.lines) for one in group)
        return lake

    return run


def prompts(lake: Any) -> list[tuple[str, str]]:
    found = lake.events("prompt").select("unit_id", "text").rows()
    return sorted((unit.partition(":")[2], text) for unit, text in found)


SAID = [("fork", "push"), ("parent", "never edit the generated client"), ("parent", "push")]


@pytest.mark.parametrize("own_times", [False, True])
def test_a_fork_replays_its_parent_under_new_times(after, own_times: bool) -> None:
    """faults 2: the parent's two turns once, at their own times; one turn of the fork; one of the sub-agent."""
    captures = (parent(), fork(own_times), sub_agent())
    states = []
    for number, order in enumerate(permutations(captures)):
        lake = after(f"{number}", *([one] for one in order))
        assert prompts(lake) == SAID
        states.append(lake.events())
    assert all(state.equals(states[0]) for state in states)
    first = states[0].filter(pl.col("text") == "never edit the generated client", pl.col("kind") == "prompt")
    assert first["ts"].to_list() == [datetime(2026, 3, 2, 9, 0, 40, tzinfo=UTC)]
    lake = after("at_once", captures)
    assert lake.events().equals(states[0])
    families = lake.sessions()["family_id"]
    assert set(families) == {"codex:fork"}


def test_a_fork_alone_speaks_for_its_parent_until_it_comes(after) -> None:
    lake = after("lake", [fork()])
    assert [text for _, text in prompts(lake)] == ["never edit the generated client", "push", "push"]


def test_forks_of_a_parent_that_never_came_repeat_nothing(after) -> None:
    later = fork(session="later", began=FORKED + timedelta(days=1)).turn("and tag it", "Tagged.")
    said = [("fork", "never edit the generated client"), ("fork", "push"), ("fork", "push"), ("later", "and tag it")]
    lake = after("a", [later], [fork()])
    # Both forks were told to push once more, word for word: the run goes on as long as they agree.
    assert prompts(lake) == said
    assert prompts(after("b", [fork()], [later])) == said


def test_a_fork_of_a_fork_owns_only_what_it_added(after) -> None:
    second = (
        Rollout("second", FORKED + timedelta(days=1), forked_from_id="fork").replays(fork()).turn("undo", "Undone.")
    )
    for number, order in enumerate(permutations([parent(), fork(), second])):
        assert prompts(after(f"{number}", *([one] for one in order))) == sorted([*SAID, ("second", "undo")])


def test_a_prompt_handed_on_to_a_sub_agent_is_no_replay(after) -> None:
    """The sub-agent's first turn is its own, though it reads like its parent's first prompt."""
    lake = after("lake", [parent(), sub_agent()])
    handed_on = lake.events("injected").filter(pl.col("unit_id") == "codex:helper")
    assert handed_on["text"].to_list() == ["never edit the generated client"]
    assert handed_on["actor_class"].to_list() == ["agent"]


def test_parents_in_a_ring_end(after) -> None:
    one = Rollout("one", FORKED, forked_from_id="two").turn("push", "Pushed.")
    two = Rollout("two", FORKED, forked_from_id="one").turn("push", "Pushed.")
    assert len(prompts(after("lake", [one, two]))) >= 1


RENDITION = """<!-- Generated by SpecStory, Markdown v2.1.0 -->

# 2026-03-02 09:00:00Z

<!-- Claude Code Session 5e5510 (2026-03-02 09:00:00Z) -->

_**User (2026-03-02 09:00:00Z)**_

never edit the generated client

---

_**Agent (model-1 2026-03-02 09:00:20Z)**_

Noted.

---
"""


def test_a_rendition_says_nothing_twice_whichever_comes_first(nights, jsonl) -> None:
    """A session that its own agent wrote down is not told again by SpecStory; without it SpecStory speaks."""
    line = {
        "type": "user", "uuid": "u1", "parentUuid": None, "sessionId": "5e5510", "timestamp": "2026-03-02T09:00:00Z",
        "cwd": "/home/mara/src/harbour", "message": {"role": "user", "content": "never edit the generated client"},
    }  # fmt: skip
    native = jsonl("5e5510.jsonl", [line])
    rendition = jsonl("2026-03-02_09-00-never-edit.md", RENDITION.encode())
    states = []
    for name, order in (("native", (native, rendition)), ("rendition", (rendition, native))):
        lake = nights(name)
        lake.night([order[0]])
        assert [text for _, text in prompts(lake)] == ["never edit the generated client"]
        lake.night([order[1]])
        assert prompts(lake) == [("5e5510", "never edit the generated client")]
        assert set(lake.events()["source"]) == {"claude_code"}
        assert set(lake.raw()["source"]) == {"claude_code", "specstory"}
        states.append(lake.events())
    assert states[0].equals(states[1])


def test_a_transcript_that_says_nothing_does_not_silence_its_rendition(nights, jsonl) -> None:
    """faults 3: Claude Code leaves files with a step of the queue and nothing else."""
    step = {
        "type": "queue-operation",
        "operation": "dequeue",
        "sessionId": "5e5510",
        "timestamp": "2026-03-02T09:00:00Z",
    }
    lake = nights()
    lake.night([jsonl("5e5510.jsonl", [step]), jsonl("2026-03-02_09-00-never-edit.md", RENDITION.encode())])
    assert [text for _, text in prompts(lake)] == ["never edit the generated client"]
