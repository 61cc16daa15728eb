"""Damage real and sample files at random, for minutes, and see whether a parser crashes or loses a good record.

    .venv/bin/python tests/bench/fuzz_formats.py codex --minutes 5 [--seed 1] [--data ../shared/data]

Each round takes one capture of the format, damages one of its members (bytes flipped, cut out, doubled, a tail torn
off, lines joined or repeated, a JSON value replaced by another; never the list of versions that landing itself makes
of a repository) and takes it through `read`, the redactor, `facts` and `events`. It fails, printing the seed of the
round, where

- anything but a Record or a Refusal comes out, or an exception does;
- `facts` or `events` of what was kept raise;
- a line of a line-by-line format that was not touched is neither kept nor refused, or is refused although it was
  kept before (unless the session or thread it belongs to was named in the damaged line);
- a member that was not touched gives fewer records than before.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from lorelake.content.blobs import strip_blobs
from lorelake.content.redaction import Redactor, disown
from lorelake.formats import history, registry
from lorelake.formats.record import Capture, Member, Record, Refusal, Unit, UnitRecord, in_order
from lorelake.landing import discover
from lorelake.settings import Settings, Source, Team

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "tests" / "samples" / "team"
MAX_MEMBER = 120_000
"""Bytes of a member that a round works on: whole lines are left out above it, so that rounds stay quick."""
DEPENDENT = frozenset({"no_unit", "no_time", "private", "incomplete_tail"})
"""Reasons by which an untouched line may be refused for what stood in another."""
NASTY = (
    "null", "true", "-1", "1e999", '""', "[]", "{}", "[[[[[[]]]]]]", '{"a":{"b":null}}', '"\\ud800"',
    "12345678901234567890",
    '"2026-13-45T99:99:99Z"', '"\\u0000"', "[null]", '"[redacted:email:00000000]"', '"' + "x" * 5000 + '"', "NaN",
)  # fmt: skip
_VALUE = re.compile(rb'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|true|false|null|\[\]|\{\}')


class FaultError(Exception):
    """What a round found wrong."""


class Outcome(NamedTuple):
    """What reading one capture gave, by member."""

    records: dict[str, list[Record]]
    refusals: dict[str, list[Refusal]]

    def counts(self, member: str) -> int:
        return len(self.records[member])


def corpus(format_name: str, data: Path) -> list[Capture]:
    """Every capture of a format in the samples and in the data folder, members held in memory and cut to size."""
    sources = tuple(Source(str(path)) for path in (SAMPLES, data) if path.exists())
    found = discover.captures(Settings(team=Team("fuzz"), sources=sources, folder=str(ROOT / "tests")))
    captures = []
    for name, capture in found.captures:
        if name == format_name:
            members = tuple(held(member.name, shortened(member.read())) for member in capture.members)
            captures.append(Capture(capture.name, members, capture.sha256, include=("public", "private", "dm")))
    return captures


def held(name: str, content: bytes) -> Member:
    return Member(name, len(content), lambda: BytesIO(content))


def shortened(content: bytes) -> bytes:
    if len(content) <= MAX_MEMBER or content.count(b"\n") < 20:
        return content
    kept, size = [], 0
    for line in content.split(b"\n"):
        if size + len(line) <= MAX_MEMBER:
            kept.append(line)
            size += len(line) + 1
    return b"\n".join(kept) + b"\n"


def damage(rng: random.Random, content: bytes) -> bytes:
    """One to four damages of one kind each."""
    kinds: list[Callable[[random.Random, bytes], bytes]] = [
        _flip, _cut_out, _double, _tear, _swap_value, _swap_value, _swap_value, _insert, _join_lines, _repeat_line,
    ]  # fmt: skip
    for _ in range(rng.randint(1, 4)):
        if content:
            content = rng.choice(kinds)(rng, content)
    return content


def _flip(rng: random.Random, content: bytes) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.randint(1, 8)):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def _cut_out(rng: random.Random, content: bytes) -> bytes:
    start = rng.randrange(len(content))
    return content[:start] + content[start + rng.randint(1, 200) :]


def _double(rng: random.Random, content: bytes) -> bytes:
    start = rng.randrange(len(content))
    return content[:start] + content[start : start + rng.randint(1, 400)] + content[start:]


def _tear(rng: random.Random, content: bytes) -> bytes:
    return content[: max(0, len(content) - rng.randint(1, 400))]


def _swap_value(rng: random.Random, content: bytes) -> bytes:
    start = rng.randrange(len(content))
    found = _VALUE.search(content, start)
    return content[: found.start()] + rng.choice(NASTY).encode() + content[found.end() :] if found else content


def _insert(rng: random.Random, content: bytes) -> bytes:
    start = rng.randrange(len(content) + 1)
    piece = rng.choice([b"\0" * 9, b"\xff\xfe", b"\xef\xbb\xbf", b"\n", b"\r\n", b"}", b"\xe2\x80\xa8", b"{", b'"'])
    return content[:start] + piece + content[start:]


def _join_lines(rng: random.Random, content: bytes) -> bytes:
    ends = [found.start() for found in re.finditer(b"\n", content)]
    if not ends:
        return content
    end = rng.choice(ends)
    return content[:end] + content[end + 1 :]


def _repeat_line(rng: random.Random, content: bytes) -> bytes:
    lines = content.split(b"\n")
    lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))
    return b"\n".join(lines)


def read(format_: Any, capture: Capture) -> Outcome:
    records: dict[str, list[Record]] = defaultdict(list)
    refusals: dict[str, list[Refusal]] = defaultdict(list)
    for item in format_.read(capture):
        if isinstance(item, Record):
            records[item.member].append(item)
        elif isinstance(item, Refusal):
            refusals[item.member].append(item)
        else:
            raise FaultError(f"read gave {type(item).__name__}")
    return Outcome(records, refusals)


def units(format_name: str, outcome: Outcome, redactor: Redactor) -> Iterator[Unit]:
    """Units as the pipeline makes them: redacted, encoded and decoded again, in order."""
    records = [record for member in outcome.records.values() for record in member]
    values = redactor.values([disown(strip_blobs(record.value)) for record in records])
    grouped: dict[str, list[UnitRecord]] = defaultdict(list)
    for record, value in zip(records, values, strict=True):
        ts = record.ts or datetime(2026, 1, 1, tzinfo=UTC)
        body = json.loads(json.dumps(value, ensure_ascii=False, allow_nan=False).encode())
        uri = f"{record.member}:{record.line}"
        grouped[record.unit].append(UnitRecord(record.id, record.type, ts, body, uri, "2026-01-01", record.ts_assumed))
    for unit_id, found in grouped.items():
        yield Unit(format_name, f"{format_name}:{unit_id}", in_order(found), None, None)


def untouched_lines(before: bytes, after: bytes) -> Iterator[tuple[bytes, int]]:
    """Lines whose bytes are found once before and once after, with their number after."""
    old = Counter(before.split(b"\n"))
    new = Counter(after.split(b"\n"))
    for number, line in enumerate(after.split(b"\n")[:-1], 1):
        if line.strip() and old[line] == 1 and new[line] == 1:
            yield line, number


def judge(before: Outcome, after: Outcome, member: str, old: bytes, new: bytes, by_line: bool) -> None:
    for other in before.records:
        if other != member and after.counts(other) < before.counts(other):
            refused = Counter(refusal.reason for refusal in after.refusals[other])
            if not set(refused) & DEPENDENT:
                raise FaultError(f"{other}, which was not touched, lost {before.counts(other) - after.counts(other)}")
    if not by_line:
        return
    lines = {hashlib.sha256(line).digest(): number for number, line in enumerate(old.split(b"\n"), 1)}
    kept_before = {record.line for record in before.records[member]}
    kept = {record.line for record in after.records[member]}
    refused_at = {refusal.line: refusal.reason for refusal in after.refusals[member]}
    if 0 in refused_at and not kept:  # refused as a whole: it is no longer recognisable as what it was
        return
    for line, number in untouched_lines(old, new):
        if lines[hashlib.sha256(line).digest()] not in kept_before or number in kept:
            continue
        if refused_at.get(number) not in DEPENDENT:
            raise FaultError(f"line {number} of {member} was not touched and is {refused_at.get(number, 'gone')}")


def by_line(capture: Capture, outcome: Outcome) -> bool:
    """Whether a format reads lines: every record of a member stands on a line of its own."""
    return all(
        len({record.line for record in records}) == len(records) and len(records) <= member.read().count(b"\n") + 1
        for member in capture.members
        if (records := outcome.records[member.name])
    ) and all(member.name.endswith(".jsonl") for member in capture.members)


def one_round(format_name: str, capture: Capture, redactor: Redactor, rng: random.Random) -> int:
    format_ = registry.by_name(format_name)
    clean = read(format_, capture)
    target = rng.choice([member for member in capture.members if member.name != history.MEMBER])
    old = target.read()
    new = damage(rng, old)
    members = tuple(held(target.name, new) if member is target else member for member in capture.members)
    damaged = read(format_, Capture(capture.name, members, capture.sha256, include=capture.include))
    judge(clean, damaged, target.name, old, new, by_line(capture, clean))
    for unit in units(format_name, damaged, redactor):
        format_.facts(unit)
        format_.events(unit)
    return sum(map(len, damaged.records.values()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("format", choices=registry.FORMATS)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    chosen = parser.parse_args()
    captures = corpus(chosen.format, chosen.data)
    if not captures:
        sys.stderr.write(f"no capture of {chosen.format} in {SAMPLES} or {chosen.data}\n")
        return 1
    redactor = Redactor(b"a key for fuzzing, 32 bytes long..")
    until = time.monotonic() + chosen.minutes * 60
    rounds = records = faults = 0
    while time.monotonic() < until:
        seed = chosen.seed * 1_000_000 + rounds
        rng = random.Random(seed)
        capture = rng.choice(captures)
        try:
            records += one_round(chosen.format, capture, redactor, rng)
        except Exception as error:
            faults += 1
            sys.stderr.write(f"round {seed}, {capture.name}: {type(error).__name__}: {error}\n")
            if faults == 1:
                import traceback

                traceback.print_exc()
            if faults >= 20:
                break
        rounds += 1
    sys.stdout.write(
        f"{chosen.format}: {rounds} rounds over {len(captures)} captures in {chosen.minutes} min, "
        f"{records} records kept, {faults} faults\n"
    )
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
