"""Whether a text under a person's name was written by a program: pasted review findings, summaries, generated notes.

Programs sign what they write: with a line of their own, a badge, a hidden mark, or headings that no person types.
"""

from __future__ import annotations

import re

_TOOLS = (
    r"(?:claude(?: code)?|copilot|cursor|bugbot|coderabbit|codex|chatgpt|gpt-?\d\w*|gemini(?: code assist)?|devin|aider"
    r"|greptile|ellipsis|qodo|codium(?:ai)?|sourcery|graphite|sweep|jules|amazon q|ai(?: assistant)?)"
)
_SIGNED = re.compile(
    rf"""
      (?:generated|written|created|produced|summari[sz]ed|drafted|reviewed)[ ](?:automatically[ ])?(?:with|by|using)
      [ ][\[*_`]{{0,3}}{_TOOLS}(?![a-z0-9])
    | ^co-authored-by:[ ].{{0,60}}(?:\[bot\]|noreply@(?:anthropic|openai))
    | (?:由|使用)[ ]?{_TOOLS}[ ]?(?:自动)?(?:生成|撰写|总结)
    | 🤖
    """,
    re.I | re.M | re.X,
)
_FINDING = re.compile(
    r"""
      ^[#*_`\s|>]{0,8}(?:low|medium|high|critical)[ ]severity[*_`]{0,3}\s*$
    | ^[#*_`\s]{0,6}severity[*_`]{0,3}\s*:[*_`\s]{0,4}(?:low|medium|high|critical)\b
    | !\[(?:low|medium|high|critical|security[\w-]{0,20}|p[0-3][ ]badge)\]\(
    | <!--\s{0,4}(?:BUGBOT|DESCRIPTION[ ]START|LOCATIONS[ ]START|CURSOR_|copilot|suggestion_start|fingerprint)
    | ^[#*_`\s]{0,6}(?:pull[ ]request[ ]overview|walkthrough|actionable[ ]comments[ ]posted|reviewed[ ]changes)\b
    | ^[_*\s]{0,4}(?:⚠️|🛠️|🧹|💡|🔒)[ ]?(?:potential[ ]issue|refactor[ ]suggestion|nitpick|verification|security)
    | \bbugbot[ ](?:autofix|has[ ]reviewed)\b
    | ^[^\w\n]{0,4}useful\?[ ]react[ ]with\b
    | <summary>[^<\n]{0,40}(?:prompt[ ]for[ ]ai|committable[ ]suggestion|additional[ ]locations|show[ ]a[ ]summary)
    """,
    re.I | re.M | re.X,
)


def is_machine_text(text: str) -> bool:
    """Whether a program signed the text, or it has the form in which programs report findings."""
    return bool(_SIGNED.search(text) or _FINDING.search(text))
