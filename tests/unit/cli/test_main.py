from __future__ import annotations

import errno
import subprocess
import sys
import types

import click
import pytest

from lorelake import __version__, cli
from lorelake.cli import COMMANDS, Lazy, run
from lorelake.errors import LakeBusyError, SettingsError


@pytest.fixture
def command(monkeypatch):
    """Registers a command `probe` that does what it is told."""

    def register(body, name="probe", extra=None):
        module = types.ModuleType("probe_module")
        module.probe = click.command(name)(body)
        monkeypatch.setitem(sys.modules, "probe_module", module)
        monkeypatch.setitem(cli.cli.lazy, name, Lazy("probe_module:probe", "A probe.", extra))

    return register


def test_help_names_every_command_with_its_line(capsys):
    assert run(["--help"]) == 0
    told = capsys.readouterr().out
    for name, lazy in COMMANDS.items():
        assert name in told
        assert lazy.help.split()[0] in told


def test_version(capsys):
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"lorelake {__version__}\n"


@pytest.mark.parametrize("arguments", [["nonsense"], ["recall"], ["recall", "x", "--limit", "0"], ["sql", "--nope"]])
def test_a_wrong_call_is_2(capsys, arguments):
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("lorelake: error: ")
    assert "\n  remedy: `lorelake" in err


@pytest.mark.parametrize(
    ("error", "code"), [(LakeBusyError("held", where="/lake", remedy="wait"), 1), (SettingsError("unknown key"), 2)]
)
def test_our_errors_go_to_stderr_with_place_and_remedy(command, capsys, error, code):
    def body():
        raise error

    command(body)
    assert run(["probe"]) == code
    out, err = capsys.readouterr()
    assert (out, err) == ("", f"lorelake: error: {error}\n")


def test_a_missing_extra_is_named(monkeypatch, capsys):
    monkeypatch.setitem(cli.cli.lazy, "probe", Lazy("not_installed_here.module:x", "A probe.", "pipeline"))
    assert run(["probe"]) == 2
    assert "pip install 'lorelake[pipeline]'" in capsys.readouterr().err


def test_a_fault_of_ours_is_not_told_as_a_missing_extra(monkeypatch, capsys):
    monkeypatch.setitem(cli.cli.lazy, "probe", Lazy("lorelake.no_such_module:x", "A probe.", "pipeline"))
    assert run(["probe"]) == 1
    assert (
        "a fault of lorelake: ModuleNotFoundError: No module named 'lorelake.no_such_module'" in capsys.readouterr().err
    )


def test_a_fault_of_ours_is_one_line_and_its_traceback_a_matter_of_asking(command, capsys, monkeypatch):
    command(lambda: {}["nothing"])
    assert run(["probe"]) == 1
    assert capsys.readouterr().err == (
        "lorelake: error: a fault of lorelake: KeyError: 'nothing'\n"
        "  remedy: please report it, with what the same call says under LORELAKE_TRACEBACK=1\n"
    )
    monkeypatch.setenv("LORELAKE_TRACEBACK", "1")
    with pytest.raises(KeyError):
        run(["probe"])


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (PermissionError(errno.EACCES, "Permission denied", "/lake/CURRENT"), "run it as the user who owns that file"),
        (OSError(errno.ENOSPC, "No space left on device", "/lake/.x.tmp"), "make room on that disk"),
    ],
)
def test_the_systems_no_is_told_with_place_and_remedy(command, capsys, error, told):
    def body():
        raise error

    command(body)
    assert run(["probe"]) == 1
    err = capsys.readouterr().err
    assert err.startswith(f"lorelake: error: {error.filename}: {error.strerror}\n  remedy: ")
    assert told in err


@pytest.mark.parametrize("how", [KeyboardInterrupt, click.Abort])
def test_ctrl_c_is_one_line_and_130(command, capsys, how):
    def body():
        raise how

    command(body)
    assert run(["probe"]) == 130
    assert capsys.readouterr().err == "\nlorelake: stopped; what is served is as it was\n"


def test_a_commands_own_exit_code_is_kept(command):
    command(lambda: click.get_current_context().exit(1))
    assert run(["probe"]) == 1


def test_a_reader_that_has_enough_is_no_reason_for_a_traceback():
    code = "from lorelake.cli import main; import sys; sys.argv = ['lorelake', '--help']; main()"
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    child.stdout.close()
    assert child.stderr.read() == b""
    assert child.wait() == 1
