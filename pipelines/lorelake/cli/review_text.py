"""What a reviewer reads: the queue, and one item with its quotes, history and what changed since an approval."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from lorelake.cli.review_items import SHOWN_ID, Age
from lorelake.cli.text_table import count, plain, terminal_width, text_table
from lorelake.served import Item, Reviewed, Wording

WHY = {
    "candidate": "nobody has looked at it yet",
    "risky": "it could do harm",
    "near_tombstone": "it is near something that was rejected",
    "disputed": "somebody says it is wrong",
    "text_changed": "it reads otherwise than a person approved",
    "source_gone": "a machine put its source away",
    "agent_refuted": "agents say it is wrong; that changes nothing by itself",
}
"""Why an item waits, in words."""
_FIELDS = ("title", "when", "do", "because", "not_when")


def listed(queue: Sequence[Reviewed], shown: Sequence[Reviewed], age: Age) -> str:
    """The queue as a table, with how long it waits."""
    if not queue:
        return "nothing waits for review"
    rows = [
        (
            one.item.learning_id[:SHOWN_ID], ", ".join(one.why), ", ".join(one.risks), one.reach, one.waiting_days,
            ", ".join(one.missing), one.item.title,
        )
        for one in shown
    ]  # fmt: skip
    names = ("id", "why", "risks", "reach", "days", "missing", "title")
    more = f"; {len(queue) - len(shown)} more (raise --limit)" if len(queue) > len(shown) else ""
    end = f"{count(age.items, 'item')} wait: the oldest {age.oldest} days, half of them {age.median} or more{more}"
    return f"{text_table(names, rows, terminal_width(), wrap_last=True)}\n\n{end}"


def whole(one: Reviewed) -> str:
    """One item with all there is to know of it."""
    return "\n".join(plain(line) for part in _whole(one) for line in part.split("\n"))


def _whole(one: Reviewed) -> Iterator[str]:
    item = one.item
    yield f"{item.learning_id}  {item.kind}  {item.state} ({one.state_reason})  trust: {item.trust}"
    yield f"audience {item.audience}, said by {item.said_by}, people: {item.people}, " + (
        f"sessions: {item.families}, confidence {item.confidence:.2f}"
    )
    yield ""
    yield from _words(item)
    if one.why:
        yield f"\nwaits {count(one.waiting_days or 0, 'day')}:"
        yield from (f"  {why}: {WHY[why]}" for why in one.why)
    for name, values in (("risks", one.risks), ("missing", one.missing)):
        if values:
            yield f"{name}: {', '.join(values)}"
    for near in one.near:
        yield f"near what {near.actor} rejected on {near.ts[:10]}" + (f": {near.reason}" if near.reason else "")
    if one.approved:
        yield "\nwhat changed since it was approved (- approved, + now):"
        yield from difference(one.approved, item)
    yield "\nquotes:"
    for quote in item.quotes:
        yield f"  {quote.said}  {quote.said_by} ({quote.actor_class})  {quote.source}"
        yield from (f"  | {line}" for line in quote.words.splitlines())
    yield "\nwhat let it in:"
    for seen in one.passed:
        found = "found again in the record" if seen.verified else "NOT found again in the record"
        place = f"characters {seen.start}-{seen.end}, {found}"
        yield f"  {seen.said[:10]}  {seen.kind}, admitted: {seen.rule or '-'}, {place}"
    yield "\nhistory:"
    for change in one.history:
        came = f"  [{change.because}]" if change.because else ""
        yield f"  {change.ts[:16]}  {change.what} by {change.actor}: {change.reason}{came}"
    if len(one.claims) > 1:
        yield "\nclaims:"
        yield from (f"  {claim}" for claim in one.claims)


def _words(item: Item) -> Iterator[str]:
    yield item.title
    for name in ("when", "do", "because", "rejected", "not_when", "applies_to", "self_check", "tags"):
        value = getattr(item, name)
        if value:
            yield f"  {name}: {'; '.join(value) if isinstance(value, tuple) else value}"
    if item.inferred:
        yield f"  (worded by a rule or a model: {', '.join(item.inferred)})"


def difference(approved: Wording, item: Item) -> Iterator[str]:
    """The words a person approved against those of now, line by line; `when` is bound by no approval, and shown."""
    for name in _FIELDS:
        before, now = _lines(getattr(approved, name)), _lines(getattr(item, name))
        if before != now:
            yield f"  {name}:"
            for line in difflib.ndiff(before, now):
                if line[0] in "+-":
                    yield f"    {line}"


def _lines(value: str | Sequence[str] | None) -> list[str]:
    return (value or "").splitlines() if isinstance(value, str | None) else list(value)
