"""Errors as compilers, linters and command line tools tell them, and how a command was called wrongly."""

from __future__ import annotations

import re

from lorelake.content.signature_parts import Parts, frame_in_project, lines

USAGE = "UsageError"
"""The type of an error in how a command was called: an option, argument or subcommand it does not take."""

NOT_FOUND = "CommandNotFound"
"""The type of a command that the shell does not find."""

FAILED = "CommandFailed"
"""The type of an error that its command gave no name."""

# Each pattern stands with words, one of which is in every text that it finds something in: looking for a word is a
# hundred times quicker than looking for a pattern.

_FILE = r"(?P<path>(?:[A-Za-z]:\\)?[^\s:()]+)"
_COMPILERS = (
    (
        "error ",
        lines(
            rf"^[ \t]*{_FILE}[(:]\d+[,:]\d+(?:,\d+,\d+)?\)? ?(?::| -) (?:fatal )?error "
            r"(?P<type>[A-Z]{1,6}\d{2,5}): "
            r"(?P<message>.+?)(?: \[[^\]\n]+proj\])?$"
        ),
    ),
    (
        "error:",
        lines(
            r"^(?P<path>[^\s:]+\.\w+):\d+(?::\d+)?: (?:fatal )?error: "
            r"(?P<message>.+?)(?:[ \t]+\[(?P<type>[\w-]+)\])?$"
        ),
    ),
    (" - error:", lines(r"^[ \t]*(?P<path>\S+\.\w+):\d+:\d+ - error: (?P<message>.+?)(?: \((?P<type>report\w+)\))?$")),
    (".go:", lines(r"^(?:vet: )?(?P<path>\S+\.go):\d+:\d+: (?P<message>.+?)(?: \((?P<type>[a-z][\w-]*)\))?$")),
    (":", lines(r"^(?P<path>\S+\.\w+):\d+:\d+:? (?P<type>[A-Z]{1,4}\d{2,4}):? (?P<message>.+)$")),
    ("-->", lines(r"^(?P<type>[A-Z]{1,4}\d{2,4}) (?:\[\*\] )?(?P<message>.+)\n\s*--> (?P<path>\S+?):\d+:\d+")),
    ("[ERROR]", lines(r"^\[ERROR\] (?P<path>\S+\.(?:java|kt|scala|groovy)):\[\d+,\d+\] (?:error: )?(?P<message>.+)$")),
    ("e: ", lines(r"^e: (?:file://)?(?P<path>\S+\.kts?):\(?\d+[:,] ?\d+\)?:? (?P<message>.+)$")),
    (
        " error ",
        lines(
            r"^(?P<path>[^\s:]+\.\w+)\n(?:[ \t]+\d+:\d+[ \t]+warning[ \t].*\n){0,100}"
            r"[ \t]+\d+:\d+[ \t]+error[ \t]+(?P<message>.+?)(?:[ \t]{2,}(?P<type>[\w@/-]+))?$"
        ),
    ),
    (
        "━",
        lines(
            r"^(?P<path>\S+?\.\w+)(?::\d+:\d+)? (?P<type>lint/\S+|format|parse|organizeImports|assist/\S+)"
            r"[^\n━]{0,40}━+\n"
            r"\s*[×✖] (?P<message>.+)$"
        ),
    ),
    ("CMake Error", lines(r"^CMake Error at (?P<path>\S+?):\d+ \((?P<type>\w+)\):\n\s*(?P<message>.+)$")),
)
_MENTIONS_PLACE = lines(r"^[ \t]*(?:on (\S+\.tf) line \d+|(?:vet: )?(\S+\.\w{1,5}):\d+)")


def compiler(text: str) -> Parts | None:
    """The first error of a compiler, type checker or linter."""
    for word, pattern in _COMPILERS:
        error = pattern.search(text) if word in text else None
        if error:
            place = frame_in_project([(error["path"], "")])
            return error.groupdict().get("type") or "CompileError", place, error["message"]
    return None


