"""A model behind a local server, or a local program, in every mood."""

import http.server
import json
import stat
import sys
import threading
import time

import pytest

from lorelake.errors import SettingsError
from lorelake.evidence.model_ask import Asked, Command, Endpoint, NoAnswerError, ask_all, asker
from lorelake.settings import Extract

ANSWER = '{"items": []}'


class Server:
    """An OpenAI-compatible server that follows a script: one entry a request, the last one for all that follow."""

    def __init__(self):
        self.script = [(200, ANSWER)]
        self.requests = []
        self.headers = []
        self.now = self.most = 0
        self.lock = threading.Lock()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                outer.answer(self)

            def log_message(self, *args):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        threading.Thread(target=self.http.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.http.server_port}/v1"

    def answer(self, handler):
        body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        with self.lock:
            self.requests.append(body)
            self.headers.append({name.lower(): value for name, value in handler.headers.items()})
            status, text, *seconds = self.script.pop(0) if len(self.script) > 1 else self.script[0]
            self.now += 1
            self.most = max(self.most, self.now)
        if seconds:
            time.sleep(seconds[0])
        with self.lock:
            self.now -= 1
        told = {"error": {"message": text, "type": "x"}}
        if status == 200:
            message = {"role": "assistant", "content": text}
            told = {
                "id": "1", "object": "chat.completion", "created": 1, "model": "m",
                "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
                "usage": {"prompt_tokens": 90, "completion_tokens": 10, "total_tokens": 100},
            }  # fmt: skip
        data = json.dumps(told).encode()
        try:
            handler.send_response(status)
            handler.send_header("Content-Type", "application/json")
            if status >= 429:
                handler.send_header("Retry-After-Ms", "1")
            handler.send_header("Content-Length", str(len(data)))
            handler.end_headers()
            handler.wfile.write(data)
        except OSError:
            pass  # who asked has gone

    def close(self):
        self.http.shutdown()
        self.http.server_close()


@pytest.fixture
def server():
    one = Server()
    yield one
    one.close()


def settings(server, **more):
    return Extract(**({"endpoint": server.url, "model": "m", "timeout_seconds": 5, "retries": 2} | more))


def run(server, questions, **more):
    told, asked = settings(server, **more), Asked()
    replies = dict(ask_all(questions, asker(told), told, asked))
    return replies, asked


MANY = [(f"q{n}", f"question {n}") for n in range(8)]


def test_a_question_is_sent_with_prompt_schema_and_no_chance(server):
    replies, asked = run(server, [("a", "what did ana say")])
    (sent,) = server.requests
    assert sent["model"] == "m"
    assert sent["temperature"] == 0
    assert sent["messages"][1] == {"role": "user", "content": "what did ana say"}
    assert sent["response_format"]["type"] == "json_schema"
    assert replies["a"].text == ANSWER
    assert (asked.sent, asked.answered, asked.tokens, asked.stopped) == (1, 1, 100, "")


def test_a_busy_server_is_asked_again(server):
    server.script = [(429, "slow down"), (500, "oops"), (200, ANSWER)]
    replies, asked = run(server, [("a", "x")])
    assert replies["a"].text == ANSWER
    assert len(server.requests) == 3
    assert asked.failed == 0


def test_a_server_that_stays_busy_costs_one_question_and_not_the_night(server):
    server.script = [(429, "slow down")] * 3 + [(200, ANSWER)]
    replies, asked = run(server, [("a", "x"), ("b", "y")], concurrency=1)
    assert set(replies) == {"b"}
    assert (asked.failed, asked.answered, asked.stopped) == (1, 1, "")


def test_three_failures_in_a_row_end_the_asking_and_the_rest_is_left(server):
    server.script = [(500, "down")]
    replies, asked = run(server, MANY, concurrency=1, retries=0)
    assert replies == {}
    assert (asked.sent, asked.failed, asked.left) == (3, 3, 5)
    assert "down" in asked.stopped


def test_an_answer_in_between_starts_the_count_again(server):
    server.script = [(500, "down"), (500, "down"), (200, ANSWER), (500, "down"), (500, "down"), (200, ANSWER)]
    _, asked = run(server, MANY, concurrency=1, retries=0)
    assert (asked.failed, asked.answered, asked.left) == (4, 4, 0)


def test_a_server_that_hangs_is_left(server):
    server.script = [(200, ANSWER, 5), (200, ANSWER)]
    began = time.monotonic()
    replies, asked = run(server, [("a", "x"), ("b", "y")], timeout_seconds=0.3, retries=0, concurrency=1)
    assert time.monotonic() - began < 4
    assert set(replies) == {"b"}
    assert asked.failed == 1


def test_a_wrong_key_is_asked_for_once(server):
    server.script = [(401, "no such key")]
    _, asked = run(server, MANY, concurrency=1)
    assert len(server.requests) == 1
    assert "no such key" in asked.stopped
    assert asked.left == 7


