"""What a call names, as the table holds it: the file as its repository knows it, numbers that fit a column."""

from __future__ import annotations

import json
from typing import Any

import pytest


def rollout(cwd: str, path: str) -> list[dict[str, Any]]:
    def line(second: int, kind: str, **payload: Any) -> dict[str, Any]:
        return {"timestamp": f"2026-03-02T09:00:{second:02d}.000Z", "type": kind, "payload": payload}

    call = json.dumps({"file_path": path})
    return [
        line(0, "session_meta", id="one", cwd=cwd),
        line(1, "event_msg", type="user_message", message="fix the rates"),
        line(2, "response_item", type="function_call", name="read_file", arguments=call, call_id="c1"),
    ]


@pytest.mark.parametrize(
    ("cwd", "path", "project"),
    [
        ("/home/mara/src/app", "/home/mara/src/app/src/rates.py", "/home/mara/src/app"),
        ("/home/mara/src/app", "/home/mara/src/app/.worktrees/2/src/rates.py", "/home/mara/src/app"),
        ("/home/mara/src/app/.worktrees/2", "/home/mara/src/app/.worktrees/2/src/rates.py", "/home/mara/src/app"),
        (
            "/home/mara/.codex/worktrees/7f3a/app",
            "/home/mara/.codex/worktrees/7f3a/app/src/rates.py",
            "/home/mara/.codex/worktrees/7f3a/app",
        ),
    ],
)
def test_a_path_is_told_from_the_checkout_down(nights, jsonl, cwd: str, path: str, project: str) -> None:
    lake = nights()
    lake.night([jsonl("rollout.jsonl", rollout(cwd, path))])
    (call,) = lake.events("tool_call").iter_rows(named=True)
    assert (call["path"], call["project"]) == ("src/rates.py", project)


def test_a_number_that_fits_no_column_costs_its_record_nothing_and_its_day_nothing(nights, jsonl) -> None:
    """faults K3: one odd record must not stop the night."""

    def result(second: int, code: int) -> dict[str, Any]:
        output = json.dumps({"output": f"ran {second}", "metadata": {"exit_code": code}})
        payload = {"type": "function_call_output", "call_id": f"c{second}", "output": output}
        return {"timestamp": f"2026-03-02T09:00:{second:02d}.000Z", "type": "response_item", "payload": payload}

    lake = nights()
    lines = [*rollout("/home/mara/src/app", "a.py"), result(10, 10**25), result(11, 2)]
    lake.night([jsonl("rollout.jsonl", lines)])
    found = lake.events("tool_result").select("text", "exit_code", "is_error").rows()
    assert found == [("ran 10", None, True), ("ran 11", 2, True)]
