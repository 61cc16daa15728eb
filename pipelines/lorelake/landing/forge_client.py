"""One careful client for both forges: waits and retries, all pages of a list, and a token that never leaves it.

The libraries (PyGithub, python-gitlab) make the requests, one at a time and without retries of their own; a
`Transport` wraps each. What to do about an answer that did not come is decided here, once for both.
"""

from __future__ import annotations

import ipaddress
import re
import time
from collections.abc import Callable, Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Literal, NamedTuple, Protocol
from urllib.parse import SplitResult, parse_qs, urlsplit

from requests.utils import parse_header_links

from lorelake.errors import UsageError
from lorelake.formats.record import canonical

ATTEMPTS = 6
"""How often one request is made before it counts as failed."""
FIRST_WAIT, SECONDARY_WAIT = 1.0, 60.0
"""Seconds before a second attempt, doubled each time: after a fault, and after a rate limit that states none
(GitHub asks for a minute at least)."""
LONGEST_WAIT = 3900.0
"""Seconds: an hourly limit is waited for, a longer one is left to the next run."""
PAGE_SIZE = 100
"""The most either forge gives at once."""
TIMEOUT = 60
"""Seconds without a byte after which a connection counts as lost."""
_SHORTEST_TOKEN = 8
_MOST_WORDS = 300
_LIMIT_WORDS = re.compile(r"rate limit|abuse detection|too many requests|retry your request again later", re.I)

Kind = Literal["gone", "refused", "limited", "unreachable", "malformed"]


class Answer(NamedTuple):
    """What a forge answered: header names in lower case, and the decoded body."""

    headers: Mapping[str, str]
    data: Any


class AttemptError(Exception):
    """One attempt that brought nothing. `status` is None where no answer came at all."""

    def __init__(self, status: int | None, words: str, headers: Mapping[str, str] | None = None) -> None:
        self.status, self.words, self.headers = status, words, headers or {}
        super().__init__(words)


class MalformedError(AttemptError):
    """An answer that is not what was asked for, which may be one broken transfer."""


class RequestError(Exception):
    """A request that failed for good, told without the token.

    `kind`: gone (404, 410), refused (401, 403 and other 4xx), limited (a rate limit outlasted our patience),
    unreachable (no answer or 5xx, every time), malformed (an answer that makes no sense, every time).
    """

    def __init__(self, kind: Kind, told: str, status: int | None = None) -> None:
        self.kind, self.told, self.status = kind, told, status
        super().__init__(told)

    @property
    def stops(self) -> bool:
        """Whether asking on is useless: the token is refused, or the host wants to be left alone."""
        return self.kind == "limited" or self.status == 401


class Transport(Protocol):
    """A forge's library. Each call makes one request (and follows redirects on the same host)."""

    def get(self, path: str, parameters: Mapping[str, Any]) -> Answer:
        """GET below the API's root. Raises AttemptError."""


