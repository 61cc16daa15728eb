"""The verbs of `lorelake review`: each writes one decision file, and nothing else.

The text hash, content key and signature that a decision needs come from the served release, as what the reviewer saw.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click
import msgspec

from lorelake import settings as settings_module
from lorelake.cli import decision_files, review_text
from lorelake.cli.review_items import Shelf, age, is_low_risk
from lorelake.cli.text_table import count
from lorelake.errors import LorelakeError, UsageError
from lorelake.formats.decisions import NewText
from lorelake.recall.reader import find_home, find_settings
from lorelake.served import Item, Reviewed
from lorelake.settings import Review, Settings

LISTS = ("not_when", "applies_to", "self_check", "tags")


class Desk:
    """Where a reviewer works: a lake, its settings, and the checkout decisions go to."""

    def __init__(self, home: Path | None, into: Path | None, settings_path: Path | None) -> None:
        self._home, self._into = home, into
        path = settings_path or find_settings()
        self.settings: Settings | None = settings_module.load(path) if path else None

    @property
    def root(self) -> Path:
        """The lake."""
        return self._home or find_home()

    @property
    def folder(self) -> Path:
        """The ledger's `decisions/`."""
        return decision_files.folder(self.settings, self._into)

    def shelf(self) -> Shelf:
        """The served release's items."""
        return Shelf(self.root)


class How(NamedTuple):
    """What every verb is told."""

    reason: str | None
    dry_run: bool
    commit: bool


def verb(command: Callable[..., None]) -> click.Command:
    """A command with the options that every verb has."""
    options = (
        click.option("--reason", metavar="WHY", help="Why, for somebody who was not there. Asked for on a terminal."),
        click.option("--dry-run", is_flag=True, help="Print the decision, and write nothing."),
        click.option("--commit", is_flag=True, help="Commit the file, and only it, under your Git identity."),
    )
    for option in reversed(options):
        command = option(command)
    return click.command()(click.pass_obj(command))


def _decide(desk: Desk, how: How, values: Mapping[str, Any]) -> None:
    """Write one decision, print where, and commit it if asked."""
    folder = None if how.dry_run else desk.folder
    reason = how.reason
    if not (reason or "").strip():
        if not sys.stdin.isatty():
            raise UsageError("a decision needs a reason", remedy='--reason "..."')
        reason = str(click.prompt("Why"))
    whole = {"decision": values["decision"], **{k: v for k, v in values.items() if k != "decision"}, "reason": reason}
    if folder is None:
        click.echo(decision_files.text(whole), nl=False)
        return
    path = decision_files.write(folder, whole)
    click.echo(f"written: {path}")
    if how.commit:
        about = values.get("learning") or values.get("target") or count(len(values.get("items", ())), "item")
        decision_files.commit(path, f"{str(values['decision']).capitalize()} {about}\n\n{reason}")
        click.echo("committed; it counts with the first night after it is on the protected ref")
    else:
        click.echo("commit it; it counts with the first night after it is on the protected ref")


def _entry(shelf: Shelf, one: Reviewed, decision: str) -> dict[str, Any]:
    """What a decision says of one item."""
    entry: dict[str, Any] = {"learning": one.item.learning_id, "content_key": one.item.content_key}
    if decision == "reject":
        return {**entry, "signature": list(shelf.signature(one))}
    return {**entry, "text_sha256": one.item.text_sha256} if decision == "approve" else entry


def _several(shelf: Shelf, found: Sequence[Reviewed], decision: str) -> dict[str, Any]:
    entries = [{k: v for k, v in _entry(shelf, one, decision).items() if v} for one in found]
    return entries[0] if len(entries) == 1 else {"items": entries}


def _find(shelf: Shelf, names: Sequence[str]) -> list[Reviewed]:
    found = {one.item.learning_id: one for one in (shelf.find(name) for name in names)}
    if not found:
        raise UsageError("nothing is named", remedy="give an id, as `lorelake review` lists them")
    return list(found.values())


