"""The `lorelake` command. One small module per command group, imported only when one of its commands is called.

Exit codes: 0 done, 1 refused, failed or memory not reached, 2 a wrong call or wrong settings, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import NamedTuple

import click

from lorelake import __version__
from lorelake.errors import LorelakeError, UsageError

ENTRY_POINTS = "lorelake.commands"
"""Where other distributions (lorelake_assets) register the commands that run the job."""


TRACEBACK_VARIABLE = "LORELAKE_TRACEBACK"

_REMEDIES = {
    errno.ENOSPC: "make room on that disk and run it again; a half-written file is never read",
    errno.EDQUOT: "make room in that quota and run it again; a half-written file is never read",
    errno.EACCES: "run it as the user who owns that file, or give this one access",
    errno.EPERM: "run it as the user who owns that file, or give this one access",
    errno.EEXIST: "a folder is needed there; name another one with LORELAKE_HOME",
    errno.ENOTDIR: "a folder is needed there; name another one with LORELAKE_HOME",
    errno.EROFS: "choose a lake on a disk that can be written, with LORELAKE_HOME",
}


class Lazy(NamedTuple):
    """Where a command lies, its one line for `--help`, and the extra it needs beyond the base install."""

    target: str
    help: str
    extra: str | None = None


COMMANDS: dict[str, Lazy] = {
    "collect": Lazy("lorelake.cli.collect:collect", "Send your own transcripts of enabled projects.", "pipeline"),
    "init": Lazy("lorelake.cli.init:init", "Look at what there is to read and write lorelake.toml.", "pipeline"),
    "import": Lazy(
        "lorelake.cli.import_store:import_store", "Take another memory tool's store into the lake, once.", "pipeline"
    ),
    "recall": Lazy("lorelake.cli.recall_commands:recall", "Ask memory a question."),
    "check": Lazy("lorelake.cli.recall_commands:check", "Tell whether memory has an answer, without giving it."),
    "show": Lazy("lorelake.cli.recall_commands:show", "Show one item whole, by its id or a prefix of it."),
    "topics": Lazy("lorelake.cli.recall_commands:topics", "List what memory is about, as a tree of topics."),
    "explain": Lazy("lorelake.cli.explain:explain", "Trace an item back to the words, record and file it comes from."),
    "forget": Lazy("lorelake.cli.forget:forget", "Take something out of memory, or out of every file.", "pipeline"),
    "funnel": Lazy("lorelake.cli.funnel:funnel", "Tell what each gate let through, by source and signal.", "pipeline"),
    "as-of": Lazy("lorelake.cli.as_of:as_of", "Tell what was believed, or served, on a past day.", "pipeline"),
    "sample": Lazy("lorelake.cli.sample:sample", "Show this week's sample to judge, and its junk rate.", "pipeline"),
    "sql": Lazy("lorelake.cli.sql:sql", "Query a release's tables in SQL, read-only.", "pipeline"),
    "sources": Lazy("lorelake.cli.sources:sources", "Tell whether each source still speaks.", "pipeline"),
    "pull": Lazy("lorelake.cli.pull:pull", "Bring in merge requests from GitHub or GitLab.", "forges"),
    "quarantine": Lazy("lorelake.cli.quarantine:quarantine", "List refused records with place and reason.", "pipeline"),
    "review": Lazy("lorelake.cli.review:review", "Decide what agents may be told.", "pipeline"),
    "release": Lazy("lorelake.cli.release:release", "List and verify releases.", "pipeline"),
}

REGISTERED_HELP: dict[str, str] = {
    "nightly": "Run the whole pipeline once and publish a release.",
    "rebuild": "Derive everything again; with --verify elsewhere, to compare.",
}
"""One line for commands that entry points bring, so that `--help` need not import the pipeline."""


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one when it is called."""

    def __init__(self, *args: object, lazy: Mapping[str, Lazy], **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.lazy = lazy

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names, those of entry points included."""
        return sorted({*self.lazy, *_registered(), *super().list_commands(ctx)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command; None where there is no such name."""
        if cmd_name in self.lazy:
            return _load(cmd_name, self.lazy[cmd_name])
        target = _registered().get(cmd_name)
        if target is not None:
            return _load(cmd_name, Lazy(target, "", "pipeline"))
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of `--help`, from what is known without importing anything."""
        known = {name: lazy.help for name, lazy in self.lazy.items()} | REGISTERED_HELP
        with formatter.section("Commands"):
            formatter.write_dl([(name, known.get(name, "")) for name in self.list_commands(ctx)])


def _registered() -> dict[str, str]:
    from importlib.metadata import entry_points  # some 30 ms, which recall need not pay

    return {point.name: point.value for point in entry_points(group=ENTRY_POINTS)}


def _load(name: str, lazy: Lazy) -> click.Command:
    module, _, attribute = lazy.target.partition(":")
    try:
        command = getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        if lazy.extra is None or (error.name or "").split(".")[0] == "lorelake":
            raise
        raise UsageError(
            f"`lorelake {name}` needs {error.name}, which is not installed",
            remedy=f"pip install 'lorelake[{lazy.extra}]'",
        ) from None
    if not isinstance(command, click.Command):
        raise TypeError(f"{lazy.target} is not a command")
    return command


@click.group(cls=LazyGroup, lazy=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="lorelake %(version)s")
def cli() -> None:
    """Memories a coding agent can trust, derived every night from what a team leaves behind."""


def main() -> None:
    """Run the command line and leave with its exit code."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one call; errors go to stderr, the exit code is returned.

    A fault nobody foresaw is told in one line like any other. Its traceback is shown where `LORELAKE_TRACEBACK` is
    set, for a report.
    """
    try:
        code = cli.main(arguments, prog_name="lorelake", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read our output has enough, as in `| head`. Python would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (click.Abort, KeyboardInterrupt) as error:
        own_line = "" if error.__cause__ else "\n"  # click has left the line already where it turned Ctrl-C into Abort
        click.echo(f"{own_line}lorelake: stopped; what is served is as it was", err=True)
        return 130
    except Exception as error:
        if os.environ.get(TRACEBACK_VARIABLE):
            raise
        told = _told(error)
        click.echo(f"lorelake: error: {told}", err=True)
        return told.exit_code
    return code if isinstance(code, int) else 0


def _told(error: Exception) -> LorelakeError:
    """Any error as one of ours: what, where, what to do."""
    if isinstance(error, LorelakeError):
        return error
    if isinstance(error, click.ClickException):
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "lorelake"
        return UsageError(error.format_message(), remedy=f"`{command} --help`")
    if isinstance(error, OSError):
        remedy = _REMEDIES.get(error.errno or 0)
        return LorelakeError(error.strerror or str(error), where=error.filename and str(error.filename), remedy=remedy)
    return LorelakeError(
        f"a fault of lorelake: {type(error).__name__}: {error}",
        remedy=f"please report it, with what the same call says under {TRACEBACK_VARIABLE}=1",
    )
