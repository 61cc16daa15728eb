from __future__ import annotations

import hashlib
import io
import random
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lorelake.formats import aider, registry
from lorelake.formats.record import Capture, Event, Member, Record, Refusal, Unit, UnitRecord, canonical, in_order

GREETING = ("Aider v0.86.1", "Main model: gpt-4o with diff edit format", "Git repo: .git with 142 files")


class History:
    """Writes the file as aider does: two spaces end its own lines."""

    def __init__(self) -> None:
        self.text = ""

    def start(self, time: str = "2026-03-02 09:00:00", greeting: Iterable[str] = GREETING) -> History:
        self.text += f"\n# aider chat started at {time}\n\n"
        return self.told(*greeting)

    def said(self, prompt: str) -> History:
        self.text += "\n#### " + "  \n#### ".join(prompt.split("\n")) + "  \n"
        return self

    def answered(self, answer: str) -> History:
        self.text += f"\n{answer.strip()}\n\n"
        return self

    def told(self, *lines: str) -> History:
        self.text += "".join(f"> {line}  \n" for line in lines)
        return self

    def bytes(self) -> bytes:
        return self.text.encode()

    def events(self) -> list[Event]:
        return events_of(self.bytes())


def read(data: bytes) -> list[Record | Refusal]:
    member = Member(".aider.chat.history.md", len(data), lambda: io.BytesIO(data))
    return list(aider.read(Capture("app/.aider.chat.history.md", (member,), hashlib.sha256(data).hexdigest())))


def kept(items: Iterable[Record | Refusal]) -> list[Record]:
    return [item for item in items if isinstance(item, Record)]


def refused(items: Iterable[Record | Refusal]) -> list[str]:
    return [item.reason for item in items if isinstance(item, Refusal)]


def events_of(*captures: bytes) -> list[Event]:
    """The events of all units, in order of time."""
    units: dict[str, dict[tuple[str, str], Record]] = defaultdict(dict)
    for record in (record for data in captures for record in kept(read(data))):
        units[record.unit][record.id, canonical(record.value)] = record
    found: list[Event] = []
    earliest = datetime(2026, 3, 2, tzinfo=UTC)
    for unit, records in sorted(units.items()):
        stored = [UnitRecord(r.id, r.type, r.ts or earliest, r.value, "a", "2026-03-03") for r in records.values()]
        found += aider.events(Unit("aider", f"aider:{unit}", in_order(stored), None, None))
    return sorted(found, key=lambda event: event.ts)


def texts(events: Iterable[Event], kind: str) -> list[str]:
    return [event.text for event in events if event.kind == kind]


def said(events: Iterable[Event]) -> list[tuple[object, ...]]:
    return [(event.record_id, event.part, event.ts, event.kind, event.text) for event in events]


def talk() -> History:
    history = History().start().said("why does the nightly export fail?").answered("The bucket is missing.")
    history.told("Tokens: 2.9k sent, 40 received. Cost: $0.04 message, $0.09 session.", "Applied edit to export.py")
    history.said("use the staging bucket,\n\nnever production – größer").answered(
        "Done.\n\n#### Next\n\n> quoted\n\nBye."
    )
    return history.start("2026-03-03 18:00:00").said("push").answered("Pushed.")


# --- reading -------------------------------------------------------------------------------------------------


def test_a_launch_is_a_session_record_and_its_blocks() -> None:
    records = kept(read(talk().bytes()))
    assert [record.type for record in records] == [
        "session", "tool", "user", "assistant", "tool", "user", "assistant", "session", "tool", "user", "assistant",
    ]  # fmt: skip
    assert len({record.unit for record in records}) == 2
    assert all(record.ts_assumed for record in records)
    assert {record.ts for record in records} == {
        datetime(2026, 3, 2, 9, tzinfo=UTC), datetime(2026, 3, 3, 18, tzinfo=UTC),
    }  # fmt: skip
    facts = aider.facts(Unit("aider", "aider:x", [], None, None))
    assert (facts.kind, facts.agent, facts.cwds, facts.remote) == ("session", "aider", (), None)


def test_sniffing_goes_by_content_and_comes_before_documents() -> None:
    assert registry.sniff_member("notes.md", talk().bytes()[:8192]) == "aider"
    assert registry.sniff_member("x", b"\xef\xbb\xbf# aider chat started at 2024-01-01 00:00:00\r\n") == "aider"
    assert registry.sniff_member("notes.md", b"# aider chat started at noon\n") != "aider"


def test_a_history_without_its_beginning_is_no_document() -> None:
    cut = b"the rest of an answer\n\n" + talk().bytes()
    assert registry.sniff_member("app/.aider.chat.history.md", cut) == "aider"
    assert registry.sniff_member("app/notes.md", cut) == "documents"