@verb
@click.argument("items", nargs=-1, metavar="ID...")
@click.option("--set", "changes", multiple=True, metavar="FIELD=VALUE", help="Approve it in these words.")
@click.option("--revalidate-by", type=click.DateTime(["%Y-%m-%d"]), help="Day by which it must be looked at again.")
@click.option("--low-risk", is_flag=True, help="All that wait for no more than a first look; never a risk or dispute.")
@click.option("--max", "most", type=click.IntRange(1), help="With --low-risk: how many; review.batch_ceiling at most.")
@click.option("--yes", is_flag=True, help="With --low-risk: do not ask.")
def approve(
    desk: Desk, items: tuple[str, ...], changes: tuple[str, ...], revalidate_by: Any, low_risk: bool, most: int | None,
    yes: bool, **how: Any,
) -> None:  # fmt: skip
    """Say that items are right as they read now. An approval holds for that text only.

    \b
    lorelake review approve lrn_4f21 --reason "Checked against deploy.sh."
    lorelake review approve --low-risk --max 10 --reason "Read each of them."
    """
    shelf = desk.shelf()
    if low_risk == bool(items):
        raise UsageError("give ids, or --low-risk", remedy="`lorelake review approve --help`")
    if most and not low_risk:
        raise UsageError("--max goes with --low-risk")
    found = _low_risk(desk, shelf, most, yes or how["dry_run"]) if low_risk else _find(shelf, items)
    if changes and len(found) > 1:
        raise UsageError("--set words one item at a time")
    values = {"decision": "approve", **_several(shelf, found, "approve"), "new_text": _changed(found[0].item, changes)}
    _decide(desk, How(**how), values | {"revalidate_by": revalidate_by and revalidate_by.date().isoformat()})


def _low_risk(desk: Desk, shelf: Shelf, most: int | None, yes: bool) -> list[Reviewed]:
    ceiling = (desk.settings.review if desk.settings else Review()).batch_ceiling
    if most and most > ceiling:
        raise UsageError(f"at most {ceiling} at once", remedy="`review.batch_ceiling` sets it")
    queue = [one for one in shelf.queue() if is_low_risk(one)]
    found = queue[: most or ceiling]
    if not found:
        raise LorelakeError("nothing of low risk waits", remedy="`lorelake review` lists what waits")
    click.echo(review_text.listed(queue, found, age(queue)))
    if not yes:
        if not sys.stdin.isatty():
            raise UsageError("nobody is here to confirm it", remedy="give --yes, or --dry-run to look only")
        if not click.confirm(f"\nApprove these {len(found)}?", default=False):
            raise LorelakeError("nothing was written")
    return found


@verb
@click.argument("items", nargs=-1, metavar="ID...")
@click.option("--reach", metavar="AUDIENCE", help="Keep it out of this audience only, such as `project:web`.")
def reject(desk: Desk, items: tuple[str, ...], reach: str | None, **how: Any) -> None:
    """Keep items out of memory, in whatever words they return.

    \b
    lorelake review reject lrn_4f21 --reason "A retried test hides the race it found."
    """
    shelf = desk.shelf()
    values = _several(shelf, _find(shelf, items), "reject")
    _decide(desk, How(**how), {"decision": "reject", **values, "reach": reach})


@verb
@click.argument("items", nargs=-1, metavar="ID...")
def retire(desk: Desk, items: tuple[str, ...], **how: Any) -> None:
    """Put away items that were right once. The same may be learned again."""
    shelf = desk.shelf()
    _decide(desk, How(**how), {"decision": "retire", **_several(shelf, _find(shelf, items), "retire")})


@verb
@click.argument("item", metavar="ID")
@click.option(
    "--set", "changes", multiple=True, metavar="FIELD=VALUE", help="A field; repeat for each entry of a list."
)
@click.option("--revalidate-by", type=click.DateTime(["%Y-%m-%d"]), help="Day by which it must be looked at again.")
def edit(desk: Desk, item: str, changes: tuple[str, ...], revalidate_by: Any, **how: Any) -> None:
    """Word an item otherwise: the fields given, else in your editor. Its quotes stay as they are.

    \b
    lorelake review edit lrn_4f21 --set title="Tests write to tmp_path" --set tags=tests --set tags=pytest
    """
    one = desk.shelf().find(item)
    changed = _changed(one.item, changes) if changes else _from_editor(one.item)
    if not changed:
        raise LorelakeError("nothing was changed, and nothing was written")
    values = {"decision": "edit", **_entry(desk.shelf(), one, "approve"), "new_text": changed}
    _decide(desk, How(**how), values | {"revalidate_by": revalidate_by and revalidate_by.date().isoformat()})


def _changed(item: Item, changes: Sequence[str]) -> dict[str, Any]:
    """`field=value` pairs as new text; several of a list's field are its entries."""
    found: dict[str, Any] = {}
    for change in changes:
        field, equals, value = change.partition("=")
        if not equals or field not in NewText.__struct_fields__:
            raise UsageError(f"`{change}` sets no field", remedy=f"fields: {', '.join(NewText.__struct_fields__)}")
        if field in LISTS:
            found.setdefault(field, []).append(value)
        elif field in found:
            raise UsageError(f"`{field}` is set twice")
        else:
            found[field] = value
    return {field: value for field, value in found.items() if value != _now(item)[field]}


def _now(item: Item) -> dict[str, Any]:
    fields = {field: getattr(item, field) for field in NewText.__struct_fields__}
    return {field: list(value) if isinstance(value, tuple) else value for field, value in fields.items()}


