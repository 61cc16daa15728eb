"""Why a person must look at an item before it acts, by word lists.

Wide on purpose: a false hit costs one look, a miss acts on the team. Space in the patterns is not significant
(verbose mode); a space that counts is written as `[ ]`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_PATTERNS = {
    "security": r"""
        \b(?:security|vulnerab\w+|auth(?:entication|orization|n|z)?|permissions?|sandbox|tls|ssl|certificates?
        |encrypt\w*
        |xss|csrf|injection|sanitiz\w+|cve-\d+|firewall|sudo|chmod|setuid|cors)\b
        |安全|权限|加密
    """,
    "data_loss": r"""
        \brm[ ]-\w*[rf]|--force\b
        |\b(?:drop[ ](?:table|database|column|schema)|truncate|deletes?[ ](?:all|the|from|every|old)|force.push
        |push[ ]-f|reset[ ]--hard
        |wipe|overwrit\w+|purge|destroy|backfill|migrat(?:e|ions?)|restore[ ]from|backups?)\b
        |删库|清空|备份
    """,
    "deploy": r"""
        \b(?:deploy\w*|rollout|roll[ ]?back|release[ ]to|production|prod|terraform|kubectl|helm|ansible
        |publish(?:ing)?[ ]to|hotfix|cutover)\b
        |部署|上线|生产
    """,
    "credentials": r"""
        \b(?:credentials?|secrets?|passwords?|api[ -]?keys?|(?:access[ ]|api[ ])?tokens?|(?:private|ssh)[ ]keys?|vault
        |keychain)\b
        |(?<!\w)\.env\b|\[redacted:|密码|密钥|令牌
    """,
    "instructions_to_machine": r"""
        \b(?:ignore[ ](?:all|any|previous)|you[ ]are[ ]an?|system[ ]prompt|as[ ]an[ ]ai|assistant[ ]must|agents?[ ]must
        |do[ ]not[ ]ask|without[ ]asking|(?:run|execute)[ ]the[ ]following
        |skip[ ](?:the[ ])?(?:review|tests?|checks?|confirmation)|auto.?approve)\b
        |--no-verify|\bcurl[ ][^|]*\|[ ]*(?:ba)?sh\b
    """,
}
RISKS: dict[str, re.Pattern[str]] = {name: re.compile(text, re.I | re.X) for name, text in _PATTERNS.items()}
"""Risk to its words; `wider_than_project` is no matter of words and stands beside them in `risks_of`."""


def risks_of(claim: Mapping[str, Any], signal: Mapping[str, Any]) -> list[str]:
    """The risks of a row of `tables.CLAIMS` drawn from a row of `tables.SIGNALS`, sorted."""
    fields = (claim["title"], claim["when"], claim["do"], claim["because"], claim["rejected"], *claim["applies_to"])
    text = "\n".join(str(value) for value in fields if value)
    found = [name for name, pattern in RISKS.items() if pattern.search(text)]
    if _wider_than_project(signal):
        found.append("wider_than_project")
    return sorted(found)


def _wider_than_project(signal: Mapping[str, Any]) -> bool:
    """Said at work on one project, but heard by the whole team. Chats and documents are the team's by nature."""
    of_a_project = str(signal["unit_id"]).partition(":")[0] not in ("slack", "documents")
    return of_a_project and signal["audience"] == "team" and signal["project"] not in ("", "unknown")
