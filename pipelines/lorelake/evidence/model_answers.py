"""A model's answers as they are kept: asked for once, stored beside the raw records, read like any other input.

An answer belongs to the question it was given for. When a unit says something new its question changes, and the old
answer no longer counts; turned off, nothing is asked, and what was answered before goes on counting.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from lorelake import served
from lorelake.content.redaction import Redactor
from lorelake.errors import SettingsError
from lorelake.evidence.model_ask import Asked, Reply, ask_all, asker
from lorelake.evidence.model_input import PROMPT, question
from lorelake.evidence.model_items import proposals
from lorelake.evidence.unit import EventRow, Signal, units_in
from lorelake.formats.record import digest
from lorelake.lake import Lake, frame, read_table, write_bytes, write_table
from lorelake.settings import Extract
from lorelake.tables import EVENTS, MODEL_ANSWERS

SOURCE = "model"
"""The folder of raw in which answers lie."""

LAST_ASKED = "model_asked.json"
_KEPT_AT_ONCE = 10
_ASKED_ABOUT = frozenset(("session", "thread", "merge_request"))


class Wanted(msgspec.Struct, frozen=True):
    """A question that has no answer yet."""

    key: str
    unit_id: str
    day: date
    text: str
    events: tuple[EventRow, ...]


def path_of(lake: Lake, day: date) -> Path:
    """Where the answers about one day's units lie."""
    return lake.table(MODEL_ANSWERS, day, SOURCE)


def of_day(lake: Lake, day: date) -> dict[str, list[dict[str, Any]]]:
    """Unit id to the rows of `tables.MODEL_ANSWERS` about it."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in read_table(MODEL_ANSWERS, path_of(lake, day)).iter_rows(named=True):
        found.setdefault(row["unit_id"], []).append(row)
    return found


def is_asked_about(session: Mapping[str, Any], as_of: date, private: bool) -> bool:
    """Whether a unit may be shown to a model: talk of people, silent for a day, and shared unless told otherwise."""
    return (
        session["unit_kind"] in _ASKED_ABOUT
        and session["ended"].date() < as_of
        and (private or served.is_shared(str(session["audience"])))
    )


def ask(
    lake: Lake,
    sessions: pl.DataFrame,
    settings: Extract,
    redactor: Redactor,
    as_of: date,
    progress: Callable[[Asked], None] = lambda asked: None,
) -> Asked:
    """Ask about every unit that has something new to say, newest days first, and keep what comes.

    Answers are written every few, so that a killed night loses little; days that are wholly answered are not looked at
    again until their events change. Settings that name no model which can be asked end the asking, and nothing else.
    """
    asked = Asked()
    if not (settings.endpoint or settings.command):
        return asked
    model = model_name(settings)
    may = {row["unit_id"] for row in sessions.iter_rows(named=True) if is_asked_about(row, as_of, settings.private)}
    state = lake.state / "model_days.json"
    known = msgspec.json.decode(state.read_bytes(), type=dict[str, str]) if state.exists() else {}
    hashes: dict[str, str] = {}
    open_questions: dict[str, Wanted] = {}
    for path in reversed(lake.days(EVENTS)):
        day = path.parent.name.removeprefix("day=")
        events = pl.scan_parquet(path)
        ids = sorted(may & set(events.select("unit_id").unique().collect()["unit_id"]))
        hashes[day] = digest(PROMPT, model, hashlib.sha256(path.read_bytes()).hexdigest(), *ids)
        if known.get(day) == hashes[day]:
            continue
        units = units_in(events.filter(pl.col("unit_id").is_in(ids)).collect())
        open_questions |= {one.key: one for one in wanted(units, of_day(lake, date.fromisoformat(day)), model)}
    try:
        asks = asker(settings)
    except SettingsError as error:
        asks, asked.left, asked.stopped = None, len(open_questions), " ".join(str(error).split())
    waiting: list[dict[str, Any]] = []
    try:
        texts = [(one.key, one.text) for one in open_questions.values()]
        for key, reply in ask_all(texts, asks, settings, asked, progress) if asks else ():
            row = row_of(open_questions.pop(key), reply, model, redactor, as_of)
            asked.unusable += not row["is_json"]
            asked.missing += row["missing"]
            waiting.append(row)
            if len(waiting) == _KEPT_AT_ONCE:
                keep(lake, waiting)
                waiting = []
    finally:
        keep(lake, waiting)
    left = {one.day.isoformat() for one in open_questions.values()}
    done = {day: value for day, value in hashes.items() if day not in left}
    write_bytes(state, msgspec.json.encode(done, order="sorted"))
    write_bytes(lake.state / LAST_ASKED, msgspec.json.encode(asked))
    return asked


def last_asked(lake: Lake) -> Asked | None:
    """How the latest asking went; None where no model was ever asked."""
    path = lake.state / LAST_ASKED
    return msgspec.json.decode(path.read_bytes(), type=Asked) if path.exists() else None


def model_name(settings: Extract) -> str:
    """What answers are kept under: the model's name, else the program's."""
    return settings.model or Path(settings.command[0]).name if settings.command or settings.model else ""


def wanted(
    units: Iterable[tuple[str, Sequence[EventRow]]], answered: Mapping[str, Sequence[Mapping[str, Any]]], model: str
) -> list[Wanted]:
    """The questions about units that `model` has not answered, in the order of `units`."""
    found = []
    for unit_id, events in units:
        asked = question(events)
        if asked is None:
            continue
        key = asked.key(model)
        if all(row["answer_key"] != key for row in answered.get(unit_id, ())):
            found.append(Wanted(key, unit_id, events[0].day, asked.text, tuple(events)))
    return found


def row_of(one: Wanted, reply: Reply, model: str, redactor: Redactor, as_of: date) -> dict[str, Any]:
    """The row an answer is kept as. Text that is no answer is kept too: it says that there is none."""
    answer = str(redactor.values([reply.text])[0])
    missing, unusable, is_json = 0, 0, True
    try:
        came_to = proposals(one.events, answer, model)
        missing, unusable = came_to.missing, came_to.unusable
    except ValueError:
        is_json = False
    return {
        "answer_key": one.key, "unit_id": one.unit_id, "unit_day": one.day, "model": model, "answer": answer,
        "is_json": is_json, "missing": missing, "unusable": unusable, "first_kept": as_of,
    }  # fmt: skip


def keep(lake: Lake, rows: Sequence[Mapping[str, Any]]) -> None:
    """Add answers to the files of their days."""
    by_day: dict[date, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_day.setdefault(row["unit_day"], []).append(row)
    for day, new in sorted(by_day.items()):
        path = path_of(lake, day)
        write_table(MODEL_ANSWERS, pl.concat([read_table(MODEL_ANSWERS, path), frame(MODEL_ANSWERS, new)]), path)


def signals(events: Sequence[EventRow], answers: Sequence[Mapping[str, Any]]) -> list[Signal]:
    """What the kept answers to a unit's question propose: those of the model asked last, of equals the smaller key.

    Args:
        events: the unit's events in `seq` order.
        answers: rows of `tables.MODEL_ANSWERS` about it, whatever they were asked.
    """
    asked = question(events) if answers else None
    if asked is None:
        return []
    fitting = [row for row in answers if row["is_json"] and row["answer_key"] == asked.key(row["model"])]
    if not fitting:
        return []
    latest = max(row["first_kept"] for row in fitting)
    row = min((row for row in fitting if row["first_kept"] == latest), key=lambda row: str(row["answer_key"]))
    found = proposals(events, row["answer"], row["model"]).signals
    return [msgspec.structs.replace(signal, known_from=row["first_kept"]) for signal in found]
