"""`explain`: from an item to its file, over a lake, over a release's tables, and over an index alone."""

from __future__ import annotations

import hashlib
import json
import shutil
from datetime import UTC, date, datetime

import pytest

from lorelake.cli import run
from lorelake.evidence.gates import RULES

DAY = date(2026, 3, 10)
QUESTION, ELSEWHERE = "5" * 32, "6" * 32
GATES = [rule for rule in RULES if rule != "admitted"]


def signal_id(name):
    return hashlib.sha256(f"s{name}".encode()).hexdigest()[:32]


@pytest.fixture(scope="module")
def home(tmp_path_factory, make_night, publish_night, settings, learning_of):
    """A published night with the lake it came from: claims, signals, raw records, and one file of its sources."""
    from lorelake.lake import Lake, frame, write_table
    from lorelake.tables import TABLES

    root = tmp_path_factory.mktemp("explain")
    lake, night = Lake(root / "lake"), make_night()
    alias = "lrn_" + "ab" * 16
    night.put("aliases", reference=alias, learning_id=learning_of("pnpm"), basis="claim", audience="project:harbour")
    night.put("aliases", reference="lrn_" + "cd" * 16, learning_id=None, basis="forgotten", audience="team")
    night.file_under("pnpm", "topic/package_managers")
    night.put(
        "learning_events", learning_id=learning_of("pnpm"), from_state=None, to_state="active", reason="stated",
        actor="mara", evidence=signal_id("pnpm"),
    )  # fmt: skip
    night.put(
        "supersession", older_id=learning_of("pnpm"), newer_id=learning_of("review"), reason="explicit",
        status="in_part", partial=True, part="the flags", quote="This replaces the flags of our install rule.",
        actor="mara", evidence="docs/adr/9.md@1",
    )  # fmt: skip
    by_id = {row["learning_id"]: row for row in night.rows["learnings"]}
    by_id[learning_of("pnpm")]["replaced_parts"] = [learning_of("review") + ": the flags"]
    claims, signals = [], []
    for entry in night.rows["learning_evidence"]:
        learning = by_id[entry["learning_id"]]
        claims.append(row_of("claims", claim_id=entry["claim_id"], signal_id=entry["signal_id"], is_canonical=True,
                             learning_id=entry["learning_id"], trust_basis="stated"))  # fmt: skip
        signals.append(signal(entry["signal_id"], entry["quote"], learning["audience"], entry["source_uri"]))
    claims.append(row_of("claims", claim_id=alias, signal_id=signal_id("again"), learning_id=learning_of("pnpm")))
    signals.append(
        signal(signal_id("again"), "again: pnpm, and never npm here", "project:harbour", "notes/again.jsonl:3")
    )
    signals[-1]["payload"] = json.dumps(
        {
            "item": {},
            "seen": {"cue": "never", "question": QUESTION, "comment": ELSEWHERE, "shared": [], "former": {"a": 1}},
        }
    )
    signals.append(signal(signal_id("refused"), "the build is red right now", "team", "claude-code/x.jsonl:9"))
    signals.append(signal(signal_id("elsewhere"), "lanternmark is red right now", "project:lantern", "x.jsonl:9"))
    night.put("admissions", signal_id=signal_id("again"), admitted=True, rule="admitted")
    for name in ("refused", "elsewhere"):
        night.put("admissions", signal_id=signal_id(name), admitted=False, rule="volatile_fact", detail="right_now")
    night.rows["signals"] = signals
    publish_night(lake, settings, night)
    for name, rows in (
        ("claims", claims),
        ("admissions", night.rows["admissions"]),
        ("sessions", night.rows["sessions"]),
    ):
        write_table(TABLES[name], frame(TABLES[name], rows), lake.table(TABLES[name]))
    asked = row_of("events", event_id=QUESTION, unit_id="claude_code:s1", text="npm or pnpm?", actor="jonas")
    other = row_of("events", event_id=ELSEWHERE, unit_id="claude_code:s2", text="lanternmark?", actor="jonas")
    write_table(TABLES["events"], frame(TABLES["events"], [asked, other]), lake.table(TABLES["events"], DAY))
    write_table(TABLES["ledger"], frame(TABLES["ledger"], night.rows["ledger"]), lake.table(TABLES["ledger"]))
    write_table(TABLES["signals"], frame(TABLES["signals"], signals), lake.table(TABLES["signals"], DAY))
    raw = row_of("raw_records", source="claude_code", source_uri="claude-code/pnpm.jsonl:7", person_hint="mara")
    write_table(
        TABLES["raw_records"],
        frame(TABLES["raw_records"], [raw]),
        lake.table(TABLES["raw_records"], DAY, "claude_code"),
    )
    (root / "claude-code").mkdir()
    (root / "claude-code" / "pnpm.jsonl").write_text("{}\n")
    (root / "lorelake.toml").write_text(
        '[team]\nid = "harbour-team"\n[[sources]]\npath = "claude-code"\n[recall]\nprojects = ["harbour"]\n'
    )
    return root