def test_a_server_without_schemas_is_asked_for_plain_json_from_then_on(server):
    server.script = [(400, "response_format json_schema is not supported"), (200, ANSWER)]
    replies, _ = run(server, [("a", "x"), ("b", "y")], concurrency=1)
    assert set(replies) == {"a", "b"}
    assert [r.get("response_format", {}).get("type") for r in server.requests] == [
        "json_schema", "json_object", "json_object",
    ]  # fmt: skip


def test_another_bad_request_is_no_reason_to_ask_differently(server):
    server.script = [(400, "the question is too long"), (200, ANSWER)]
    replies, asked = run(server, [("a", "x"), ("b", "y")], concurrency=1)
    assert set(replies) == {"b"}
    assert asked.failed == 1


def test_the_night_has_a_budget_of_calls(server):
    replies, asked = run(server, MANY, calls=3)
    assert len(server.requests) == 3
    assert set(replies) == {"q0", "q1", "q2"}
    assert (asked.left, asked.stopped) == (5, "3 questions a night")


def test_the_night_has_a_budget_of_tokens(server):
    _, asked = run(server, MANY, tokens=250, concurrency=1)
    assert asked.sent == 3
    assert asked.left == 5
    assert "250 tokens" in asked.stopped


def test_so_many_at_a_time_and_no_more(server):
    server.script = [(200, ANSWER, 0.15)]
    replies, _ = run(server, MANY, concurrency=3)
    assert len(replies) == 8
    assert server.most == 3


def test_progress_is_told_after_each(server):
    told, asked, seen = settings(server, concurrency=1), Asked(), []
    list(ask_all(MANY[:3], asker(told), told, asked, lambda now: seen.append(now.answered)))
    assert seen == [1, 2, 3]


def test_the_key_comes_from_a_variable_and_is_in_no_error(server, monkeypatch):
    monkeypatch.setenv("TEAM_MODEL_KEY", "a-key-of-the-team")
    run(server, [("a", "x")], key_variable="TEAM_MODEL_KEY")
    assert server.headers[0]["authorization"] == "Bearer a-key-of-the-team"
    server.script = [(401, "bad key")]
    _, asked = run(server, [("a", "x")], key_variable="TEAM_MODEL_KEY")
    assert "a-key-of-the-team" not in asked.stopped
    monkeypatch.delenv("TEAM_MODEL_KEY")
    with pytest.raises(SettingsError, match="TEAM_MODEL_KEY"):
        Endpoint(settings(server, key_variable="TEAM_MODEL_KEY"))


def test_settings_that_name_no_model_are_said_so():
    with pytest.raises(SettingsError, match="no model"):
        asker(Extract(endpoint="http://localhost:1/v1"))
    with pytest.raises(SettingsError, match="both"):
        asker(Extract(endpoint="http://localhost:1/v1", command=("x",), model="m"))
    assert asker(Extract()) is None


@pytest.fixture
def program(tmp_path):
    def write(text):
        path = tmp_path / "program"
        path.write_text(f"#!{sys.executable}\nimport json, sys, time\n{text}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    return write


def test_a_local_program_answers_on_stdout(program):
    path = program("told = json.load(sys.stdin)\nprint(json.dumps({'items': [], 'was': told['question']}))")
    reply = Command(Extract(command=(str(path),), timeout_seconds=10)).ask("what did 安娜 say")
    assert json.loads(reply.text) == {"items": [], "was": "what did 安娜 say"}
    assert reply.tokens > 0


def test_a_program_that_fails_says_why(program):
    path = program("sys.stderr.write('out of memory')\nsys.exit(3)")
    with pytest.raises(NoAnswerError, match="ended with 3: out of memory") as failed:
        Command(Extract(command=(str(path),))).ask("x")
    assert failed.value.final is False


def test_a_program_that_hangs_is_killed_with_its_children(program, tmp_path):
    note = tmp_path / "note"
    child = f"import time; time.sleep(1.5); open({str(note)!r}, 'w').write('alive')"
    path = program(f"import subprocess\nsubprocess.Popen([sys.executable, '-c', {child!r}])\ntime.sleep(30)")
    began = time.monotonic()
    with pytest.raises(NoAnswerError, match="in time"):
        Command(Extract(command=(str(path),), timeout_seconds=0.5)).ask("x")
    assert time.monotonic() - began < 5
    time.sleep(1.6)
    assert not note.exists()


def test_a_program_that_is_not_there_ends_the_asking():
    told, asked = Extract(command=("/no/such/program",), concurrency=1), Asked()
    assert dict(ask_all(MANY, asker(told), told, asked)) == {}
    assert (asked.sent, asked.left) == (1, 7)
    assert "/no/such/program" in asked.stopped