def test_a_session_is_known_by_its_start_and_first_words_not_by_its_place() -> None:
    units = [record.unit for record in kept(read(talk().bytes())) if record.type == "session"]
    earlier = History().start("2026-01-01 08:00:00").said("first").answered("ok").bytes() + talk().bytes()
    assert [record.unit for record in kept(read(earlier)) if record.type == "session"][1:] == units
    assert [record.id for record in kept(read(earlier))][-11:] == [record.id for record in kept(read(talk().bytes()))]
    other = talk().bytes().replace(b"why does", b"how does")
    assert next(record.unit for record in kept(read(other)) if record.type == "session") != units[0]


def test_empty_sessions_are_accounted_and_say_nothing() -> None:
    history = (
        History()
        .start("2026-03-01 09:00:00", ())
        .start("2026-03-01 09:00:05")
        .told("^C again to exit", "^C KeyboardInterrupt")
    )
    items = read(history.start("2026-03-01 09:01:00", ()).bytes())
    assert [record.type for record in kept(items)] == ["session", "session", "tool", "session"]
    assert not refused(items)
    assert not history.events()


@pytest.mark.parametrize(
    ("data", "reasons", "blocks"),
    [
        (b"", ["empty"], 0),
        (b"\n \n", ["empty"], 0),
        (b"stray words\n" + talk().bytes(), ["no_unit"], 11),
        (talk().bytes().replace(b"2026-03-03", b"2026-13-03"), ["bad_time"], 10),
        (talk().bytes().replace("größer".encode(), b"gr\xf6\xdfer"), ["not_utf8"], 10),
        (talk().bytes()[:-1] + b"x", ["incomplete_tail"], 11),
    ],
)
def test_what_is_refused_costs_no_neighbour(data: bytes, reasons: list[str], blocks: int) -> None:
    items = read(data)
    assert (refused(items), len(kept(items))) == (reasons, blocks)


def test_a_session_past_the_limit_is_refused_and_the_next_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aider, "MAX_SESSION_BYTES", 300)
    history = History().start().said("a").answered("long\n" * 200).start("2026-03-04 09:00:00").said("b").answered("c")
    items = read(history.bytes())
    assert refused(items) == ["too_large"]
    assert texts(history.events(), "prompt") == ["b"]


def test_line_ends_of_another_system_make_no_other_session() -> None:
    assert said(events_of(talk().bytes().replace(b"\n", b"\r\n"))) == said(talk().events())


# --- what opens a session ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "quoted",
    [
        "see `# aider chat started at 2020-01-01 00:00:00`",
        "# aider chat started at 2020-01-01 00:00:00",
        "  # aider chat started at 2020-01-01 00:00:00",
    ],
)
def test_a_start_in_a_prompt_opens_no_session(quoted: str) -> None:
    events = History().start().said(f"```\n{quoted}\n```").answered("ok").events()
    assert texts(events, "prompt") == [f"```\n{quoted}\n```"]


@pytest.mark.parametrize(
    "line",
    [
        "# aider chat started at noon",
        "# aider chat started at 2020-01-01 00:00:00\nafter that",
        "## aider chat started at 2020-01-01 00:00:00",
    ],
)
def test_a_start_of_another_form_in_an_answer_opens_no_session(line: str) -> None:
    assert len(texts(History().start().said("go").answered(f"It says:\n\n{line}\n\nthere").events(), "answer")) == 1


def test_a_start_behind_half_a_line_of_a_killed_aider_opens_one() -> None:
    history = History().start().said("go")
    history.text += "\nhalf an ans"
    assert texts(history.start("2026-03-04 09:00:00").said("again").events(), "prompt") == ["go", "again"]


# --- whose words ---------------------------------------------------------------------------------------------


def test_prompts_answers_and_messages_keep_their_lines() -> None:
    events = talk().events()
    assert texts(events, "prompt") == [
        "why does the nightly export fail?", "use the staging bucket,\n\nnever production – größer", "push",
    ]  # fmt: skip
    assert texts(events, "answer") == ["The bucket is missing.", "Done.\n\n#### Next\n\n> quoted\n\nBye.", "Pushed."]
    assert {event.attributes["model"] for event in events if event.kind == "answer"} == {"gpt-4o"}
    assert [event.actor_class for event in events if event.kind == "prompt"] == ["human"] * 3
    kinds = [event.kind for event in events if event.ts.day == 2]
    assert kinds == ["other", "prompt", "answer", "other", "usage", "prompt", "answer"]