def row_of(table, **values):
    from lorelake.tables import TABLES

    plain = {
        "str": "",
        "int": 0,
        "float": 0.5,
        "bool": False,
        "ts": datetime(2026, 3, 10, 12, tzinfo=UTC),
        "date": DAY,
        "list[str]": [],
    }
    made = {c.name: None if c.nullable else c.values[0] if c.values else plain[c.base] for c in TABLES[table].columns}
    assert not values.keys() - made.keys()
    return made | values


def signal(id_, quote, audience, uri):
    return row_of(
        "signals", signal_id=id_, kind="correction", unit_id="claude_code:s1", family_id="f1", quote=quote,
        quote_verified=True, actor="mara", actor_class="human", audience=audience, source_uri=uri, day=DAY,
        payload=json.dumps({"item": {"do": quote}, "seen": {}}),
    )  # fmt: skip


@pytest.fixture
def call(home, monkeypatch, capsys):
    def called(*arguments: str, at=home, lake=None) -> tuple[int, str, str]:
        monkeypatch.chdir(at)
        monkeypatch.delenv("LORELAKE_HOME", raising=False)
        code = run(["explain", *arguments, *(["--home", str(lake)] if lake else [])])
        return code, *capsys.readouterr()

    return called


def test_an_item_is_traced_to_claim_signal_record_raw_and_file(call, home, learning_of):
    code, out, _ = call(learning_of("pnpm"))
    assert code == 0
    steps = [
        "Use pnpm, never npm", "state       active", "trust       stated", "confidence  0.70",
        "votes: 1 agent recalled", "Filed under", "topic/package_managers", "2 claims, 2 signals",
        "its words are the item's", f"signal {signal_id('pnpm')}",
        'said    "no, we use pnpm here, not npm: harbourmark"', "record  claude-code/pnpm.jsonl:7",
        "raw     raw/claude_code/day=2026-03-10/raw_records.parquet", f"file    {home}/claude-code/pnpm.jsonl, line 7",
        f"gates   admitted: {len(GATES)} passed", "an alias", f"signal {signal_id('again')}",
    ]  # fmt: skip
    places = [out.index(step) for step in steps]
    assert places == sorted(places), [steps[n] for n in range(1, len(steps)) if places[n] < places[n - 1]]


def test_what_was_replaced_in_part_is_named_first_and_with_the_words_that_say_so(call, learning_of):
    _, out, _ = call(learning_of("pnpm"))
    newer = learning_of("review")[:16]
    steps = [
        f"no longer holds: the flags (replaced by {newer})", "do (as far as it still holds): Run pnpm",
        f"replaced in part by {newer} (Ask for a second reader on migrations): explicit, by mara",
        'said      "This replaces the flags of our install rule."', "record    docs/adr/9.md@1",
    ]  # fmt: skip
    places = [out.index(step) for step in steps]
    assert places == sorted(places)
    _, out, _ = call(learning_of("review"))
    assert f"replaces in part {learning_of('pnpm')[:16]} (Use pnpm, never npm" in out
    assert "no longer holds" not in out
    _, out, _ = call(learning_of("review"), "--audience", "team")
    assert f"replaces in part {learning_of('pnpm')[:16]}: explicit" in out, "no title of what is not the reader's"


def test_what_the_rule_went_by_is_told_with_the_words_of_what_it_names(call, learning_of):
    _, out, _ = call(signal_id("again"))
    assert f"saw     cue never; comment {ELSEWHERE}\n" in out, "nothing empty, and no words of another unit"
    assert 'saw     question: "npm or pnpm?" (jonas, 2026-03-10)' in out
    _, out, _ = call(signal_id("refused"))
    assert "saw  " not in out


def test_what_the_record_leaves_unsaid_is_told_as_assumed(call, learning_of):
    _, out, _ = call(learning_of("pnpm"))
    assert "assumed where it states none: person mara; it states no time" in out
    _, out, _ = call(signal_id("again"))
    assert "assumed" not in out


def test_every_gate_is_named_in_its_order_with_what_it_saw(call, learning_of):
    code, out, _ = call("--json", learning_of("pnpm"))
    gates = json.loads(out)["claims"][0]["signals"][0]["gates"]
    assert code == 0
    assert [gate["rule"] for gate in gates] == GATES
    assert {gate["outcome"] for gate in gates} == {"passed"}
    saw = {gate["rule"]: gate["saw"] for gate in gates}
    assert saw["too_short"] == "8 words"
    assert saw["no_witness"] == "quote found again; said by human mara"
    assert all(saw[rule] for rule in GATES)


def test_a_file_or_record_that_is_gone_is_told(call, learning_of):
    _, out, _ = call(learning_of("paths"))
    assert "claude-code/paths.jsonl  (no longer there)" in out
    assert "(no longer kept there; the quote and its hash remain)" in out
    _, out, _ = call(learning_of("pnpm"))
    assert "file    not on this machine, as far as the settings here tell" in out  # notes/ is no source


