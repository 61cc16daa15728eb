"""Ask a model, within a budget, several questions at a time: an OpenAI-compatible endpoint or a local program.

Nothing a model does fails a night. An answer that is no JSON is kept as what it is, so that it is not asked for again;
a question without an answer waits for the next night, and three of those in a row end tonight's asking.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, Protocol

import msgspec

from lorelake.errors import SettingsError
from lorelake.evidence.model_input import PROMPT, SCHEMA
from lorelake.settings import Extract

FAILURES_IN_A_ROW = 3
_CHARS_A_TOKEN = 4
_LARGEST_ANSWER = 1_000_000
_REFUSED = (401, 403, 404)
"""Wrong key, no right, no such model: the next question would get the same."""


class Reply(msgspec.Struct, frozen=True):
    """A model's text, and the tokens it says it used; estimated where it does not say."""

    text: str
    tokens: int


class NoAnswerError(Exception):
    """There is no answer to a question; `final` if there will be none to the next one either."""

    def __init__(self, reason: str, final: bool = False) -> None:
        super().__init__(reason)
        self.final = final


class Asker(Protocol):
    """Something that answers questions, from several threads at once."""

    def ask(self, question: str) -> Reply:
        """The answer. Raises NoAnswerError."""


class Asked(msgspec.Struct):
    """How a night's asking went: questions sent, answered, failed, left for later, and tokens used.

    Of the answers `unusable` were not the JSON asked for; in the others `missing` items quoted what nobody said.
    """

    sent: int = 0
    answered: int = 0
    failed: int = 0
    left: int = 0
    tokens: int = 0
    unusable: int = 0
    missing: int = 0
    stopped: str = ""
    """Why it ended early, or never began; "" where it did neither."""
    last_failure: str = ""
    """What was said of the latest question without an answer."""


def asker(settings: Extract) -> Asker | None:
    """What the settings name; None where the model is off.

    Raises:
        SettingsError: an endpoint without a model, both an endpoint and a command, no such variable, or no client.
    """
    if settings.endpoint and settings.command:
        raise SettingsError("both an endpoint and a command", where="extract", remedy="keep one of the two")
    if settings.command:
        return Command(settings)
    return Endpoint(settings) if settings.endpoint else None


class Endpoint:
    """An OpenAI-compatible server. Its client retries with back-off, and waits as long as a busy server asks it to."""

    def __init__(self, settings: Extract) -> None:
        if not settings.model:
            raise SettingsError("no model is named", where="extract.model", remedy="name one that the endpoint serves")
        key = os.environ.get(settings.key_variable or "")
        if settings.key_variable and not key:
            raise SettingsError(
                f"the variable {settings.key_variable} is not set",
                where="extract.key_variable",
                remedy="export the key",
            )
        try:
            import openai
        except ImportError:
            raise SettingsError(
                "the client of OpenAI-compatible endpoints is not installed",
                where="extract.endpoint",
                remedy="install lorelake with the extra `model`",
            ) from None
        self._openai = openai
        self._url = settings.endpoint
        self._model = settings.model
        self._client = openai.OpenAI(
            base_url=settings.endpoint,
            api_key=key or "none",
            timeout=settings.timeout_seconds,
            max_retries=settings.retries,
        )
        self._formats: deque[dict[str, Any]] = deque((
            {"type": "json_schema", "json_schema": {"name": "items", "strict": True, "schema": SCHEMA}},
            {"type": "json_object"},
            {},
        ))  # fmt: skip

    def ask(self, question: str) -> Reply:
        """See `Asker`. An endpoint that cannot hold an answer to a schema is asked without one from then on."""
        while True:
            form = self._formats[0]
            try:
                return self._complete(question, form)
            except self._openai.BadRequestError as error:
                if len(self._formats) == 1 or "response_format" not in str(error):
                    raise NoAnswerError(_brief(error)) from None
                if self._formats[0] is form:
                    self._formats.popleft()
            except self._openai.APIStatusError as error:
                raise NoAnswerError(_brief(error), final=error.status_code in _REFUSED) from None
            except self._openai.APITimeoutError:
                raise NoAnswerError("no answer in time") from None
            except self._openai.APIConnectionError:
                raise NoAnswerError(f"{self._url} cannot be reached") from None
            except self._openai.APIError as error:
                raise NoAnswerError(_brief(error)) from None

    def _complete(self, question: str, form: dict[str, Any]) -> Reply:
        more: dict[str, Any] = {"response_format": form} if form else {}
        done = self._client.chat.completions.create(
            model=self._model,
            messages=[{"role": "system", "content": PROMPT}, {"role": "user", "content": question}],
            temperature=0,
            seed=0,
            **more,
        )
        text = (done.choices[0].message.content or "") if done.choices else ""
        return _reply(question, text, done.usage.total_tokens if done.usage else None)


