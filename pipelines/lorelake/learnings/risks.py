"""Why a person must look at an item before it acts, by word lists.

A word alone names no risk: "token" may be a page token, "overwritten" a generated file. Each pattern asks for what
makes it dangerous beside it. Space in the patterns is not significant (verbose mode); a space that counts is `[ ]`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from itertools import chain
from typing import Any

_PATTERNS = {
    "security": r"""
        \b(?:security|vulnerab\w+|auth(?:entication|orization|n|z)?|permissions?|tls|ssl|certificates?|encrypt\w*
        |xss|csrf|(?:sql|command|code|prompt|shell)[ ]injection|sanitiz\w+|cve-\d+|firewall|sudo|chmod|setuid|cors
        |(?:disabl\w+|bypass\w*|escap\w+|without)[ ](?:the[ ]|a[ ])?sandbox
        |path[ ]traversal)\b
        |安全|权限|加密
    """,
    "data_loss": r"""
        \brm[ ]-\w*[rf]|(?<!\S)--?force\b|\bforce.?(?:push\w*|unlock\w*)|\bpush[ ]-f\b|\breset[ ]--hard|\bgit[ ]clean\b
        |\bdrop(?:s|ping|ped)?[ ](?:the[ ]|a[ ]|every[ ]|all[ ])?(?:\w+[ ])?(?:tables?|databases?|columns?|schemas?)\b
        |\btruncat\w+[ ](?:the[ ]|a[ ])?(?:\w+[ ])?(?:tables?|database)\b|\btruncate[ ]table\b
        |\b(?:delet\w+|remov\w+|eras\w+|overwrit\w+|los(?:e|es|ing))[ ](?:\w+[ ]){0,3}
            (?:data|rows?|records?|tables?|databases?|backups?|buckets?|volumes?|branch(?:es)?|untracked[ ]files)\b
        |\bdelete[ ]from\b|\b(?:wip(?:e|es|ing)|purg(?:e|es|ing)|destroy\w*)\b
        |\b(?:alembic|database|schema|migrations?)[ ](?:\w+[ ])?downgrad\w+|\brestor\w+[ ]from\b
        |删库|清空|删除.{0,4}数据
    """,
    "deploy": r"""
        \b(?:deploy\w*|roll(?:out|s[ ]out|[ ]out)|roll\w*[ ]?back[ ](?:the[ ]|a[ ]|to[ ])?(?:release|version|prod)\w*
        |releas\w+[ ]to|(?:in|to|on|against)[ ]prod(?:uction)?
        |prod(?:uction)?[ ](?:database|cluster|environment|host|server)s?|terraform|kubectl|helm|ansible
        |publish\w*[ ]to|hotfix|cutover)\b
        |部署|上线|生产环境
    """,
    "credentials": r"""
        \b(?:credentials?|secrets?|passwords?|passphrases?|api[ -]?keys?
        |(?:access|api|auth\w*|bearer|refresh|session|login|oauth|jwt|deploy|personal|registry|ci|csrf)[ -]tokens?
        |(?:private|ssh|gpg|signing|deploy)[ ]keys?|keychain)\b
        |--token\b|(?<!\w)\.env\b|\[redacted:(?!email|phone)|密码|密钥|令牌
    """,
    "instructions_to_machine": r"""
        \b(?:ignore[ ](?:all|any|previous)|you[ ]are[ ]an?|system[ ]prompt|as[ ]an[ ]ai|assistant[ ]must|agents?[ ]must
        |do[ ]not[ ]ask|without[ ]asking
        |skip[ ](?:the[ ])?(?:review|tests?|checks?|confirmation)|auto.?approve)\b
        |--no-verify|\bcurl[ ][^|]*\|[ ]*(?:ba)?sh\b
    """,
}
_OF_THE_ACT = frozenset(("data_loss", "deploy"))
"""Risks of what is to be done. Named as the reason only ("all workers start at once after a deploy") they are none."""

RISKS: dict[str, re.Pattern[str]] = {name: re.compile(text, re.I | re.X) for name, text in _PATTERNS.items()}
"""Risk to its words; `wider_than_project` is no matter of words and stands beside them in `risks_of`."""

_CUES = {
    "security": re.compile(
        r"secur|vulnerab|auth|permission|tls|ssl|certificate|encrypt|xss|csrf|injection|sanitiz|cve-|firewall|sudo|chmod"
        r"|setuid|cors|sandbox|traversal"
    ),
    "data_loss": re.compile(
        r"rm$|force|push|--hard|git$|drop|truncat|delet|remov|eras|overwrit|los(?:e|es|ing)$|wip(?:e|es|ing)|purg|destroy"
        r"|downgrad|restor"
    ),
    "deploy": re.compile(r"deploy|roll|releas|prod|terraform|kubectl|helm|ansible|publish|hotfix|cutover"),
    "credentials": re.compile(r"credential|secret|password|passphrase|key|token|[.]env|\[redacted:"),
    "instructions_to_machine": re.compile(
        r"ignore$|you$|prompt|\bai\b|(?:assistant|agents?)$|ask|skip|approve|--no-verify|curl$"
    ),
}
"""Risk to what one word at least of each of its matches looks like, in small letters: few words of a language do.

A word is what stands between white space. Texts of other letters than ASCII are searched without these.
"""


class _Cues(dict[str, tuple[str, ...]]):
    """The risks that a word is a cue of. Remembered: the words of a lake are few, and a search of all is dear."""

    def __missing__(self, word: str) -> tuple[str, ...]:
        if len(self) >= 1 << 16:
            self.clear()
        low = word.lower()
        self[word] = tuple(name for name, cue in _CUES.items() if cue.search(low))
        return self[word]


_cues = _Cues()


def possible(text: str) -> Collection[str]:
    """The risks whose words may stand in a text; no other needs to be searched for."""
    return set(chain.from_iterable(map(_cues.__getitem__, text.split()))) if text.isascii() else RISKS


def risks_of(claim: Mapping[str, Any], signal: Mapping[str, Any]) -> list[str]:
    """The risks of a row of `tables.CLAIMS` drawn from a row of `tables.SIGNALS`, sorted."""
    act = "\n".join(filter(None, (claim["title"], claim["when"], claim["do"], *claim["applies_to"])))
    text = "\n".join(filter(None, (act, claim["because"], claim["rejected"])))
    found = [name for name in possible(text) if RISKS[name].search(act if name in _OF_THE_ACT else text)]
    if _wider_than_project(signal):
        found.append("wider_than_project")
    return sorted(found)


def _wider_than_project(signal: Mapping[str, Any]) -> bool:
    """Said at work on one project, but heard by the whole team. Chats and documents are the team's by nature."""
    of_a_project = str(signal["unit_id"]).partition(":")[0] not in ("slack", "documents")
    return of_a_project and signal["audience"] == "team" and signal["project"] not in ("", "unknown")
