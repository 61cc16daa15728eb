"""Changes that a comment proposes word for word: fenced blocks named `suggestion`, at GitHub and GitLab alike."""

from __future__ import annotations

import re

_BLOCK = re.compile(
    r"^[ \t]*(`{3,}|~{3,})suggestion(?::-(\d+)\+(\d+))?[^\S\n]*\n(.*?)^[ \t]*\1[`~]*[^\S\n]*$", re.M | re.S
)


def suggested(text: str) -> list[str]:
    """The proposed lines of each block, in order; empty text where a block proposes to remove the lines.

    GitLab's `suggestion:-2+1` also says how many lines around the commented one are replaced; the words are the same.
    """
    return [block[4].removesuffix("\n") for block in _BLOCK.finditer(text.replace("\r\n", "\n"))]
