"""Whether words are nowhere in a lake: every file is decoded and looked through, and what cannot be is a failure.

Twice each: as the bytes it is, and as the texts it decodes to. The words are given and held in memory; a report names
them by their number, never by themselves.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from lorelake.release.decoding import Fault, Found, decode, sniffed

BATCH_CHARS = 8_000_000
"""Text that is searched at a time."""


@dataclass
class Look:
    """One file: what it was decoded as, how many texts came out, which words (by number, from 1) were found, what
    could not be read."""

    path: Path
    format: str
    size: int
    texts: int = 0
    found: set[int] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        """Everything in it was read, and holds none of the words."""
        return not self.found and not self.faults


class _Piece(NamedTuple):
    look: Look
    text: str


class _Search:
    """Collects texts and looks for all the words in many of them at once. Case does not matter."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = [word.lower() for word in words]
        self._raw = [word.encode().decode("latin-1") for word in self.words]
        self._held: dict[bool, list[_Piece]] = {False: [], True: []}
        self._size = 0

    def text(self, look: Look, text: str) -> None:
        look.texts += 1
        self._add(False, look, text.lower())

    def raw(self, look: Look, data: bytes) -> None:
        self._add(True, look, data.decode("latin-1"))

    def _add(self, raw: bool, look: Look, text: str) -> None:
        self._held[raw].append(_Piece(look, text))
        self._size += len(text)
        if self._size >= BATCH_CHARS:
            self.flush()

    def flush(self) -> None:
        """Look through everything that was collected."""
        for raw, patterns in ((False, self.words), (True, self._raw)):
            held, self._held[raw] = self._held[raw], []
            numbers = {pattern: number for number, pattern in enumerate(patterns, 1)}
            for row, words in found_in([piece.text for piece in held], patterns).items():
                held[row].look.found |= {numbers[word] for word in words}
        self._size = 0


def found_in(texts: Sequence[str], patterns: Sequence[str]) -> dict[int, set[str]]:
    """Position of each text that holds any of the patterns, with those it holds; ASCII letters in any case."""
    if not texts or not patterns:
        return {}
    column = pl.Series(texts, dtype=pl.String)
    rows = column.str.contains_any(list(patterns), ascii_case_insensitive=True).arg_true().to_list()
    lower = {pattern.lower() for pattern in patterns}
    hits = column.gather(rows).str.extract_many(list(patterns), ascii_case_insensitive=True, overlapping=True)
    return {row: {hit.lower() for hit in found} & lower for row, found in zip(rows, hits.to_list(), strict=True)}


def prove(root: Path, words: Sequence[str]) -> list[Look]:
    """Look through every file below a folder, in order of path.

    Raises:
        ValueError: no word is given; a proof of nothing would always pass.
    """
    if not words:
        raise ValueError("no words to look for")
    search = _Search(words)
    looks: list[Look] = []
    datasets, repositories = _places(root)
    for folder, _, names in os.walk(root):
        for name in sorted(names):
            path = Path(folder) / name
            look = Look(path, "", path.lstat().st_size)
            looks.append(look)
            _file(look, datasets, repositories, search)
    for dataset in datasets:
        _into(_under(looks, dataset, "lance"), _lance(dataset), search)
    for repository in repositories:
        _into(_under(looks, repository, "git"), _git(repository), search)
    search.flush()
    for look in looks:
        for number, word in enumerate(search.words, 1):
            if word in look.path.relative_to(root).as_posix().lower():
                look.found.add(number)
    return sorted(looks, key=lambda look: look.path)


def _places(root: Path) -> tuple[list[Path], list[Path]]:
    """Lance datasets and Git repositories: their files are no use one by one."""
    datasets = sorted(
        path.parent for path in root.rglob("_versions") if path.is_dir() and path.parent.suffix == ".lance"
    )
    repositories = sorted(path.parent for path in root.rglob("objects") if (path.parent / "HEAD").is_file())
    return datasets, repositories


def _file(look: Look, datasets: Iterable[Path], repositories: Iterable[Path], search: _Search) -> None:
    if look.path.is_symlink() or not look.path.is_file():
        look.format = "link"
        search.text(look, os.readlink(look.path) if look.path.is_symlink() else "")
        return
    data = look.path.read_bytes()
    search.raw(look, data)
    if any(look.path.is_relative_to(dataset) for dataset in datasets):
        look.format = "lance"
        return
    if any(look.path.is_relative_to(repository) for repository in repositories):
        look.format = "git"
        return
    look.format = "msgpack" if look.path.suffix == ".msgpack" else sniffed(data[:512])
    holder, _, end = look.path.name.rpartition("-")
    if end in ("wal", "shm", "journal") and look.path.with_name(holder).is_file():
        look.format = "sqlite journal"  # decoded with the database beside it
        return
    if look.path.suffix == ".wal" and look.path.with_suffix("").exists():
        look.format = "duckdb journal"
        return
    _into(look, decode(look.path.name, data, look.path), search)


def _into(look: Look, found: Iterable[Found], search: _Search) -> None:
    for item in found:
        if isinstance(item, Fault):
            look.faults.append(item.why)
        elif isinstance(item, bytes):
            look.texts += 1
            search.raw(look, item)
        else:
            search.text(look, item)


def _under(looks: Sequence[Look], folder: Path, form: str) -> Look:
    """The first file of a dataset or repository speaks for all of them."""
    return next(look for look in looks if look.format == form and look.path.is_relative_to(folder))


def _lance(dataset: Path) -> Iterator[Found]:
    """Every row of every version. An index holds nothing but what it was made of; one that cannot be told of fails."""
    try:
        import lancedb

        table = lancedb.connect(str(dataset.parent)).open_table(dataset.stem)
        newest = table.version
        manifests = b"".join(path.read_bytes() for path in sorted((dataset / "_versions").iterdir()))
        for version in sorted(entry["version"] for entry in table.list_versions()):
            table.checkout(version)
            for column in table.to_arrow().columns:
                yield from _strings(column.to_pylist())
        table.checkout(newest)
        indexed = [table.index_stats(index.name) for index in table.list_indices()]
        if any(stats is None or stats.num_indexed_rows != table.count_rows() for stats in indexed):
            yield Fault("an index covers other rows than the table has")
        folders = list((dataset / "_indices").glob("*")) if (dataset / "_indices").is_dir() else []
        if len(folders) != len(indexed):
            yield Fault("an index lies there that the table does not name")
    except (ImportError, ValueError, OSError, RuntimeError) as error:
        yield Fault(f"cannot be opened as lance: {error}")
        return
    if any((dataset / "_deletions").glob("*")):
        yield Fault("rows were deleted that its files may still hold; write the table anew")
    for path in sorted((dataset / "data").glob("*")):
        if path.name.encode() not in manifests:
            yield Fault(f"{path.name} belongs to no version")


def _strings(values: Iterable[Any]) -> Iterator[Found]:
    for value in values:
        if isinstance(value, str | bytes):
            yield value
        elif isinstance(value, list):
            yield from _strings(value)
        elif isinstance(value, dict):
            yield from _strings(value.values())


def _git(repository: Path) -> Iterator[Found]:
    """Every object of a repository, whether a ref still leads to it or not."""
    command = ["git", "-c", "safe.directory=*", "-C", str(repository), "cat-file", "--batch-all-objects", "--batch"]
    try:
        done = subprocess.run(command, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        yield Fault(f"git cannot read it: {error}")
        return
    yield done.stdout
