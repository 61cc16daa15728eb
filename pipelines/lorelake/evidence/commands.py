"""What kind of thing a shell command is: whether it only looks, mends, or checks, and whether its end is hidden.

A judgement of the words of one command; what became of it is in `runs`.
"""

from __future__ import annotations

import re
from functools import lru_cache

_LONGEST = 4000
_IN_QUOTES = r"\"(?:[^\"\\]|\\.)*\"|'[^']*'"
_QUOTED = re.compile(_IN_QUOTES)
_LEADING_CD = re.compile(r"^\s*(?:cd\s+(?:\"[^\"]*\"|'[^']*'|\S+)\s*(?:&&|;)\s*)+")
_LEADING = re.compile(
    r"^\s*(?:\(\s*|(?:[A-Za-z_]\w*=\S*|sudo|time|nice|env(?= \w+=)|timeout\s+(?:-\S+\s+)*[\d.]+[smh]?)\s+)*"
)
_FILTERS = r"(?:tail|head|tee|grep|egrep|rg|cat|sed|awk|less|sort|uniq|wc|cut|tr|jq|column|nl)"
_PLAIN = rf"(?:[^|;&\"']|{_IN_QUOTES}|(?<=>)&)*"
_TRAILING = re.compile(
    rf"\s*(?:[12]?>&[12]|&>\s*/dev/null|\|&?\s*{_FILTERS}\b{_PLAIN}|\|\|\s*(?:true|:|echo\b{_PLAIN})"
    rf"|;\s*(?:true|echo\b{_PLAIN}))\s*$"
)
_STATEMENTS = re.compile(r"&&|\|\||;|\n")
_LOOKS = re.compile(
    r"(?:lorelake|cd|pushd|popd|ls|cat|head|tail|grep|egrep|rg|ag|find|fd|wc|pwd|echo|printf|which|type|stat|file|tree"
    r"|diff|cmp|sed(?! -i)|awk|jq|yq|ps|pgrep|env|printenv|sleep|wait|date|whoami|hostname|uname|id|du|df|lsof|less"
    r"|more|bat|nl|strings|man|history|true|false|test|\[|command -v|sort|uniq|journalctl|cut|xxd|md5sum|sha\d*sum"
    r"|git (?:-C \S+ )?(?:status|log|diff|show|branch|blame|grep|reflog|ls-\w+|rev-\w+|remote|describe|cat-file"
    r"|config --get|stash list|tag(?= -l|$)|merge-base|shortlog|worktree list)"
    r"|gh (?:pr|run|issue|repo|release|workflow) (?:view|list|diff|checks|status|watch)|gh (?:api|search|auth status)"
    r"|glab (?:mr|ci|issue) (?:view|list|diff|trace|status)|kubectl (?:get|describe|logs|top|explain)"
    r"|docker (?:compose )?(?:logs|ps|inspect|images|top|stats)|npm (?:view|ls|list|outdated|info|search|why)"
    r"|pip3? (?:list|show|freeze|index)|go (?:list|env|doc|version)|cargo (?:tree|metadata|search)"
    r"|brew (?:list|info|search)"
    r"|\S+ (?:--?version|--?help|-[Vh]))(?=\s|$)"
)
_MENDS = re.compile(
    r"(?!git (?:add|commit|push|fetch|tag)\b)(?:"
    r"(?:\S+\s+){1,4}?(?:install|add|sync|update|upgrade|remove|uninstall|tidy|generate|gen|format|fmt|fix|migrate|restart"
    r"|start|up|build|enable|trust|init|login|prune|restore|checkout|switch|reset|stash|pull|merge|rebase|clean)\b"
    r"|(?:mv|cp|rm|mkdir|ln|chmod|chown|touch|patch|kill|pkill|export|gofmt|corepack|createdb|dropdb)\b|sed\s+-i"
    r"|\S+\s[^|;&]*--(?:fix|write|force-recreate)\b)"
)
_WRITES = re.compile(r"\s*(?:echo|printf|cat)\b[^|;&\n]{0,400}?>{1,2}\s*(?!/dev/|/tmp/|&)[\w.~/\"'$]")
_CHECKS = re.compile(
    r"\b(?:tests?|pytest|jest|vitest|mocha|rspec|phpunit|lint|check|checks|build|compile|typecheck|verify|validate|tsc"
    r"|mypy|pyright|ruff|eslint|biome|clippy|vet|golangci-lint|make|just|cargo|gradlew?|mvn|dotnet|tox|nox|xcodebuild"
    r"|cmake|ninja|ctest|terraform|install|ci|sync|migrate|deploy|apply|up|start|run)\b",
    re.I,
)
_HIDES = re.compile(
    r"(?<!\|)\|(?!\|)|\|\|\s*(?:true|echo|exit 0)\b|\|\|\s*:"
    r"|[;\n][ \t]*(?:echo|printf|true|cat|tail|head|ls|wait|date|exit 0)\b|(?<![&>])&\s*(?:$|\n)"
)


def same_command(command: str) -> str:
    """The command as compared with later runs: without leading `cd`, and without what only cuts output."""
    command = _LEADING_CD.sub("", " ".join(command[:_LONGEST].split()))
    while True:
        shorter = _TRAILING.sub("", command)
        if shorter == command:
            return command
        command = shorter


def directory(command: str) -> str:
    """The folder that a leading `cd` goes to, "" where there is none."""
    leading = _LEADING_CD.match(command)
    return re.findall(r"cd\s+(\"[^\"]*\"|'[^']*'|\S+)", leading[0])[-1].strip("\"'") if leading else ""


@lru_cache(maxsize=4096)
def looks_only(command: str) -> bool:
    """Whether it reads and does nothing else, as memory's own commands do: it neither fails a build nor mends one."""
    return all(_LOOKS.match(one) for one in _statements(command))


@lru_cache(maxsize=4096)
def mends(command: str) -> bool:
    """Whether it changes something a later run may depend on; other commands between two runs only looked or tried."""
    if _WRITES.match(command):
        return True
    return any(_MENDS.match(one) and not _LOOKS.match(one) for one in _statements(command))


def checks(command: str) -> bool:
    """Whether it is a test, a build, a lint or the like, whose output may be believed where its exit code is hidden."""
    return any(_CHECKS.search(one) for one in _statements(command) if not _LOOKS.match(one))


def hides_end(command: str) -> bool:
    """Whether its exit code is not the check's own: a pipe, `|| true`, something run after it, or the background."""
    return "pipefail" not in command and bool(_HIDES.search(_QUOTED.sub("''", command[:_LONGEST])))


def _statements(command: str) -> list[str]:
    """The first command of each pipeline, quoted words blanked, without settings and wrappers before it."""
    plain = _QUOTED.sub("''", command[:_LONGEST])
    found = (_LEADING.sub("", part.split("|")[0]).strip() for part in _STATEMENTS.split(plain))
    return [part for part in found if part]