def _from_editor(item: Item) -> dict[str, Any]:
    import yaml

    from lorelake.formats.strict_yaml import YamlError, load

    now = _now(item)
    head = "# Change what should read otherwise, save and close. What you leave as it is stays.\n"
    text = click.edit(head + yaml.safe_dump(now, sort_keys=False, allow_unicode=True, width=100), extension=".yaml")
    if text is None:
        return {}
    try:
        changed = {field: value for field, value in load(text).items() if value is not None and value != now.get(field)}
        msgspec.convert(changed, NewText)
    except (YamlError, msgspec.ValidationError) as error:
        raise UsageError(f"what you saved does not fit: {error}", remedy="nothing was written") from None
    return changed


@verb
@click.argument("item", metavar="ID")
@click.argument("other", metavar="OTHER")
def merge(desk: Desk, item: str, other: str, **how: Any) -> None:
    """Say that ID says the same as OTHER, which goes on being served. Of one audience only.

    \b
    lorelake review merge lrn_4f21 lrn_9a07 --reason "Both are about the lock timeout."
    """
    shelf = desk.shelf()
    one, into = shelf.find(item), shelf.find(other)
    if one.item.learning_id == into.item.learning_id:
        raise UsageError("both are one item already")
    if one.item.audience != into.item.audience:
        raise UsageError(
            f"{one.item.audience} and {into.item.audience}: items of two audiences are never one",
            remedy="approve or retire them one by one",
        )
    if "rejected" in (one.item.state, into.item.state):
        raise UsageError("one of them was rejected; what is merged with it would go with it", remedy="restore it first")
    _decide(desk, How(**how), _pair("merge", one, into))


@verb
@click.argument("item", metavar="ID")
@click.argument("claims", nargs=-1, required=True, metavar="CLAIM...")
def split(desk: Desk, item: str, claims: tuple[str, ...], **how: Any) -> None:
    """Take claims out of an item: they say something else. `show` lists the claims of an item."""
    shelf = desk.shelf()
    one = shelf.find(item)
    leaving = list(dict.fromkeys(shelf.claim(one, claim) for claim in claims))
    if len(leaving) == len(one.claims):
        raise UsageError("no claim would stay", remedy="name those that leave")
    _decide(desk, How(**how), {"decision": "split", "learning": one.item.learning_id, "claims": leaving})


@verb
@click.argument("item", metavar="ID|TARGET")
def restore(desk: Desk, item: str, **how: Any) -> None:
    """Take back a rejection, a retirement or a supersession of an item, or the dismissal of a thread or topic."""
    if not item.startswith("lrn_"):
        _decide(desk, How(**how), {"decision": "restore", "target": item})
        return
    one = desk.shelf().find(item).item
    _decide(desk, How(**how), {"decision": "restore", "learning": one.learning_id, "content_key": one.content_key})


@verb
@click.argument("target", metavar="TARGET")
@click.option("--content-key", metavar="SHA256", help="Key of its words, so that it stays dismissed under another id.")
def dismiss(desk: Desk, target: str, content_key: str | None, **how: Any) -> None:
    """Dismiss a thread (thr_...), a topic, or a proposal (pro_...) by its id."""
    if target.startswith("lrn_"):
        raise UsageError("an item is rejected or retired, not dismissed")
    _decide(desk, How(**how), {"decision": "dismiss", "target": target, "content_key": content_key})


@verb
@click.argument("item", metavar="OLD")
@click.argument("other", metavar="NEW")
def supersede(desk: Desk, item: str, other: str, **how: Any) -> None:
    """Say that NEW replaces OLD. A question for OLD is answered with NEW."""
    shelf = desk.shelf()
    old, new = shelf.find(item), shelf.find(other)
    if old.item.learning_id == new.item.learning_id:
        raise UsageError("an item does not replace itself")
    _decide(desk, How(**how), _pair("supersede", old, new))


def _pair(decision: str, one: Reviewed, other: Reviewed) -> dict[str, Any]:
    return {"decision": decision, "learning": one.item.learning_id, "other": other.item.learning_id}


def _plain_verb(decision: str, words: str) -> click.Command:
    """A verb on one item that says nothing more."""

    @click.argument("item", metavar="ID")
    def command(desk: Desk, item: str, **how: Any) -> None:
        one = desk.shelf().find(item)
        _decide(desk, How(**how), {"decision": decision, **_entry(desk.shelf(), one, "approve")})

    command.__doc__ = words
    made = verb(command)
    made.name = decision
    return made


VERBS: tuple[click.Command, ...] = (
    approve, edit, reject, merge, split, retire, restore, dismiss, supersede,
    _plain_verb("endorse", "Vote for an item: it held when it was used."),
    _plain_verb("dispute", "Say that an item is wrong. An unreviewed one leaves memory until somebody rules on it."),
    _plain_verb("pin", "Keep an item from fading and from proposals to prune it. Delete the file to unpin it."),
)  # fmt: skip
"""Every verb that writes."""