_NO_COMMAND = r"(?:command )?not found|未找到命令|Befehl nicht gefunden|commande introuvable|orden no encontrada"
_NO_COMMAND_WORDS = ("not found", "not recognized", "未找到命令", "nicht gefunden", "introuvable", "no encontrada")
_COMMAND = lines(
    rf"^(?:(?:\S+: )?(?:line )?\d+: |(?:/\S*/)?(?:ba|da|z|k|a)?sh: (?:line )?(?:\d+: )?)?"
    rf"(?:(?P<a>[^\s:]+): (?:{_NO_COMMAND})|command not found: (?P<b>\S+)"
    r"|'(?P<c>[^'\n]+)' is not recognized as an internal or external command,?"
    r"|(?:[^\n:]+ : )?The term '(?P<d>[^'\n]+)' is not recognized as [^\n]*)$"
)
_WRONG_CALL = re.compile(
    r"(?:unknown|unrecogni[sz]ed|invalid|illegal|unexpected|ambiguous|no such|unsupported) (?:short |long |shorthand )?"
    r"(?:flag|option|argument|command|subcommand|switch|choice|parameter)|flags? provided but not defined"
    r"|(?:missing|requires?|expects?|accepts|takes) (?:a |an |at least |at most |exactly |one |\d+ )*(?:required )?"
    r"(?:arg(?:ument)?s?\b|argument|flags?\b|option|parameter|positional|value)"
    r"|required (?:flag|option|argument|positional)|the following (?:required )?arguments|are required:"
    r"|flags in the group|mutually exclusive|cannot be used (?:with|together)|missing script|no rule to make target"
    r"|too (?:many|few) arguments|not a valid (?:command|option|choice)|unbekannte option|未知选项|option inconnue",
    re.I,
)
_FATAL = r"fatal|致命错误|schwerwiegend|fatale|erreur fatale"
_ERROR = r"[Ee]rror|ERROR|Fatal|FATAL|错误|錯誤|エラー|Fehler|Erreur|Ошибка"
_UNREADABLE = (
    r"No such file or directory|Permission denied|Is a directory|Not a directory|File exists|Connection refused"
    r"|No space left on device|Operation not permitted|Device or resource busy|Directory not empty|没有那个文件或目录"
    r"|Datei oder Verzeichnis nicht gefunden|Aucun fichier ou dossier de ce (?:type|nom)"
)
_NO_CAUSE = r"\(none\)|script \"|command finished|process completed|Recipe "
_CALLED_WRONGLY = (
    r"unknown (?:flag|command|option|shorthand flag)|flag provided but not defined|if any flags in the group"
)
_SHELL = r"(?:\((?:eval|anon)\)|zsh|fish):"
_KILLED = r"Segmentation fault|Bus error|Illegal instruction|Killed"
_NAMED: tuple[tuple[tuple[str, ...], str, re.Pattern[str]], ...] = (
    (
        ("npm ",),
        "npm",
        lines(
            r"^npm (?:ERR!|error) code (?P<type>\w+)"
            r"(?:\n(?:npm (?:ERR!|error))? ?(?:\d{3} )?(?P<message>.*))?"
        ),
    ),
    (("npm ",), "npm", lines(r"^npm (?:ERR!|error) (?!A complete log|Lifecycle|[A-Z]:|\s)(?P<message>.+)$")),
    (("ERR_PNPM_",), "pnpm", lines(r"^\s?(?P<type>ERR_PNPM_[A-Z_]+)\s+(?P<message>.+)$")),
    (("➤ YN",), "yarn", lines(r"^➤ (?P<type>YN(?!0000)\d{4}): [│└┌ ]*(?P<message>\S.*)$")),
    (("rejected]",), "git", lines(r"^[ \t]*! \[(?P<type>(?:remote )?rejected)\][^\n(]*\((?P<message>[^)\n]+)\)$")),
    (
        ("CONFLICT (",),
        "git",
        lines(r"^(?P<type>CONFLICT) \((?P<message>[\w/ ]+)\): (?:Merge conflict in )?(?P<place>\S+)"),
    ),
    ((*_FATAL.split("|"),), "git", lines(rf"^(?:{_FATAL})[:：] ?(?P<message>.+)$")),
    (("Error response from daemon",), "docker", lines(r"^(?:docker: )?Error response from daemon: (?P<message>.+)$")),
    (("Cannot connect to the Docker",), "docker", lines(r"^(?P<message>Cannot connect to the Docker daemon\b.*)$")),
    (("Error from server",), "kubernetes", lines(r"^Error from server(?: \((?P<type>\w+)\))?: (?P<message>.+)$")),
    (
        ("The connection to the server",),
        "kubernetes",
        lines(r"^(?P<message>The connection to the server \S+ was refused)"),
    ),
    (
        ("An error occurred (",),
        "aws",
        lines(r"An error occurred \((?P<type>\w+)\) when calling the (?P<message>\w+ operation: .+)$"),
    ),
    (("HTTP ",), "gh", lines(r"^(?:gh: .*\()?(?P<type>HTTP [45]\d\d)(?:: (?P<message>.+)|\))$")),
    (("curl: (",), "curl", lines(r"^curl: \((?P<type>\d+)\) (?P<message>.+)$")),
    (
        ("ERROR:  ", "FATAL:  "),
        "sql",
        lines(r"^(?:psql:\S+:\d+: )?(?:ERROR|FATAL):  (?P<message>\S.*)$"),
    ),
    (("ERROR ",), "sql", lines(r"^ERROR (?P<type>\d{4} \(\w{5}\))(?: at line \d+)?: (?P<message>.+)$")),
    (
        (" Error: ",),
        "sql",
        lines(r"^(?P<type>(?:Catalog|Parser|Binder|Conversion|Constraint|IO|Invalid Input) Error): (?P<message>.+)$"),
    ),
    (("What went wrong",), "gradle", lines(r"^\* What went wrong:\n(?P<message>.+(?:\n> .+)?)$")),
    (
        ("[ERROR] ",),
        "maven",
        lines(r"^\[ERROR\] (?:Failed to execute goal \S+ )?(?!COMPILATION|\s|->|Re-run|To see)(?P<message>.+)$"),
    ),
    (("FATAL ERROR",), "node", lines(r"^(?P<type>FATAL ERROR): (?P<message>.+)$")),
    (
        (
            "Module not found",
            "Type error",
            "Syntax error",
            "ParseError",
        ),
        "",
        lines(r"^(?P<type>Module not found|Type error|Syntax error|ParseError): (?P<message>.+)$"),
    ),
    ((*_KILLED.split("|"),), "", lines(rf"^(?P<message>{_KILLED})(?: \(core dumped\))?(?::? ?\d+)?$")),
    (
        (
            "irectory",
            "ermi",
            "exists",
            "refused",
            "space left",
            "busy",
            "没有那个",
            "Verzeichnis",
            "dossier",
        ),
        "",
        lines(rf"^(?P<tool>[\w.-]+): (?:[^\n]*?: )?(?P<message>{_UNREADABLE})(?: \(os error \d+\))?$"),
    ),
    (
        ("(eval)", "(anon)", "zsh:", "fish:"),
        "",
        lines(
            rf"^{_SHELL}(?P<tool>\w+)?:?\d*: "
            r"(?P<message>no such file or directory|permission denied|no matches found)"
        ),
    ),
    (("✘ [ERROR]",), "", lines(r"^✘ \[ERROR\] (?P<message>.+)$")),
    (
        (
            "error: ",
            "fatal: ",
        ),
        "",
        lines(r"^(?P<tool>[\w.-]{2,40}): (?:error|fatal|fatal error): (?P<message>.+)$"),
    ),
    (
        (*(word.removeprefix("[Ee]") for word in _ERROR.split("|")),),
        "",
        lines(rf"^(?:[^\s:]+: )?(?:{_ERROR})(?:\[\w+\])?[:：] ?(?!{_NO_CAUSE})(?P<message>.+)$"),
    ),
    (
        (" option",),
        "",
        lines(
            r"^(?P<tool>[\w./-]{1,60}): "
            r"(?P<message>(?:unrecogni[sz]ed|unknown|illegal|invalid|ambiguous) option\b.*)$"
        ),
    ),
    (
        (
            "nknown ",
            "not defined",
            "flags in",
        ),
        "",
        lines(rf"^(?P<message>[^\n]{{0,40}}?\b(?:{_CALLED_WRONGLY})\b.*)$"),
    ),
    (
        (
            "Automatic merge",
            "Code style",
        ),
        "",
        lines(r"^(?P<message>Automatic merge failed|Code style issues (?:were )?found)\b"),
    ),
    ((*"❌✘✗⨯×✖",), "", lines(r"^[ \t]*[❌✘✗⨯×✖] (?P<message>\S.+)$")),
    (("hook id: ",), "pre-commit", lines(r"^- hook id: (?P<message>.+)$")),
    # Last: mostly they tell only that a command they ran failed, and that command told why.
    (("script ",), "", lines(r"^error: (?P<message>script \".+)$")),
    (("make",), "make", lines(r"^make(?:\[\d+\])?: \*\*\* (?P<message>.+)$")),
)