def test_two_prompts_without_an_answer_are_two() -> None:
    assert texts(History().start().said("first").said("second").events(), "prompt") == ["first", "second"]


@pytest.mark.parametrize(
    ("typed", "prompt", "command"),
    [
        ("/add src/app.py", None, "/add"), ("/run make test", None, "/run"), ("/exit", None, "/exit"),
        ("!make test", None, "!"), ("/ask why is it slow?", "why is it slow?", None), ("/ask", None, "/ask"),
        ("/architect split it\nin two", "split it\nin two", None), ("<blank>", None, None),
        ("/usr/bin/make is missing", "/usr/bin/make is missing", None),
    ],
)  # fmt: skip
def test_commands_state_nothing_unless_they_carry_a_prompt(typed: str, prompt: str | None, command: str | None) -> None:
    events = History().start().said(typed).answered("ok").events()
    assert texts(events, "prompt") == ([prompt] if prompt else [])
    injected = [event for event in events if event.kind == "injected"]
    assert [event.attributes["command"] for event in injected] == ([command] if command else [])


def test_an_answer_given_for_the_user_is_not_theirs() -> None:
    history = (
        History().start().said("go").answered("ok").said("Add file to the chat? (Y)es/(N)o/(A)ll/(S)kip all [Yes]: all")
    )
    assert texts(history.events(), "prompt") == ["go"]


def test_what_aider_echoes_of_its_command_line_is_nobodys_word() -> None:
    history = History()
    echo = "> aider --message # TASK\n\n#### Part one\n\nAlways push.\n docs/a.md  \n"
    history.text = f"\n# aider chat started at 2026-03-02 09:00:00\n\n{echo}"
    events = history.told(*GREETING).said("# TASK\n\n#### Part one\n\nAlways push.").answered("ok").events()
    assert texts(events, "prompt") == ["# TASK\n\n#### Part one\n\nAlways push."]
    assert texts(events, "answer") == ["ok"]


def test_a_history_whose_line_ends_were_trimmed_is_still_read() -> None:
    """No heading of an answer is a prompt: what cannot be told apart is the model's."""
    trimmed = b"\n".join(line.rstrip() for line in talk().bytes().split(b"\n"))
    assert texts(events_of(trimmed), "prompt") == texts(talk().events(), "prompt")
    history = History().start().said("go").answered("#### Never use pip\n\nReally.\n\n#### Always push")
    assert texts(events_of(history.bytes().replace(b"  \n", b"\n")), "prompt") == ["go"]


def test_tokens_and_interrupts() -> None:
    history = History().start().said("go").answered("so").told("^C KeyboardInterrupt")
    history.told(
        "Tokens: 12k sent, 1.5k cache write, 2M cache hit, 1,234 received. Cost: $0.05 message, $0.10 session."
    )
    events = history.events()
    (usage,) = [event for event in events if event.kind == "usage"]
    assert usage.attributes == {
        "tokens": {"input": 12_000, "output": 1234, "cache_write": 1500, "cache_read": 2_000_000},
        "cost": 0.05, "model": "gpt-4o", "rounded": True,
    }  # fmt: skip
    assert [event.actor_class for event in events if event.kind == "interrupt"] == ["human"]


# --- captures of one file ------------------------------------------------------------------------------------


def test_cut_anywhere_and_completed_it_counts_right() -> None:
    """faults 4: half a line is read again when it is whole."""
    whole = talk().bytes()
    expected = said(talk().events())
    for end in range(len(whole) - 200, len(whole)):
        items = read(whole[:end])
        assert ("incomplete_tail" in refused(items)) == (not whole[:end].endswith(b"\n"))
        assert len(kept(items)) <= 11
        assert said(events_of(whole[:end], whole)) == expected


@settings(max_examples=60, deadline=None)
@given(ends=st.lists(st.integers(0, len(talk().bytes())), max_size=5), first=st.booleans(), twice=st.booleans())
def test_captures_in_any_order_or_twice_give_the_same(ends: list[int], first: bool, twice: bool) -> None:
    whole = talk().bytes()
    cut = [whole[:end] for end in ends]
    captures = [whole, *cut] if first else [*cut, whole]
    assert said(events_of(*captures * (2 if twice else 1))) == said(talk().events())


@pytest.mark.parametrize("seed", range(3))
def test_damaged_bytes_never_raise(seed: int) -> None:
    chance, whole = random.Random(seed), talk().bytes()
    for _ in range(300):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 6)):
            place = chance.randrange(len(data))
            data[place : place + chance.randint(0, 3)] = chance.randbytes(chance.randint(0, 3))
        events_of(bytes(data))
