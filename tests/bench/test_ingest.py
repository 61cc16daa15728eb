"""Figures of the way in: transcripts to redacted raw rows and events, as ratios to something measured in the same run.

Two inputs: `generated` transcripts, and `real` ones copied under new ids until there are as many megabytes, where the
collection of real files lies beside the checkout. CPU seconds of one process, wall clock of several.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import dictionaries
import ingest as night
import pytest
import transcripts
from transcripts import START

from lorelake.content.masking import encoded
from lorelake.formats.claude_code_entries import AssistantEntry, UserEntry, parsed, understood
from lorelake.formats.json_lines import Line, read_lines
from lorelake.formats.record import Member, UnitRecord
from lorelake.formats.transcripts import blocks_text
from lorelake.lake import Lake
from lorelake.tables import RAW_RECORDS

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
REAL = sorted((DATA / "claude-code").rglob("*.jsonl")) if DATA.exists() else []
KINDS = ["generated", *(["real"] if REAL else [])]
GIB = 1024.0
AGENTSVIEW = shutil.which("agentsview", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))


def say(what: str, value: str) -> None:
    sys.stderr.write(f"\n  {what:<72} {value}")


def write(kind: str, folder: Path, megabytes: float) -> list[Path]:
    if kind == "real":
        return transcripts.multiply(REAL, folder, megabytes)
    return transcripts.generate(folder, megabytes)


def lines_of(paths: Sequence[Path]) -> list[bytes]:
    found = []
    for path in paths:
        member = Member(path.name, path.stat().st_size, lambda path=path: path.open("rb"))
        found += [line.raw for line in read_lines(member) if isinstance(line, Line)]
    return found


def cpu(work: Callable[[], Any]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def interleaved(works: Sequence[Callable[[], Any]], times: int) -> list[float]:
    """CPU seconds of the quickest run of each, taken in turns, so that a busy machine is busy for all."""
    rounds = [[cpu(work) for work in works] for _ in range(times)]
    return [min(took) for took in zip(*rounds, strict=True)]


def run(folder: Path, home: Path, jobs: int) -> dict[str, Any]:
    """A fresh interpreter that takes a folder to events in a new lake."""
    shutil.rmtree(home, ignore_errors=True)
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, str(Path(__file__).parent / "ingest.py"), str(folder), str(home)],
        check=True, capture_output=True, text=True, env={**os.environ, "LORELAKE_JOBS": str(jobs)},
    )  # fmt: skip
    return {**json.loads(done.stdout), "wall": time.perf_counter() - began}


def flatten(entries: Iterable[Any]) -> list[tuple[Any, ...]]:
    """The rows of `dictionaries.flatten`, from the structs that events are made of."""
    rows: list[tuple[Any, ...]] = []
    add = rows.append
    kinds = {UserEntry: "user", AssistantEntry: "assistant"}
    for entry in entries:
        kind = kinds.get(entry.__class__)
        if kind is None or entry.message is None:
            continue
        message = entry.message
        own, parent, content = entry.uuid, entry.parent_uuid, message.content
        native, model, usage = message.id, message.model, bytes(message.usage)
        if content.__class__ is str:
            add((own, parent, kind, 0, "text", content, None, None, None, native, model, usage))
            continue
        place = -1
        for block in content or ():
            place += 1
            form = block.type
            if form == "tool_result":
                text = block.content if block.content.__class__ is str else blocks_text(block.content)
                call, failed = block.tool_use_id, block.is_error
                add((own, parent, kind, place, form, text, call, None, failed, native, model, usage))
            elif form == "tool_use":
                given, call = bytes(block.input), block.id
                add((own, parent, kind, place, form, given, call, block.name, None, native, model, usage))
            elif form == "text":
                add((own, parent, kind, place, form, block.text, None, None, None, native, model, usage))
    return rows


@pytest.mark.parametrize("kind", KINDS)
def test_parse_and_flatten(kind: str, tmp_path: Path) -> None:
    lines = lines_of(write(kind, tmp_path, 40))
    ours, theirs = flatten(map(parsed, lines)), dictionaries.flatten(lines)
    # A call's input and the counts are JSON text, which the two write with other spaces and escapes.
    assert [(*row[:5], *row[6:11]) for row in ours] == [(*row[:5], *row[6:11]) for row in theirs]
    assert [row[5] for row in ours if row[4] != "tool_use"] == [row[5] for row in theirs if row[4] != "tool_use"]
    del ours, theirs
    stored = [UnitRecord("", value["type"], START, body=encoded(value).decode()) for value in map(json.loads, lines)]
    bodies = [str(record.body) for record in stored]
    plain, typed, plain_stored, typed_stored = interleaved(
        [
            lambda: dictionaries.flatten(lines), lambda: flatten(map(parsed, lines)),
            lambda: dictionaries.flatten(bodies), lambda: flatten(map(understood, stored)),
        ],
        5,
    )  # fmt: skip
    say(f"{kind}: parse and flatten lines, typed / orjson dictionaries (>= 1.5)", f"{plain / typed:.2f}")
    say(f"{kind}: the same of stored records, as events are derived (>= 1.5)", f"{plain_stored / typed_stored:.2f}")


@pytest.mark.parametrize("kind", KINDS)
def test_end_to_end(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LORELAKE_JOBS", "1")
    paths = write(kind, tmp_path / "in", 40)
    lines = lines_of(paths)
    number = iter(range(100))

    def ours() -> None:
        night.ingest(tmp_path / "in", Lake(tmp_path / f"lake{next(number)}"))

    def theirs() -> None:
        dictionaries.ingest(paths, tmp_path / f"plain{next(number)}", night.REDACTOR)

    def bare() -> None:
        for line in lines:
            parsed(line)

    plain, whole, typed = interleaved([theirs, ours, bare], 3)
    size = sum(path.stat().st_size for path in paths) / 1e6
    say(f"{kind}: redacted raw and events / the same with dictionaries (>= 1.1)", f"{plain / whole:.2f}")
    say(f"{kind}: redacted raw and events / bare typed parsing (>= 0.06)", f"{typed / whole:.3f}")
    say(f"{kind}: MB per CPU-second to raw and events, on this machine", f"{size / whole:.1f}")


@pytest.mark.parametrize("kind", KINDS)
def test_redaction_of_transcripts(kind: str, tmp_path: Path) -> None:
    values = [json.loads(line) for line in lines_of(write(kind, tmp_path, 40))]
    size = sum(len(encoded(value)) for value in values) / 1e6

    def work() -> None:
        for start in range(0, len(values), 4000):
            night.REDACTOR.values(values[start : start + 4000])

    (took,) = interleaved([work], 3)
    say(f"{kind}: redaction with all rules, MB per CPU-second (>= 100)", f"{size / took:.0f}")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("megabytes", [100, 1000])
def test_processes_and_another_tool(kind: str, megabytes: int, tmp_path: Path) -> None:
    """Two processes against one; and both of ours against agentsview's cold sync of the same folder."""
    folder = tmp_path / "projects"
    write(kind, folder, megabytes)
    rounds = 2 if megabytes < 500 else 1
    both = [(run(folder, tmp_path / "one", 1), run(folder, tmp_path / "two", 2)) for _ in range(rounds)]
    one, two = min(o["wall"] for o, _ in both), min(t["wall"] for _, t in both)
    intake = min(o["plan"] for o, _ in both) / min(t["plan"] for _, t in both)
    say(f"{kind}, {megabytes} MB: intake on two processes / on one (>= 1.4)", f"{intake:.2f}")
    say(f"{kind}, {megabytes} MB: seconds on one process, on two, imports included", f"{one:.1f}, {two:.1f}")
    peak = max(max(o["own_mb"], o["child_mb"]) for pair in both for o in pair) / GIB
    say(f"{kind}, {megabytes} MB: peak memory of any process, GiB (<= 1)", f"{peak:.2f}")
    assert peak <= 1
    limit = 1.5 if megabytes < 500 else 0.8
    if AGENTSVIEW is None:
        say(f"{kind}, {megabytes} MB: against agentsview", "skipped: `pip install agentsview` beside this Python")
        return
    theirs = min(_sync(folder, tmp_path / f"theirs{number}") for number in range(rounds))
    say(f"{kind}, {megabytes} MB: ours on two processes / agentsview (<= {limit})", f"{two / theirs:.2f}")
    say(f"{kind}, {megabytes} MB: seconds of agentsview's cold sync", f"{theirs:.1f}")