def command(text: str) -> Parts | None:
    """What a command line tool, the shell or a service behind it said."""
    missing = _COMMAND.search(text) if any(word in text for word in _NO_COMMAND_WORDS) else None
    if missing:
        return NOT_FOUND, next(filter(None, missing.groups())), "command not found"
    for words, tool, pattern in _NAMED:
        said = pattern.search(text) if any(word in text for word in words) else None
        if said:
            return _parts(text, tool, said)
    return None


def _parts(text: str, tool: str, said: re.Match[str]) -> Parts:
    named = said.groupdict()
    message = " ".join((named.get("message") or "").split("\n"))
    place = named.get("tool") or named.get("place") or tool
    if not tool and not named.get("tool"):
        where = _MENTIONS_PLACE.search(text, said.end(), said.end() + 400)
        place = frame_in_project([(where[1] or where[2], "")]) if where else ""
    type_ = named.get("type")
    if not type_:
        type_ = _type_of(message)
    elif tool == "curl":
        type_ = f"curl {type_}"
    return type_, place, message


_MOST_LINES = 6
_LONGEST_TOLD = 400
_SAYS_NOTHING = re.compile(
    r"^(?:[\W\d_]*|(?:FAIL|FAILED|OK|done|exit status \d+|exit code:? \d+)\W*|usage:.*|see .*|try .*--help.*|\$ .*|> .*"
    r"|.* of this run can be found in.*|run .*(?:help|for usage).*|hint: .*|(?:error|err): \(none\))$",
    re.I,
)


def only_words(text: str) -> Parts | None:
    """The first line of a short output that says something: all there is where a command failed without a name."""
    said = [line.strip() for line in text.splitlines() if line.strip()]
    if len(said) > _MOST_LINES:
        return None
    telling = [line for line in said if not _SAYS_NOTHING.match(line[:_LONGEST_TOLD])]
    if not telling or len(telling[0].split()) < 2:
        return None
    message = re.sub(r"^[^\w('\"`<\[-]+", "", telling[0])
    return _type_of(message), "", message


def _type_of(message: str) -> str:
    return USAGE if _WRONG_CALL.search(message, 0, _LONGEST_TOLD) else FAILED
