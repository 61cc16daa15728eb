"""The sample team is valid input, its quirks are the stated ones, and its built parts follow from their sources."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lorelake import settings
from lorelake.formats import decisions, markdown

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
TEAM, SOURCES = SAMPLES / "team", SAMPLES / "team_sources"
FIRST, LAST = date(2026, 3, 2), date(2026, 3, 20)
TRANSCRIPTS = sorted((TEAM / "transcripts").rglob("*.jsonl"))
BROKEN_LINES = {("e87dbd18-cca7-4176-a044-59fe661380f3.jsonl", 22), ("e87dbd18-cca7-4176-a044-59fe661380f3.jsonl", 37)}
PRIVATE_WORDS = ("saltmarsh", "heliotrope", "corncrake")
RESUMED, RESUMING = "780c4b16-a510-49fa-a2b2-bbd1c38dbe31", "7dfa7c26-d794-4374-8ad7-57b6173beda4"
STREAMS = ("learnings", "ledger")


@pytest.fixture(scope="module")
def build_team() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_team", SAMPLES / "build_team.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def records(path: Path) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if line and (path.name, number) not in BROKEN_LINES:
            yield json.loads(line)


def sample_files() -> list[Path]:
    """What belongs to the samples: a run beside them may have left its key and a lake."""
    files = (path for path in sorted(TEAM.rglob("*")) if path.is_file())
    return [path for path in files if not path.relative_to(TEAM).parts[0].startswith((".", "lake"))]


def git(folder: Path, *arguments: str, stdin: bytes = b"") -> str:
    return subprocess.run(["git", *arguments], cwd=folder, input=stdin, check=True, capture_output=True).stdout.decode()


def imported(folder: Path, stream: str) -> Path:
    git(folder, "init", "--quiet", "--bare", "--initial-branch=main", ".")
    git(folder, "fast-import", "--quiet", stdin=(TEAM / f"{stream}.fast-export").read_bytes())
    return folder


def test_the_settings_load_and_every_source_is_there() -> None:
    loaded = settings.load(TEAM / "lorelake.toml")
    assert loaded.nightly.as_of == LAST
    assert loaded.review.reviewers == ("mara", "ngozi")
    assert {project.id for project in loaded.projects} == set(loaded.recall.projects)
    assert [source.path for source in loaded.sources if not loaded.resolve(source.path).exists()] == []


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.name[:30])
def test_every_line_is_json_except_the_stated_ones(path: Path) -> None:
    broken = set()
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        try:
            json.loads(line or "{}")
        except ValueError:
            broken.add((path.name, number))
    assert broken == {place for place in BROKEN_LINES if place[0] == path.name}


@pytest.mark.parametrize(
    "path", sorted((TEAM / "transcripts" / "claude-code").rglob("*.jsonl")), ids=lambda p: p.name[:30]
)
def test_claude_records_hang_together(path: Path) -> None:
    seen: set[str] = set()
    for record in records(path):
        if "uuid" in record:
            assert record["parentUuid"] is None or record["parentUuid"] in seen
            seen.add(record["uuid"])


def test_the_resumed_session_copies_history_under_the_same_ids() -> None:
    folder = TEAM / "transcripts" / "claude-code" / "-home-aiko-src-harbour-web"
    first, later = (
        {r["uuid"] for r in records(folder / f"{name}.jsonl") if "uuid" in r} for name in (RESUMED, RESUMING)
    )
    assert len(first & later) > 30
    assert first - later, "the rewound branch is not copied"
    assert later - first, "the resumed session goes on"


def instants() -> Iterator[datetime]:
    for path in TRANSCRIPTS:
        yield from (parse(r["timestamp"]) for r in records(path) if "timestamp" in r)
    for path in sorted((TEAM / "slack").rglob("2026-*.json")):
        yield from (datetime.fromtimestamp(float(m["ts"]), UTC) for m in json.loads(path.read_text(encoding="utf-8")))
    for path in sorted((TEAM / "merge_requests").rglob("*json")):
        for stated in re.findall(
            r'"(?:created|updated|merged|closed|submitted)_at":"([^"]+)"', path.read_text("utf-8")
        ):
            yield parse(stated)
    for stream in STREAMS:
        for seconds in re.findall(
            rb"^committer .*> (\d+) \+0000$", (TEAM / f"{stream}.fast-export").read_bytes(), re.M
        ):
            yield datetime.fromtimestamp(int(seconds), UTC)


def parse(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(UTC)


def test_everything_happened_in_the_three_weeks() -> None:
    project_began = date(2025, 9, 1)
    days = [instant.date() for instant in instants() if instant.date() != project_began]
    assert len(days) > 700
    assert (min(days), max(days)) == (FIRST, LAST)


def test_slack_messages_lie_in_the_file_of_their_own_day() -> None:
    for path in sorted((TEAM / "slack").rglob("2026-*.json")):
        messages = json.loads(path.read_text(encoding="utf-8"))
        assert {datetime.fromtimestamp(float(m["ts"]), UTC).date().isoformat() for m in messages} == {path.stem}
        assert [m["ts"] for m in messages] == sorted(m["ts"] for m in messages)


def slack_threads() -> Iterator[list[dict[str, Any]]]:
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for path in sorted((TEAM / "slack").rglob("2026-*.json")):
        for message in json.loads(path.read_text(encoding="utf-8")):
            found.setdefault((path.parent.name, message.get("thread_ts", message["ts"])), []).append(message)
    yield from found.values()


def test_a_thread_is_in_chinese_between_two_people_and_one_answer_failed_again() -> None:
    threads = [[(one.get("user"), one["text"]) for one in thread] for thread in slack_threads()]
    chinese = [thread for thread in threads if re.search("[一-鿿]", thread[0][1])]
    assert [len({user for user, _ in thread}) for thread in chinese] == [2]
    assert [(thread[0][1][-1], thread[-1][1]) for thread in chinese] == [("。", "搞定了，谢谢！")]
    again = [thread for thread in threads if any("failed again" in text for _, text in thread)]
    assert [thread[2][1] for thread in again] == ["That worked, thanks!"]


def test_one_review_comment_stands_on_three_requests_by_two_reviewers() -> None:
    said: dict[str, set[tuple[str, str]]] = {}
    for path in sorted((TEAM / "merge_requests" / "github").rglob("comments.json")):
        for comment in json.loads(path.read_text(encoding="utf-8")):
            words = " ".join(re.findall(r"\w+", comment["body"].casefold()))
            said.setdefault(words, set()).add((path.parent.name, comment["user"]["login"]))
    ((words, places),) = ((words, places) for words, places in said.items() if len(places) > 1)
    assert words.startswith("please add a case for a marina outside berlin time")
    assert (len(places), {login for _, login in places}) == (3, {"maralind", "ngozi-ok"})


def test_private_words_stand_only_in_private_conversations() -> None:
    for path in sample_files():
        if path.parent.name not in ("people-ops", "D05MARANG"):
            text = path.read_text(encoding="utf-8").lower()
            assert [word for word in PRIVATE_WORDS if word in text] == [], path


@pytest.mark.parametrize("stream", STREAMS)
def test_the_streams_import_into_git(stream: str, tmp_path: Path) -> None:
    folder = imported(tmp_path, stream)
    git(folder, "fsck", "--strict")
    assert git(folder, "rev-parse", "main").strip()


def test_the_learnings_stream_follows_from_its_sources(build_team: ModuleType) -> None:
    assert build_team.build_learnings(SOURCES / "learnings") == (TEAM / "learnings.fast-export").read_bytes()


def test_most_learnings_are_merged_by_somebody_else(tmp_path: Path) -> None:
    folder = imported(tmp_path, "learnings")
    merges = git(folder, "log", "--merges", "--format=%ae %P", "main").splitlines()
    for merge in merges:
        merger, _, side = merge.split()
        assert git(folder, "log", "-1", "--format=%ae", side).strip() != merger
    alone = git(folder, "log", "--first-parent", "--no-merges", "--format=%s", "main").splitlines()
    assert len(merges) >= 14
    assert alone == ["Notes on the availability stampede", "Start the learnings repository"]


def test_at_least_six_scars_have_a_severity_and_two_counter_arguments() -> None:
    scars = 0
    learnings = (SOURCES / "learnings" / "learnings").rglob("*.md")
    for path in sorted(path for path in learnings if path.parent.name != "decisions"):
        text = path.read_text(encoding="utf-8")
        front, _ = markdown.frontmatter(text)
        assert len(front["title"]) <= 80, path
        against = re.findall(r"^- (\w+): (.{20,})", text.split("## When not")[1], re.M)
        if front["kind"] == "scar":
            assert front["severity"] in ("low", "medium", "high", "critical")
            assert len({words for _, words in against}) >= 2, path
            scars += path.name != "concurrent-index.v1.md"
    assert scars >= 6


def test_a_later_decision_record_replaces_a_part_of_an_earlier_one() -> None:
    earlier, later = sorted((SOURCES / "learnings" / "learnings").rglob("decisions/*.md"))
    for record in (earlier, later):
        assert re.search(r"^## Status\n\nAccepted$", record.read_text(encoding="utf-8"), re.M), record
    assert f"Supersedes the retention period of [ADR 3]({earlier.name})." in later.read_text(encoding="utf-8")


def test_decision_files_are_valid_and_every_kind_is_there(tmp_path: Path) -> None:
    folder = imported(tmp_path, "ledger")
    names = git(folder, "ls-tree", "-r", "--name-only", "main", "decisions/").splitlines()
    made = [decisions.parse(git(folder, "show", f"main:{name}"))["decision"] for name in names]
    expected = {"approve": 4, "reject": 1, "edit": 1, "endorse": 3, "forget": 1, "retire": 1, "dispute": 1}
    assert {kind: made.count(kind) for kind in set(made)} == expected
    authors = set(git(folder, "log", "--format=%an", "main").splitlines())
    assert "Pavel Stroud" in authors
    assert git(folder, "log", "--merges", "--format=%an", "main").splitlines() == ["Ngozi Okonkwo"]


def test_the_citing_transcripts_are_their_sources_with_ids_for_words() -> None:
    sources = sorted((SOURCES / "transcripts").rglob("*.jsonl"))
    assert len(sources) == 4
    for source in sources:
        built = (TEAM / "transcripts" / source.relative_to(SOURCES / "transcripts")).read_text(encoding="utf-8")
        fixed = re.split(r"\{\{claim:[^{}]+\}\}", source.read_text(encoding="utf-8"))
        pattern = r"lrn_[0-9a-f]{12}".join(map(re.escape, fixed))
        assert re.fullmatch(pattern, built), source.name


def test_nothing_names_a_folder_outside_the_teams_checkouts() -> None:
    for path in sample_files():
        homes = set(re.findall(r"/(?:home|Users|root)/[^/\"'\s]*", path.read_text(encoding="utf-8")))
        assert homes <= {f"/home/{person}" for person in ("mara", "ngozi", "jonas", "aiko")}, path


def test_the_samples_stay_small() -> None:
    files = [*sample_files(), *(path for path in SOURCES.rglob("*") if path.is_file())]
    assert sum(path.stat().st_size for path in files) < 700_000


def item(build_team: ModuleType, name: str, *texts: str, learning: str | None = None) -> Any:
    return build_team.Item(
        claim_id=f"lrn_{name * 32}", learning_id=f"lrn_{(learning or name) * 32}", content_key=name * 64,
        text_sha256=name * 64, signature=("0a",), texts=texts,
    )  # fmt: skip


def test_words_find_the_one_item_they_stand_in(build_team: ModuleType) -> None:
    title = "Build indexes concurrently"
    items = build_team.Items(
        [
            item(build_team, "a", title, "Use `CONCURRENTLY`.", "never lock bookings"),
            item(build_team, "b", f"{title}, then check", "Look at indisvalid.", "it was left invalid"),
        ]
    )
    assert items.find("NEVER  lock\nbookings").claim_id == "lrn_" + "a" * 32
    assert items.find("use concurrently").claim_id == "lrn_" + "a" * 32
    assert items.find(title).claim_id == "lrn_" + "a" * 32, "a whole title decides"
    with pytest.raises(SystemExit, match="more than one learning"):
        items.find("build indexes")
    with pytest.raises(SystemExit, match="no item has the words"):
        items.find("cache stampede")


def test_words_of_several_members_name_their_canonical_one(build_team: ModuleType) -> None:
    items = build_team.Items(
        [
            item(build_team, "a", "Count nights", "", "count nights by date", learning="b"),
            item(build_team, "b", "Nights", "", "always count nights by date"),
        ]
    )
    assert items.find("count nights by date").claim_id == "lrn_" + "b" * 32


def test_placeholders_become_short_ids(build_team: ModuleType) -> None:
    items = build_team.Items([item(build_team, "a", "Count nights", "", "by date")])
    assert build_team.render('{"ids":"{{claim:count nights}},{{claim:by date}}"}', items) == (
        '{"ids":"lrn_aaaaaaaaaaaa,lrn_aaaaaaaaaaaa"}'
    )


def test_a_rejection_carries_what_its_tombstone_needs(build_team: ModuleType) -> None:
    items = build_team.Items([item(build_team, "a", "Retry flaky tests", "", "retry them twice")])
    entry = {"decision": "reject", "about": "retry them twice", "reason": "it hides\n the race"}
    parsed = decisions.parse(build_team.decision_file(entry, items).decode())
    assert list(parsed.pop("signature")) == ["0a"]
    assert parsed == {
        "decision": "reject", "learning": "lrn_" + "a" * 32, "reason": "it hides the race", "content_key": "a" * 64,
        "text_sha256": "a" * 64,
    }  # fmt: skip
