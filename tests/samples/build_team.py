"""Builds what the sample team's files cannot be written by hand.

    python tests/samples/build_team.py learnings            team_sources/learnings  -> team/learnings.fast-export
    python tests/samples/build_team.py ledger               team/ledger.fast-export with no decision yet
    python tests/samples/build_team.py ledger LAKE          team_sources/ledger.yaml -> team/ledger.fast-export
    python tests/samples/build_team.py transcripts LAKE     team_sources/transcripts -> team/transcripts

Decisions and citations name items by ids that only a finished run can tell. The sources therefore name an item
by words of its title, of what it says to do, or of its quote, and LAKE is a lake in which a run over the sample
team has ended. Words that fit no item, or more than one learning, are an error.

Nothing here looks at a clock: authors, committers and dates come from the sources, so the same sources give the
same bytes. Needs git and PyYAML; LAKE needs polars too.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

SAMPLES = Path(__file__).resolve().parent
SOURCES = SAMPLES / "team_sources"
TEAM = SAMPLES / "team"
SHOWN_ID_LENGTH = len("lrn_") + 12
"""How much of an id people and agents are shown and type back."""

PLACEHOLDER = re.compile(r"\{\{claim:([^{}]+)\}\}")


@dataclass(frozen=True)
class Commit:
    """One commit of a sample repository: `files` maps a path to its new bytes."""

    author: str
    date: datetime
    message: str
    files: Mapping[str, bytes]
    delete: tuple[str, ...] = ()
    merge_by: str | None = None
    merge_date: datetime | None = None
    branch: str = ""


@dataclass
class Stream:
    """Input of `git fast-import`, one mark after the other."""

    parts: list[bytes] = field(default_factory=list)
    mark: int = 0

    def data(self, content: bytes) -> None:
        self.parts += [b"data %d\n" % len(content), content, b"\n"]

    def next_mark(self) -> int:
        self.mark += 1
        self.parts.append(b"mark :%d\n" % self.mark)
        return self.mark

    def blob(self, content: bytes) -> int:
        self.parts.append(b"blob\n")
        mark = self.next_mark()
        self.data(content)
        return mark

    def commit(
        self, author: tuple[str, datetime], committer: tuple[str, datetime], message: str, parents: list[int]
    ) -> int:
        self.parts.append(b"commit refs/heads/main\n")
        mark = self.next_mark()
        for role, (name, date) in ((b"author", author), (b"committer", committer)):
            self.parts.append(b"%s %s %d +0000\n" % (role, name.encode(), int(date.timestamp())))
        self.data(message.strip().encode() + b"\n")
        for keyword, parent in zip((b"from", b"merge"), parents, strict=False):
            self.parts.append(b"%s :%d\n" % (keyword, parent))
        return mark


def repository(commits: Iterable[Commit]) -> bytes:
    """The commits as a repository's `git fast-export --all`.

    A commit with `merge_by` lies beside main, its committer is its author, and the merge commit's author and
    committer are the person who merged.
    """
    stream = Stream()
    main: list[int] = []
    for commit in commits:
        changes = [b"M 100644 :%d %s\n" % (stream.blob(data), path.encode()) for path, data in commit.files.items()]
        changes += [b"D %s\n" % path.encode() for path in commit.delete]
        by = (commit.author, commit.date)
        side = stream.commit(by, by, commit.message, main)
        stream.parts += [*changes, b"\n"]
        if commit.merge_by is None or commit.merge_date is None:
            main = [side]
            continue
        merger = (commit.merge_by, commit.merge_date)
        main = [stream.commit(merger, merger, f"Merge branch '{commit.branch}'", [*main, side])]
        stream.parts += [*changes, b"\n"]
    with tempfile.TemporaryDirectory() as folder:
        git(folder, "init", "--quiet", "--bare", "--initial-branch=main", ".")
        git(folder, "fast-import", "--quiet", stdin=b"".join(stream.parts))
        return git(folder, "fast-export", "--all")


def git(folder: str, *arguments: str, stdin: bytes | None = None) -> bytes:
    """Run git in a folder without the settings of the machine."""
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["git", *arguments], cwd=folder, input=stdin, env=environment, capture_output=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"git {arguments[0]}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def read_yaml(path: Path) -> Any:
    import yaml

    return yaml.safe_load(path.read_text(encoding="utf-8"))


def instant(value: object) -> datetime:
    """A YAML timestamp or ISO text as UTC."""
    moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value).replace("Z", "+00:00"))
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def history_commit(entry: Mapping[str, Any], people: Mapping[str, str], files: Mapping[str, bytes]) -> Commit:
    """One entry of a `commits` or `decisions` list with the bytes it brings."""
    merge = entry.get("merge") or {}
    return Commit(
        author=people[entry["author"]],
        date=instant(entry["date"]),
        message=entry["message"],
        files=files,
        delete=tuple(entry.get("delete", ())),
        merge_by=people[merge["by"]] if merge else None,
        merge_date=instant(merge["date"]) if merge else None,
        branch=merge.get("branch", ""),
    )


def build_learnings(sources: Path) -> bytes:
    """The learnings repository that `history.yaml` tells of, as a fast-export stream."""
    history = read_yaml(sources / "history.yaml")
    commits = []
    for entry in history["commits"]:
        files = {path: (sources / source).read_bytes() for path, source in entry.get("files", {}).items()}
        commits.append(history_commit(entry, history["people"], files))
    return repository(commits)


@dataclass(frozen=True)
class Item:
    """One claim of a lake, with every text it may be named by."""

    claim_id: str
    learning_id: str
    content_key: str
    text_sha256: str
    signature: tuple[str, ...]
    texts: tuple[str, ...]


class Items:
    """The claims of a finished run, found by their words."""

    def __init__(self, items: Iterable[Item]) -> None:
        self.items = sorted(items, key=lambda item: item.claim_id)

    @classmethod
    def of_lake(cls, root: Path) -> Items:
        """Read `learnings/claims` and `evidence/signals` of a lake."""
        from lorelake.content.similarity import signature
        from lorelake.lake import Lake, read_table
        from lorelake.content.tombstones import witness_of
        from lorelake.tables import CLAIMS, SIGNALS

        lake = Lake(root)
        claims = read_table(CLAIMS, lake.table(CLAIMS)).to_dicts()
        if not claims:
            raise SystemExit(f"{lake.table(CLAIMS)} holds nothing: let a run over the sample team end first")
        found = read_table(SIGNALS, lake.days(SIGNALS) if SIGNALS.partitioned else lake.table(SIGNALS)).to_dicts()
        signals = {row["signal_id"]: row for row in found}
        return cls(
            Item(
                claim_id=row["claim_id"],
                learning_id=row["learning_id"],
                content_key=row["content_key"],
                text_sha256=row["text_sha256"],
                signature=tuple(signature(witness_of(signals[row["signal_id"]]))),
                texts=(row["title"], row["do"], signals[row["signal_id"]]["quote"]),
            )
            for row in claims
        )

    def find(self, words: str) -> Item:
        """The one item that these words name; a title alone decides where it fits whole.

        Raises:
            SystemExit: no item has these words, or items of several learnings have them.
        """
        wanted = folded(words)
        found = [item for item in self.items if wanted == folded(item.texts[0])]
        found = found or [item for item in self.items if any(wanted in folded(text) for text in item.texts)]
        if not found:
            raise SystemExit(f"no item has the words: {words}")
        if len({item.learning_id for item in found}) > 1:
            titles = "".join(f"\n  {item.claim_id[:SHOWN_ID_LENGTH]}  {item.texts[0]}" for item in found)
            raise SystemExit(f"more than one learning has the words: {words}{titles}")
        return next((item for item in found if item.claim_id == item.learning_id), found[0])


def folded(text: str) -> str:
    """Text without what Markdown, quotes, case and line breaks add to it."""
    return " ".join(re.sub(r"[`*_'’\"]", "", text).casefold().split())


def decision_file(entry: Mapping[str, Any], items: Items) -> bytes:
    """One `decisions/*.yaml` in the fields of `lorelake.formats.decisions.Decision`, without what the commit says."""
    import yaml

    item = items.find(entry["about"])
    content: dict[str, Any] = {
        "decision": entry["decision"],
        "learning": item.claim_id,
        "content_key": item.content_key,
        "text_sha256": item.text_sha256,
    }
    if entry["decision"] in {"reject", "forget"}:
        content["signature"] = list(item.signature)
    if "other" in entry:
        content["other"] = items.find(entry["other"]).claim_id
    if "new_text" in entry:
        content["new_text"] = entry["new_text"]
    content["reason"] = " ".join(entry["reason"].split())
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100).encode()


def build_ledger(source: Path, items: Items | None) -> bytes:
    """The team's decisions as a fast-export stream; only the README where no lake can name items yet."""
    ledger = read_yaml(source)
    people = ledger["people"]
    commits = [history_commit(ledger["start"], people, {"README.md": ledger["start"]["readme"].encode()})]
    for entry in ledger["decisions"] if items is not None else []:
        assert items is not None
        message = f"{entry['decision'].capitalize()}: {entry['about']}"
        file = {f"decisions/{entry['file']}.yaml": decision_file(entry, items)}
        commits.append(history_commit({**entry, "message": message}, people, file))
    return repository(commits)