def _sync(folder: Path, home: Path) -> float:
    home.mkdir()
    own = {"HOME": str(home), "AGENTSVIEW_DATA_DIR": str(home / "data"), "CLAUDE_PROJECTS_DIR": str(folder)}
    began = time.perf_counter()
    subprocess.run(
        [str(AGENTSVIEW), "sync"], check=True, capture_output=True,
        env={**os.environ, **own, "AGENTSVIEW_NO_DAEMON": "1"},
    )  # fmt: skip
    return time.perf_counter() - began


def test_a_line_of_twenty_megabytes(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    paths = transcripts.generate(folder, 1)
    record = json.loads(paths[0].read_bytes().splitlines()[1])
    record["message"]["content"] = "E 502 bad gateway, token=abc mail a@b.example\n" * 440_000
    with paths[0].open("ab") as stream:
        stream.write(json.dumps({**record, "uuid": "long"}).encode() + b"\n")
    assert paths[0].stat().st_size > 20_000_000
    took = run(folder, tmp_path / "lake", 1)
    say("peak memory with a line of 20 MB, GiB (<= 1)", f"{took['own_mb'] / GIB:.2f}")
    assert took["own_mb"] / GIB <= 1


@pytest.mark.skipif(not REAL, reason="the collection of real files is not here")
def test_parquet_of_real_files(tmp_path: Path) -> None:
    total = [0, 0]
    for source in ("claude-code", "codex"):
        lake = Lake(tmp_path / source)
        night.ingest(DATA / source, lake)
        sizes = [
            sum(path.stat().st_size for path in (DATA / source).rglob("*.jsonl")),
            sum(path.stat().st_size for path in lake.days(RAW_RECORDS)),
        ]
        total = [before + size for before, size in zip(total, sizes, strict=True)]
        say(f"{source}: bytes of JSONL / bytes of raw Parquet", f"{sizes[0] / sizes[1]:.2f}")
    say("both: bytes of JSONL / bytes of raw Parquet (>= 5)", f"{total[0] / total[1]:.2f}")


def test_an_unchanged_landing_zone(tmp_path: Path) -> None:
    folder, lake = tmp_path / "in", Lake(tmp_path / "lake")
    (text,) = (path.read_bytes() for path in transcripts.generate(tmp_path / "one", 0.002))
    for number in range(10_000):
        path = folder / f"p{number % 40}" / f"{number}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        day = (transcripts.START + timedelta(days=number % 100)).date().isoformat()
        path.write_bytes(re.sub(rb"2026-\d\d-\d\d(?=T)", day.encode(), transcripts.renamed(text, number + 1)))
    first = night.ingest(folder, lake)
    again = night.ingest(folder, lake)
    assert (first.read, again.read, again.days) == (10_000, 0, 0)
    say("10,000 unchanged files, seconds until that is known (<= 2)", f"{again.plan:.2f}")
    with path.open("ab") as stream:
        stream.write(path.read_bytes().splitlines()[1].replace(b'"uuid":"', b'"uuid":"x') + b"\n")
    grown = night.ingest(folder, lake)
    assert (grown.read, grown.days) == (1, 1)
    say(
        "one line more: files read, days rebuilt, seconds",
        f"{grown.read}, {grown.days}, {grown.plan + grown.events:.2f}",
    )
    say("one line more / the first time", f"{(grown.plan + grown.events) / (first.plan + first.events):.3f}")