class Command:
    """A local program, run once a question: `{"instructions", "question", "schema"}` on stdin, its answer on stdout."""

    def __init__(self, settings: Extract) -> None:
        self._words = list(settings.command)
        self._timeout = settings.timeout_seconds

    def ask(self, question: str) -> Reply:
        """See `Asker`. What outlives its time is killed, with what it started."""
        told = json.dumps({"instructions": PROMPT, "question": question, "schema": SCHEMA})
        try:
            program = subprocess.Popen(
                self._words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,
            )
        except OSError as error:
            raise NoAnswerError(f"`{self._words[0]}` cannot be run: {error.strerror}", final=True) from None
        try:
            text, said = program.communicate(told, timeout=self._timeout)
        except subprocess.TimeoutExpired:
            os.killpg(program.pid, signal.SIGKILL)
            program.communicate()
            raise NoAnswerError("no answer in time") from None
        if program.returncode:
            told = " ".join(said.split())[-200:]
            why = f": {told}" if told else ""
            raise NoAnswerError(f"`{self._words[0]}` ended with {program.returncode}{why}")
        return _reply(question, text, None)


def _reply(question: str, text: str, tokens: int | None) -> Reply:
    if len(text) > _LARGEST_ANSWER:
        raise NoAnswerError(f"an answer of {len(text)} characters")
    return Reply(text, tokens if tokens is not None else (len(PROMPT) + len(question) + len(text)) // _CHARS_A_TOKEN)


def _brief(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


def ask_all(
    questions: Iterable[tuple[str, str]],
    asker: Asker,
    settings: Extract,
    asked: Asked,
    progress: Callable[[Asked], None] = lambda asked: None,
) -> Iterator[tuple[str, Reply]]:
    """(name, reply) as they come; what has no answer is counted in `asked`, and so is what the budget leaves.

    Args:
        questions: (name, text), the most wanted first.
        asked: filled while it goes on.
        progress: called after each answer or failure.
    """
    waiting = deque(questions)
    going: dict[Future[Reply], str] = {}
    in_a_row = 0
    with ThreadPoolExecutor(settings.concurrency, thread_name_prefix="model") as pool:
        while waiting or going:
            while waiting and len(going) < settings.concurrency and not asked.stopped:
                asked.stopped = _budget(asked, settings)
                if not asked.stopped:
                    name, text = waiting.popleft()
                    going[pool.submit(asker.ask, text)] = name
                    asked.sent += 1
            if not going:
                break
            done, _ = wait(going, return_when=FIRST_COMPLETED)
            for future in done:
                name = going.pop(future)
                try:
                    reply = future.result()
                except NoAnswerError as error:
                    asked.failed += 1
                    asked.last_failure = str(error)
                    in_a_row += 1
                    if error.final or in_a_row >= FAILURES_IN_A_ROW:
                        asked.stopped = asked.stopped or str(error)
                else:
                    in_a_row = 0
                    asked.answered += 1
                    asked.tokens += reply.tokens
                    yield name, reply
                progress(asked)
    asked.left = len(waiting)


def _budget(asked: Asked, settings: Extract) -> str:
    if asked.sent >= settings.calls:
        return f"{settings.calls} questions a night"
    return f"{settings.tokens} tokens a night" if asked.tokens >= settings.tokens else ""
