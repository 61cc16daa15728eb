"""Landing without what was erased.

A file of JSON lines loses the lines in question; any other file goes whole. Nothing is lost by that: this runs when raw
holds what the file says, and raw keeps every record that was not erased. A line that no format can read goes with
them, since nobody can tell whose words it holds. Git repositories are the team's own to rewrite: they are named.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from lorelake.content.erasure import Erased
from lorelake.errors import LorelakeError
from lorelake.formats.record import Capture, Record
from lorelake.lake import Lake, write_bytes
from lorelake.landing import bucket
from lorelake.landing import kept_out as list_of_hashes
from lorelake.landing.delivery import open_place
from lorelake.landing.discover import file_of, landed
from lorelake.landing.hash_cache import HashCache
from lorelake.landing.hints import SUFFIX, is_note
from lorelake.settings import Settings

Reader = Callable[[str], Any]
"""Format module by name."""

_STATE = "landing_without_erased.json"


@dataclass
class Cleaned:
    """What was done to landing: files rewritten and deleted, and what is left to its owner, by path in the lake."""

    rewritten: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def clean(lake: Lake, settings: Settings, kept_out: Erased, reader: Reader) -> Cleaned:
    """Take what was erased out of every landing file that was not looked at since. Call it when raw holds them all."""
    done = Cleaned()
    if not kept_out:
        return done
    for place in dict.fromkeys((str(lake.landing), settings.collect.deliver_to)):
        if place is not None:
            _tell(place if bucket.is_url(place) else str(settings.resolve(place)), kept_out, done)
    if not lake.landing.is_dir():
        return done
    path = lake.state / _STATE
    seen = _seen(path, kept_out)
    clean_ones: set[str] = set()
    for whole in (False, True):
        found = landed(settings, HashCache()).captures
        left = [pair for pair in found if _mark(*pair) not in seen | clean_ones]
        for source, capture in left:
            bad = _Judged(kept_out, capture, reader(source).read(capture), source)
            if bad.is_clean or source == "decisions":
                clean_ones.add(_mark(source, capture))
            else:
                _rewrite(lake, capture, bad, whole, done)
    _notes(lake, kept_out, done)
    still = {_mark(*pair) for pair in landed(settings, HashCache()).captures}
    kept = {"under": kept_out.digest, "clean": sorted((seen | clean_ones) & still)}
    write_bytes(path, msgspec.json.encode(kept))
    return done


def _tell(place: str, kept_out: Erased, done: Cleaned) -> None:
    """Leave the list for `collect` where people deliver to; a place that cannot be reached is told the next night."""
    try:
        list_of_hashes.write(open_place(place), kept_out)
    except (LorelakeError, OSError):
        done.left.append(bucket.shown(place) if bucket.is_url(place) else place)


def _mark(source: str, capture: Capture) -> str:
    return f"{source} {capture.sha256}"


def _seen(path: Path, kept_out: Erased) -> set[str]:
    """Captures that were found clean of exactly this."""
    try:
        known = msgspec.json.decode(path.read_bytes())
    except (FileNotFoundError, msgspec.DecodeError):
        return set()
    return set(known["clean"]) if known.get("under") == kept_out.digest else set()


class _Judged:
    """Which lines of which members may stay."""

    def __init__(self, kept_out: Erased, capture: Capture, found: Iterable[Any], source: str) -> None:
        self.bad: dict[str, set[int]] = defaultdict(set)
        self.good: dict[str, set[int]] = defaultdict(set)
        for item in found:
            if not isinstance(item, Record):
                continue
            out = kept_out.keeps_out(source, item.unit, item.id, item.type, item.value, capture.person)
            changed = out or kept_out.masked(item.value) is not item.value
            (self.bad if changed else self.good)[item.member].add(item.line)

    @property
    def is_clean(self) -> bool:
        return not self.bad


def _rewrite(lake: Lake, capture: Capture, judged: _Judged, whole: bool, done: Cleaned) -> None:
    """Rewrite or delete the files of a capture that hold something erased, and those of which nothing could be read."""
    known = {member.name for member in capture.members}
    astray = judged.bad.keys() - known
    for member in capture.members:
        bad, good = judged.bad.get(member.name, set()), judged.good.get(member.name, set())
        if good and not bad and not astray:
            continue
        path = file_of(member) or lake.root / capture.name
        if not path.is_relative_to(lake.landing) or not path.is_file():
            if path.exists() and capture.name not in done.left:
                done.left.append(capture.name)
            continue
        rest = None if whole or astray or file_of(member) is None else _lines(path, good - bad)
        name = path.relative_to(lake.root).as_posix()
        if rest:
            write_bytes(path, rest, mode=0o600)
            done.rewritten.append(name)
        else:
            _delete(lake, path)
            done.deleted.append(name)


def _lines(path: Path, good: set[int]) -> bytes | None:
    """The good lines of a file of JSON objects, one a line; None where it is none, or nothing of it is good."""
    lines = path.read_bytes().split(b"\n")
    if not all(not line.strip() or line.lstrip(b"\xef\xbb\xbf \t").startswith(b"{") for line in lines):
        return None
    kept = [line for number, line in enumerate(lines, 1) if number in good and line.strip()]
    return b"\n".join(kept) + b"\n" if kept else None


def _delete(lake: Lake, path: Path) -> None:
    """Delete a file and the note that stands for it. In a mirror an empty one stays, or it would be fetched again."""
    if path.is_relative_to(bucket.home(lake.landing)):
        write_bytes(path, b"", mode=0o600)
        return
    path.unlink()
    path.with_name(path.name + SUFFIX).unlink(missing_ok=True)


def _notes(lake: Lake, kept_out: Erased, done: Cleaned) -> None:
    """Take erased persons' names out of the notes that lorelake itself leaves."""
    for path in sorted(lake.landing.rglob("*.json")):
        if not path.is_file():
            continue
        data = path.read_bytes()
        if not is_note(data):
            continue
        try:
            value = json.loads(data)
        except ValueError:
            continue
        fresh = {key: kept_out.masked({key: child})[key] for key, child in value.items()}
        if fresh != value:
            write_bytes(path, json.dumps(fresh, ensure_ascii=False, indent=1).encode() + b"\n", mode=0o600)
            done.rewritten.append(path.relative_to(lake.root).as_posix())
