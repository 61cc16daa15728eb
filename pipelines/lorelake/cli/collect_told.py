"""What `lorelake collect` says: counts, and names that are the person's own business; never a word of a transcript."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import click

from lorelake.cli.collect_person import shown
from lorelake.cli.text_table import count, terminal_width, text_table
from lorelake.landing.agent_stores import AgentStore
from lorelake.landing.collect import Report
from lorelake.landing.collect_run import Outcome
from lorelake.landing.consent import Personal
from lorelake.landing.survey import Surveyed

FIRST = """\
Nothing is collected from this machine yet, and nothing is sent before you enable a project:

  lorelake collect status                    which projects have transcripts here
  lorelake collect dry-run PROJECT --to X    see what would be sent; X is a folder or s3://bucket/prefix
  lorelake collect enable PROJECT            from then on `lorelake collect` sends what is new of it"""


def projects_told(personal: Personal | None, found: Sequence[Surveyed]) -> Iterator[str]:
    """Every project with transcripts here, those that are sent first."""
    counts: Counter[str] = Counter()
    last: dict[str, str] = {}
    for each in found:
        name = each.place.project if each.place else "names no project"
        counts[name] += 1
        last[name] = max(last.get(name, ""), each.file.day.isoformat())
    given = {consent.project: f"sent since {consent.since[:10]}" for consent in personal.projects} if personal else {}
    given |= dict.fromkeys(personal.withdrawing, "withdrawn, not erased yet") if personal else {}
    rows = [
        (name, counts[name], last.get(name), given.get(name, "not sent"))
        for name in sorted({*counts, *given}, key=lambda name: (name not in given, -counts[name], name))
    ]
    if personal and personal.projects:
        yield f"To {shown(personal.deliver_to)} as {personal.person}, machine {personal.machine}\n"
    else:
        yield FIRST + "\n"
    yield table(("project", "transcripts", "last", ""), rows) if rows else "No transcripts were found on this machine."


def agents_told(stores: Sequence[AgentStore], found: Sequence[Surveyed]) -> str:
    """Every agent that is known, and what it left here."""
    days: dict[str, list[str]] = defaultdict(list)
    for each in found:
        days[each.file.store.format].append(each.file.day.isoformat())
    rows = [
        (
            store.agent, len(days[store.format]), max(days[store.format], default=None),
            str(store.path) + ("" if store.found else " (not here)"),
        )
        for store in stores
    ]  # fmt: skip
    return table(("agent", "transcripts", "last", "folder"), rows)


def table(names: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table as wide as the terminal."""
    return text_table(names, rows, terminal_width())


def outcome_told(outcome: Outcome, personal: Personal) -> Iterator[str]:
    """What a run did."""
    report = outcome.report
    if outcome.busy:
        yield "Another `lorelake collect` is at work; it does what there is to do."
        return
    if outcome.erased:
        yield f"Erased what was withdrawn: {count(outcome.erased, 'file')}"
    yield from sent_told(report)
    if not report.delivered:
        yield "Nothing new."
    else:
        yield f"Delivered to {shown(personal.deliver_to)}"
    yield from rest_told(report)


def sent_told(report: Report) -> Iterator[str]:
    """What was sent, or would be."""
    for agent, files in sorted(report.delivered.items()):
        yield f"{agent}: {count(files, 'transcript')}"
    if report.delivered:
        yield f"{count(report.lines, 'record')}, {report.bytes / 1e6:.1f} MB"
    if report.marks:
        yield "Hidden: " + ", ".join(f"{number} {kind}" for kind, number in sorted(report.marks.items()))


def rest_told(report: Report) -> Iterator[str]:
    """What was not sent, and why. Only counts: a run's output may be read by others than the person."""
    if report.left_out:
        told = ", ".join(f"{number} {reason}" for reason, number in sorted(report.left_out.items()))
        yield f"Left out, since it could not be redacted value by value: {told}"
    for files, why in (
        (report.held, "held back, since part of it is of a project that is not enabled, or of none"),
        (report.not_enabled, "of projects that are not enabled"),
        (report.no_project, "without a project"),
        (report.too_large, "too large"),
        (report.databases, "with the sessions of all projects in one database, which is not taken apart here"),
        (report.unreadable, "that cannot be read"),
        (report.vanished, "gone meanwhile"),
        (report.left_for_next, "left for the next run"),
    ):
        if files:
            yield f"Not sent: {count(files, 'file')} {why}"


def warn(warnings: Sequence[str]) -> None:
    """Warnings to standard error."""
    for warning in warnings:
        click.echo(f"warning: {warning}", err=True)
