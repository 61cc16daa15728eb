"""Where decision files are written, under which name, and how one is committed. Nothing is written anywhere else."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lorelake.errors import LorelakeError, UsageError
from lorelake.formats import decisions
from lorelake.formats.record import digest
from lorelake.formats.strict_yaml import YamlError
from lorelake.settings import Settings

FOLDER = "decisions"


def folder(settings: Settings | None, into: Path | None = None) -> Path:
    """The `decisions/` folder to write to: the one given, that of `ledger.folder`, else the only one of the sources.

    Raises:
        UsageError: none of them says where.
    """
    if into is None and settings and settings.ledger.folder:
        into = settings.resolve(settings.ledger.folder)
    if into is not None:
        return into if into.name == FOLDER else into / FOLDER
    roots = (
        [settings.resolve(source.path) for source in settings.sources if "://" not in source.path] if settings else []
    )
    found = sorted({root / FOLDER for root in roots if (root / FOLDER).is_dir()})
    if len(found) != 1:
        why = "several sources hold decisions/" if found else "no source is a folder that holds decisions/"
        raise UsageError(why, remedy="name the ledger's checkout with --into, or set `ledger.folder`")
    return found[0]


def text(values: Mapping[str, Any]) -> str:
    """A decision as its file reads. Raises UsageError where it would be refused."""
    try:
        return decisions.write(values)
    except YamlError as error:
        raise UsageError(f"this decision would be refused: {error.what}") from None


def write(where: Path, values: Mapping[str, Any]) -> Path:
    """Write one decision into a `decisions/` folder; the path.

    The name has the day, the decision and a hash of it, and nothing of the words.

    Raises:
        LorelakeError: the same decision lies there already.
    """
    body = text(values)
    about = str(values.get("learning") or values.get("target") or "items").removeprefix("lrn_")[:12]
    today = datetime.now(UTC).date().isoformat()
    path = where / f"{today}-{values['decision']}-{about}-{digest(body)[:6]}.yaml"
    where.mkdir(parents=True, exist_ok=True)
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(body)
    except FileExistsError:
        raise LorelakeError("this decision lies there already", where=str(path)) from None
    return path


def commit(path: Path, message: str) -> None:
    """Commit this one file, under the caller's own Git identity; whatever else is staged stays as it was.

    Raises:
        LorelakeError: the folder is no repository, or Git refused. The file is there all the same.
    """
    for command in (("add", "--", path.name), ("commit", "--quiet", "--only", "-m", message, "--", path.name)):
        try:
            done = subprocess.run(["git", *command], cwd=path.parent, capture_output=True, text=True, check=False)
        except OSError as error:
            raise LorelakeError(f"git cannot be run: {error.strerror}", where=str(path)) from None
        if done.returncode:
            words = (done.stderr or done.stdout).strip().splitlines()
            raise LorelakeError(
                f"written, but not committed: {words[0] if words else 'git refused'}", where=str(path),
                remedy="commit it yourself",
            )  # fmt: skip
