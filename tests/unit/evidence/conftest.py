"""Events of one unit, written by hand in a line each."""

from datetime import UTC, date, datetime, timedelta

import pytest

from lorelake.evidence.unit import EventRow

BEGAN = datetime(2026, 3, 2, 9, tzinfo=UTC)
CLASS = {
    "prompt": "human", "queued_prompt": "human", "rejection": "human", "message": "human", "review_comment": "human",
    "comment": "human", "commit": "human", "merge_request_opened": "human", "document_version": "human",
    "tool_result": "tool", "tool_call": "agent", "answer": "agent", "injected": "injected", "compaction": "system",
    "interrupt": "human", "denial": "system", "usage": "system",
}  # fmt: skip


class Unit:
    """Adds events in order; each call gives the new event back."""

    def __init__(self, unit_id="claude_code:s-1", kind="session", **defaults):
        self.events = []
        self.unit = {"unit_id": unit_id, "unit_kind": kind, "source": unit_id.partition(":")[0]}
        self.defaults = {"project": "shop", "audience": "project:shop"} | defaults

    def add(self, kind, text="", **more):
        seq = len(self.events)
        values = {
            "event_id": f"{self.unit['unit_id']}-{seq}",
            "seq": seq,
            "ts": BEGAN + timedelta(minutes=seq),
            "day": BEGAN.date(),
            "actor": "ana" if CLASS[kind] == "human" else CLASS[kind],
            "actor_class": CLASS[kind],
            "kind": kind,
            "text": text,
            "text_sha256": "",
            "on_live_path": True,
            "source_uri": f"s.jsonl:{seq}",
            "first_kept": date(2026, 3, 3),
        }
        self.events.append(EventRow(**self.unit, **(self.defaults | values | more)))
        return self.events[-1]

    def call(self, call_id, tool="Edit", text="", **more):
        return self.add("tool_call", text or more.get("command", ""), call_id=call_id, tool=tool, **more)

    def run(self, call_id, command, output, failed):
        self.call(call_id, tool="Bash", command=command)
        code = 1 if failed else None
        return self.add("tool_result", output, call_id=call_id, tool="Bash", is_error=failed, exit_code=code)


@pytest.fixture
def unit():
    return Unit()


@pytest.fixture
def new_unit():
    return Unit
