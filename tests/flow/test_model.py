"""A model beside the rules: what it proposes waits, what it made up is refused, and a rebuild asks nobody."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("flow")]

SAID = "The emulator hides the keyboard bug, so the smoke list finds it on a real phone alone."
OTHER = "Please look at why the invoice page is slow when a berth has many bookings on it."


def prompt(session: str, text: str) -> str:
    """One prompt of a transcript as a line."""
    return json.dumps({
        "type": "user", "sessionId": session, "uuid": f"{session[:8]}-0000-4000-8000-000000000001", "parentUuid": None,
        "timestamp": "2026-03-10T09:01:00.000Z", "cwd": "/home/mara/src/harbour-api", "version": "2.1.30",
        "gitBranch": "main", "isSidechain": False, "userType": "external",
        "message": {"role": "user", "content": text},
    })  # fmt: skip


def item(quote: str, do: str) -> dict[str, Any]:
    return {
        "statement": 1, "quote": quote, "title": do, "when": "before a release", "do": do, "because": None,
        "rejected": None, "not_when": [], "kind": "procedure",
    }  # fmt: skip


class Model(ThreadingHTTPServer):
    """An OpenAI-compatible server that answers one conversation well and babbles about the other."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        super().__init__(("127.0.0.1", 0), Answers)


class Answers(BaseHTTPRequestHandler):
    server: Model

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        question = body["messages"][1]["content"]
        self.server.asked.append(question)
        good = [item("the smoke list finds it on a real phone", "Run the smoke list on a real phone."),
                item("always deploy on a Friday evening", "Deploy on Friday.")]  # fmt: skip
        text = json.dumps({"items": good}) if "smoke list" in question else "Here you are: {items"
        said = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
        usage = {"prompt_tokens": 90, "completion_tokens": 10, "total_tokens": 100}
        about = {"id": "a", "object": "chat.completion", "created": 1, "model": body["model"]}
        answer = json.dumps({**about, "choices": [said], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


@pytest.fixture
def model() -> Iterator[Model]:
    with Model() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def test_its_items_wait_for_a_person_and_a_rebuild_asks_nobody(call, model, tmp_path, without_suites) -> None:
    (tmp_path / "in").mkdir()
    for digit, text in (("1", SAID), ("2", OTHER)):
        session = f"{digit}0000000-1111-4222-8333-444444444444"
        (tmp_path / "in" / f"{session}.jsonl").write_text(prompt(session, text) + "\n", encoding="utf-8")
    settings = tmp_path / "lorelake.toml"
    settings.write_text(
        '[team]\nid = "t"\n[nightly]\nas_of = 2026-03-20\n[[people]]\nid = "mara"\n'
        '[[sources]]\npath = "in"\nproject = "shop"\nperson = "mara"\n[recall]\nprojects = ["shop"]\n'
        f'[extract]\nendpoint = "http://127.0.0.1:{model.server_port}/v1"\nmodel = "tiny"\n',
        encoding="utf-8",
    )
    lake = tmp_path / "lake"
    read = ("--home", lake)

    first = call("nightly", "--settings", settings)
    assert first.code == 0, first.err
    assert len(model.asked) == 2
    told = (
        "model: 2 questions answered, 200 tokens; 1 of them not as the JSON asked for; 1 item quoted what nobody said"
    )
    assert told in first.out
    found = call("sql", "select learning_id, title, state, trust, known_from from learnings where trust = 'proposed'",
                 "--json", *read)  # fmt: skip
    (proposed,) = map(json.loads, found.out.splitlines())
    assert proposed["title"] == "Run the smoke list on a real phone"
    assert (proposed["state"], proposed["known_from"]) == ("candidate", "2026-03-20")
    refused = call("sql", "select rule, rows from refusals where stage = 'evidence' order by rule", "--json", *read).out
    assert '{"rule": "not_json", "rows": 1}' in refused
    assert '{"rule": "quote_nobody_said", "rows": 1}' in refused
    explained = call("explain", proposed["learning_id"], "--project", "shop", *read).out
    assert "candidate: proposed, by tiny, in words of mara" in explained
    assert 'said    "the smoke list finds it on a real phone"' in explained
    assert "Run the smoke list" not in call("recall", "smoke list on a phone", "--project", "shop", *read).out

    release = (lake / "CURRENT").read_text(encoding="utf-8")
    for name in ("events", "evidence", "learnings", "state"):
        shutil.rmtree(lake / name)
    again = call("nightly", "--settings", settings)
    assert again.code == 0, again.err
    assert "model: 0 questions answered" in again.out
    assert len(model.asked) == 2, "its answers are an input: a rebuild asks nobody"
    assert (lake / "CURRENT").read_text(encoding="utf-8") == release