class Client:
    """A transport with patience.

    Args:
        transport: the library.
        token: what is struck out of everything that leaves here.
        sleep: waits some seconds.
        tell: is given a line about each wait worth telling.
        page_size: items a page.
    """

    def __init__(
        self,
        transport: Transport,
        token: str,
        sleep: Callable[[float], None] = time.sleep,
        tell: Callable[[str], None] = lambda line: None,
        page_size: int = PAGE_SIZE,
    ) -> None:
        self._transport, self._token, self._sleep, self._tell = transport, token, sleep, tell
        self._page_size = page_size
        self.requests = 0
        self.waited = 0.0
        self.shortages: list[str] = []
        """Lists that stayed shorter than the host says they are; whoever asks for lists empties it first."""

    def scrub(self, text: str) -> str:
        """The text without the token, should the host have echoed it."""
        return text.replace(self._token, "[token]")

    def get(self, path: str, shape: type[Any], parameters: Mapping[str, Any] | None = None) -> Answer:
        """One page or object. Raises RequestError."""
        return self.ask(f"GET {path}", shape, lambda: self._transport.get(path, parameters or {}))

    def ask(self, what: str, shape: type[Any], once: Callable[[], Answer]) -> Answer:
        """Make one request until it succeeds or is beyond hope.

        Args:
            what: the request in words, for errors.
            shape: `list` (of objects) or `dict`, which the body must be.
            once: makes it once; raises AttemptError.

        Raises:
            RequestError: with the last attempt's words.
        """
        for attempt in range(1, ATTEMPTS + 1):
            self.requests += 1
            try:
                answer = once()
                _check(answer, shape)
            except AttemptError as failure:
                wait = wait_after(failure, attempt)
                if wait is None or wait > LONGEST_WAIT or attempt == ATTEMPTS:
                    raise self._fault(what, failure, wait) from None
                self._pause(what, failure, wait)
            else:
                return answer
        raise AssertionError("the last attempt returns or raises")

    def pages(self, path: str, parameters: Mapping[str, Any]) -> Iterator[tuple[Answer, bool]]:
        """The pages of a list, each with whether there may be more; of a link only the query is used, never the host.

        A full page without a link to the next is not believed to be the last: proxies lose headers.

        Raises:
            RequestError: a page never came, or they lead in a circle.
        """
        asked: list[Mapping[str, Any]] = []
        following: dict[str, Any] | None = {"per_page": self._page_size, "page": 1, **parameters}
        while following is not None:
            if following in asked:  # PyGithub drops the query where a page is redirected
                raise RequestError("malformed", self.scrub(f"GET {path}: the pages lead in a circle"))
            asked.append(following)
            answer = self.get(path, list, following)
            linked = next_page(answer.headers)
            if linked is not None:
                following = {**following, **linked}
            elif len(answer.data) >= self._page_size:
                following = {**following, "page": int(following["page"]) + 1}
            else:
                following = None
            yield answer, following is not None

    def all(
        self,
        path: str,
        key: Callable[[dict[str, Any]], object],
        least: int = 0,
        parameters: Mapping[str, Any] | None = None,
    ) -> list[dict[str, Any]]:
        """Every item of a list, each once, in the host's order.

        A list that stays shorter than the host says is looked at twice (an item removed while we turn the page hides
        its neighbour), then noted in `shortages`.

        Args:
            key: what two pages' items are the same by; None stands for the whole content.
            least: how many the host says there are, if elsewhere than in `X-Total`.
        """
        found: dict[object, dict[str, Any]] = {}
        stated = least
        for _ in range(2):
            found = {}
            for answer, _ in self.pages(path, parameters or {}):
                found.update({key(item) or canonical(item): item for item in answer.data})
                stated = max(least, total(answer) or 0)
            if len(found) >= stated:
                return list(found.values())
        self.shortages.append(f"{path}: the host says {stated}, its list has {len(found)}")
        return list(found.values())

    def _pause(self, what: str, failure: AttemptError, wait: float) -> None:
        if wait >= SECONDARY_WAIT:
            self._tell(f"waiting {wait:.0f} s, as the host asks ({self.scrub(what)})")
        self.waited += wait
        self._sleep(wait)

    def _fault(self, what: str, failure: AttemptError, wait: float | None) -> RequestError:
        words = " ".join(failure.words.split())[:_MOST_WORDS]
        told = self.scrub(f"{what}: {words}")
        if wait is not None and wait > LONGEST_WAIT:
            told += f" (asks to wait {wait:.0f} s, longer than {LONGEST_WAIT:.0f} s)"
        elif wait is not None:
            told += f" (tried {ATTEMPTS} times)"
        return RequestError(_kind(failure), told, failure.status)


def _check(answer: Answer, shape: type[Any]) -> None:
    fits = isinstance(answer.data, shape)
    if fits and shape is list:
        fits = all(isinstance(item, dict) for item in answer.data)
    if not fits:
        wanted = "a list of objects" if shape is list else "an object"
        raise MalformedError(None, f"the answer is not {wanted} in JSON", answer.headers)