def test_a_refused_signal_tells_its_gate_and_those_it_passed_before(call):
    code, out, _ = call(signal_id("refused"))
    assert code == 0
    place = GATES.index("volatile_fact")
    assert f"gates   refused: {place} passed, {len(GATES) - place - 1} gates not asked" in out
    marks = [line.split()[:2] for line in out.splitlines() if line.strip()[:1] in "✓✗"]
    assert marks == [*(["✓", rule] for rule in GATES[:place]), ["✗", "volatile_fact"]]
    assert f"right_now  ({RULES['volatile_fact']})" in out


def test_an_alias_and_a_prefix_lead_to_the_item(call, learning_of):
    _, out, _ = call("lrn_" + "ab" * 16)
    assert "Use pnpm, never npm" in out
    assert "is an alias of it" in out
    assert call(learning_of("pnpm")[:12])[1].splitlines()[0] == "Use pnpm, never npm, to install packages"


def test_what_is_not_the_readers_is_not_found_and_its_project_is_named(call, learning_of):
    code, out, err = call(learning_of("cache"))
    assert (code, out) == (1, "")
    assert "searched team, project:harbour" in err
    assert "`--project lantern` reads it" in err
    assert "lanternmark" not in err
    assert "lanternmark" in call(learning_of("cache"), "--project", "lantern")[1]
    assert call(signal_id("elsewhere"))[0] == 1


def test_a_private_audience_is_found_only_when_named(call, learning_of):
    code, out, err = call(learning_of("secret_plan"))
    assert (code, out) == (1, "")
    assert "C0PRIVATE" not in err
    assert "ochremark" not in err
    _, out, _ = call(learning_of("secret_plan"), "--audience", "channel:C0PRIVATE")
    assert "do not put the ochremark figures" in out


def test_what_was_forgotten_is_told_without_its_words(call, learning_of):
    for arguments in ([learning_of("gone")], ["--json", learning_of("gone")], [signal_id("gone")]):
        code, out, _ = call(*arguments)
        assert code == 0
        assert "forgetmark" not in out
    assert "it was forgotten: its words are shown nowhere" in call(learning_of("gone"))[1]
    assert "was forgotten: a tombstone took it" in call("lrn_" + "cd" * 16)[2]


@pytest.mark.parametrize(
    ("asked", "code", "told"),
    [("lrn_ff", 2, "too short"), ("lrn_ffffffffffff", 1, "no item"), ("f" * 32, 1, "no signal"), ("z", 2, "too short")],
)  # fmt: skip
def test_a_wrong_id_is_a_clear_error(call, asked, code, told):
    found, out, err = call(asked)
    assert (found, out) == (code, "")
    assert told in err


def test_an_ambiguous_prefix_names_its_candidates(call, home, tmp_path, monkeypatch, learning_of):
    from lorelake.cli import explain_trace

    monkeypatch.setattr(explain_trace, "SHORTEST_PREFIX", 4)
    code, _, err = call("lrn_")
    assert code == 2
    assert "begins" in err
    assert "one of lrn_" in err


def test_without_a_release_it_says_so(call, tmp_path):
    code, out, err = call("lrn_ffffffffffff", lake=tmp_path / "none")
    assert (code, out) == (1, "")
    assert "no release is published here" in err


def copy_of_release(home, target):
    shutil.copytree(home / "lake" / "releases", target / "releases")
    shutil.copy(home / "lake" / "CURRENT", target / "CURRENT")
    return target


def test_a_release_without_its_lake_tells_what_its_tables_hold(call, home, tmp_path, learning_of):
    copy = copy_of_release(home, tmp_path)
    code, out, _ = call(learning_of("pnpm"), lake=copy)
    assert code == 0
    assert "read from the tables of a release" in out
    assert f"gates   admitted: {len(GATES)} passed" in out
    assert "raw     " not in out
    code, out, _ = call(signal_id("refused"), lake=copy)
    assert ["✗", "volatile_fact", "right_now"] in [line.split()[:3] for line in out.splitlines()]
    assert "right now" not in out.replace("right_now", "")


def test_an_index_alone_tells_what_agents_are_given_and_says_that_it_is_all(call, home, tmp_path, learning_of):
    copy = copy_of_release(home, tmp_path)
    for folder in list(copy.rglob("tables")):
        folder.parent.chmod(0o750)
        folder.chmod(0o750)
        shutil.rmtree(folder)
    code, out, _ = call(learning_of("pnpm"), lake=copy)
    assert code == 0
    assert "harbourmark" in out
    assert "filed under: topic/package_managers" in out
    assert "This copy holds what agents read" in out
    code, _, err = call(signal_id("refused"), lake=copy)
    assert code == 1
    assert "which holds what agents read" in err


def test_stored_words_cannot_act_on_the_terminal(
    call, home, tmp_path, make_night, publish_night, settings, learning_of
):
    from lorelake.lake import Lake

    night = make_night()
    night.learning("paths")["title"] = "Quote \x1b[2J\nFiled under\u202e"
    publish_night(Lake(tmp_path / "lake"), settings, night)
    _, out, _ = call(learning_of("paths"), lake=tmp_path / "lake")
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert not any(line.startswith("Filed under") for line in out.splitlines())
