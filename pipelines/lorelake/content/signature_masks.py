"""What differs from run to run and machine to machine is masked; what names the fault is kept.

A quoted word is most often data (a key looked up, a file read). Where the message says that something so named is
missing or unknown, the name is the fault: two missing modules are two errors. A port below the ephemeral range says
which service is meant, and a status which refusal.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from lorelake.content.normalise import REDACTED

_QUOTES = ((r"(?<![A-Za-z])'", "'"), ('"', '"'), ("`", "`"), ("‘", "’"), ("“", "”"))
_QUOTED = re.compile("|".join(rf"{a}[^{z}\n]{{0,200}}{z}" for a, z in _QUOTES))
_PLAIN_NAME = re.compile(r"(?=[^A-Za-z]{0,8}[A-Za-z])[\w@.+-][\w@./+:-]{0,59}\Z|--?[\w-]{1,40}\Z")
_SETTING_NAME = re.compile(r"[A-Z][A-Z0-9]{0,30}(?:_[A-Z0-9]{1,30}){1,8}\Z")
_NAMES_THE_FAULT = re.compile(
    r"no module named|(?:cannot|can't|could not|couldn't|unable to) (?:find|resolve|import|load|locate)"
    r"|no such (?:option|command|service|table|column|task|target|image)|unknown|unrecogni[sz]ed|undefined|undeclared"
    r"|not defined|unresolved|unexpected (?:argument|option|flag)|invalid (?:option|argument|choice|command)"
    r"|has no (?:attribute|member|exported member|field)|does not exist|doesn't exist|not found|not installed"
    r"|is not recogni[sz]ed|missing|required|requires|no rule to make|is not checked|unused|never (?:used|read)"
    r"|not a function",
    re.I,
)
_EPHEMERAL = 32768
_STATUS = r"(?:HTTP(?:/\d(?:\.\d)?)?|[Ss]tatus(?: code)?|returned error|response code)(?: ?[:=] ?| )[1-5]\d\d\b"
_CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d+)?"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
_TIME = (
    rf"\b\d{{4}}[-/]\d\d[-/]\d\d(?:[T ]{_CLOCK}(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?)?|\b{_CLOCK}"
    rf"|\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? )?(?:{_MONTH} +\d{{1,2}}|\d{{1,2}}[ -]{_MONTH})"
    r"(?:[ ,-]+\d{4})?\b"
)
_DURATION = (
    r"(?<![A-Za-z_\d.])(?:\d+(?:\.\d+)? ?(?:ns|[µu]s|ms|seconds?|secs?|minutes?|mins?|hours?|[smh])"
    r"(?![A-Za-z_\d]) ?){1,4}"
)
_RUN_TOGETHER = r"(?<![A-Za-z_\d.])(?:\d+(?:\.\d+)?(?:h|ms?|s)){2,4}(?![A-Za-z_\d])"
_SIZE = r"(?<![A-Za-z_\d.])\d+(?:\.\d+)? ?(?:[KMGT]i?B|[kKMGT]b|bytes?)\b"
_ROOT = r"(?:(?<=[\s(=:,\[<>|])|^)"
_TEMP = (
    rf"{_ROOT}(?:(?:/private)?/(?:tmp|var/tmp|var/folders|dev/shm)/[^\s:()<>,]*"
    r"|[A-Za-z]:\\(?:[^\s\\:()<>,]+\\){1,8}Temp\\[^\s:()<>,]*)"
)
_FOLDERS = rf"{_ROOT}(?:file://)?(?:[A-Za-z]:\\|~/|\.{{0,2}}/)(?:[^\s/\\:()<>,]+[/\\])+"
_ADDRESS = r"(?:\b(?:\d{1,3}\.){3}\d{1,3}|\blocalhost|\[::1?\]|(?<![\w:])::1(?=:)|(?<![\w:\]]):{1,3}(?=\d{4,5}(?!\d)))"
_PORT = re.compile(rf"{_ADDRESS}(?::|,? port )?(\d{{2,5}})(?!\d)|{_ADDRESS}")
_URL = re.compile(r"\b(https?://[^\s/:?#'\")]+(?::\d+)?)[^\s'\")>,]*")
_RANDOM = r"\b(?=[\w-]{0,200}[A-Z])(?=[\w-]{0,200}[a-z])(?=(?:[^\W\d]{0,50}\d){3})[\w-]{24,200}\b"
_LONGEST = 300
_LONGEST_READ = 2000


def _port(found: re.Match[str]) -> str:
    port = found[1]
    if port is None:
        return "<address>"
    return f"<address>:{port}" if int(port) < _EPHEMERAL else "<address>:<n>"


_NUMBER = re.compile(
    rf"(?P<kept>{_STATUS}|<address>:\d{{2,5}}(?!\d))|(?<![A-Za-z_\d])v?\d+(?:\.\d+)*(?:[-+](?:alpha|beta|rc|next|dev)[.\d]*)?"
)
_SUBSTITUTES: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE), "<uuid>"),
    (re.compile(_TIME), "<time>"),
    (_URL, r"\1/<path>"),
    (re.compile(_TEMP), "<temp>"),
    (re.compile(_FOLDERS), "<path>/"),
    (_PORT, _port),
    (re.compile(r"\b0x[0-9a-f]+\b|\b(?=[0-9]*[a-f])(?=[a-f]*\d)[0-9a-f]{7,64}\b", re.IGNORECASE), "<hex>"),
    (re.compile(_RANDOM), "<id>"),
    (re.compile(rf"{_RUN_TOGETHER}|{_DURATION}(?<! )"), "<duration>"),
    (re.compile(_SIZE), "<size>"),
    (_NUMBER, lambda found: found["kept"] or "<n>"),
    (re.compile(r"\s+"), " "),
)  # fmt: skip


def mask(message: str) -> str:
    """The message without what differs from run to run, on one line, at most 300 characters.

    Data in quotes, UUIDs, times and durations, sizes, the folders of a path, temporary files, the paths of addresses,
    hex and numbers become `<quoted>` and so on. Kept are a quoted name where the message says that it is missing or
    unknown, a setting's name, the status of a refused request, and the port of a service.
    """
    message = re.sub(REDACTED, "<redacted>", message[:_LONGEST_READ])
    named = bool(_NAMES_THE_FAULT.search(message))
    message = _QUOTED.sub(lambda quote: _quoted(quote[0], named), message)
    for pattern, substitute in _SUBSTITUTES:
        message = pattern.sub(substitute, message)
    return message.strip()[:_LONGEST]


def _quoted(quote: str, named: bool) -> str:
    inner = quote[1:-1]
    return quote if _SETTING_NAME.match(inner) or (named and _PLAIN_NAME.match(inner)) else "<quoted>"