def _kind(failure: AttemptError) -> Kind:
    status = failure.status
    if isinstance(failure, MalformedError):
        return "malformed"
    if status in (404, 410):
        return "gone"
    if status is None or status >= 500 or status in (408, 425):
        return "unreachable"
    return "limited" if _limited(failure) else "refused"


def _limited(failure: AttemptError) -> bool:
    """GitHub says it with 403 as well, which else means that something may not be read."""
    if failure.status == 429:
        return True
    stated = "retry-after" in failure.headers or failure.headers.get("x-ratelimit-remaining") == "0"
    return failure.status == 403 and (stated or bool(_LIMIT_WORDS.search(failure.words)))


def wait_after(failure: AttemptError, attempt: int) -> float | None:
    """Seconds to wait before asking again; None where asking again is useless.

    What the host states goes first. A reset time is an instant of the host's clock and is measured against the
    `Date` of the same answer, so that a clock that is wrong here shortens or lengthens nothing.
    """
    passing = failure.status is None or failure.status >= 500 or failure.status in (408, 425)
    if not passing and not _limited(failure):
        return None
    stated = _retry_after(failure.headers)
    if stated is not None:
        return stated
    if not passing:
        reset = _number(failure.headers.get("x-ratelimit-reset") or failure.headers.get("ratelimit-reset"))
        if reset is not None and failure.headers.get("x-ratelimit-remaining", "0") == "0":
            return max(reset - _host_now(failure.headers), 0.0) + 1.0
        return SECONDARY_WAIT * 2.0 ** (attempt - 1)
    return FIRST_WAIT * 2.0 ** (attempt - 1)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    text = headers.get("retry-after", "").strip()
    number = _number(text)
    if number is not None:
        return float(number)
    moment = _moment(text)
    return None if moment is None else max(moment - _host_now(headers), 0.0)


def _host_now(headers: Mapping[str, str]) -> float:
    """Seconds since 1970 by the host's clock, by ours where it states none."""
    stated = _moment(headers.get("date", ""))
    return time.time() if stated is None else stated


def _moment(text: str) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp() if text else None
    except (ValueError, OverflowError):
        return None


def _number(text: str | None) -> int | None:
    return int(text) if text and re.fullmatch(r"\d{1,12}", text) else None


def next_page(headers: Mapping[str, str]) -> dict[str, str] | None:
    """The query of the `next` link; None on the last page."""
    for link in parse_header_links(headers.get("link", "")):
        if link.get("rel") == "next":
            return {name: values[-1] for name, values in parse_qs(urlsplit(link["url"]).query).items()}
    return None


def total(answer: Answer) -> int | None:
    """How many items the whole list has, where the host says."""
    return _number(answer.headers.get("x-total"))


def checked_url(url: str) -> SplitResult:
    """The address of a self-hosted forge, if a token may be sent there.

    Raises:
        UsageError: no http(s) address, one that holds a password, or http to another machine: the token would
            travel in the clear.
    """
    try:
        parts = urlsplit(url.rstrip("/"))
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address:
        raise UsageError("not an http(s) address", where="--url", remedy="write it as https://git.example.com")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise UsageError(
            "an address with a password or a query", where="--url", remedy="the token's variable is enough"
        )
    if parts.scheme == "http" and not _loopback(parts.hostname or ""):
        raise UsageError(
            "http would send the token in the clear", where="--url", remedy="use https; http is for this machine only"
        )
    return parts


def _loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def token_from(environment: Mapping[str, str], name: str) -> str:
    """The token in an environment variable.

    Raises:
        UsageError: not set, or nothing that a header could carry; never shows the value.
    """
    token = environment.get(name, "").strip()
    if not token:
        raise UsageError(f"{name} is not set", remedy=f"export {name} with a token that may read merge requests")
    if len(token) < _SHORTEST_TOKEN or not re.fullmatch(r"[A-Za-z0-9._~+/:-]+=*", token):
        raise UsageError(f"{name} holds no token", remedy="a token is one word of letters, digits and signs")
    return token