def render(text: str, items: Items) -> str:
    """A source transcript with every `{{claim:words}}` replaced by the id as it is shown."""
    return PLACEHOLDER.sub(lambda match: items.find(match[1]).claim_id[:SHOWN_ID_LENGTH], text)


def build_transcripts(sources: Path, target: Path, items: Items) -> list[Path]:
    """Render every transcript below `sources` to the same place below `target`."""
    written = []
    for source in sorted(sources.rglob("*.jsonl")):
        rendered = render(source.read_text(encoding="utf-8"), items)
        for line in rendered.splitlines():
            json.loads(line)
        path = target / source.relative_to(sources)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(rendered, encoding="utf-8")
        written.append(path)
    return written


def main(arguments: list[str] | None = None) -> None:
    """Build one part of the sample team; prints what was written."""
    parser = argparse.ArgumentParser(description="Build the parts of the sample team that are not written by hand.")
    parts = parser.add_subparsers(dest="part", required=True)
    parts.add_parser("learnings", help="team/learnings.fast-export")
    parts.add_parser("ledger", help="team/ledger.fast-export").add_argument("lake", nargs="?", type=Path)
    parts.add_parser("transcripts", help="the transcripts that cite items").add_argument("lake", type=Path)
    chosen = parser.parse_args(arguments)

    def items() -> Items | None:
        return Items.of_lake(chosen.lake) if chosen.lake else None

    streams: dict[str, Callable[[], bytes]] = {
        "learnings": lambda: build_learnings(SOURCES / "learnings"),
        "ledger": lambda: build_ledger(SOURCES / "ledger.yaml", items()),
    }
    if chosen.part in streams:
        path = TEAM / f"{chosen.part}.fast-export"
        path.write_bytes(streams[chosen.part]())
        written = [path]
    else:
        written = build_transcripts(SOURCES / "transcripts", TEAM / "transcripts", Items.of_lake(chosen.lake))
    for path in written:
        sys.stdout.write(f"{path.relative_to(SAMPLES)}\n")


if __name__ == "__main__":
    main()
