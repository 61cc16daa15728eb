"""What is kept out by keyed hashes alone, whatever file, unit or words around it bring it again."""

from __future__ import annotations

from copy import deepcopy

import pytest

from lorelake.content.erasure import (
    NOTHING,
    Erased,
    label_of,
    person_hmacs,
    record_hmac,
    text_hmac,
    unit_hmac,
)

KEY, OTHER = b"k" * 32, b"o" * 32
SAID = "Keep the pool at thirty connections for each pod"


def person(*aliases: str, anywhere: tuple[str, ...] = ()) -> Erased:
    hmacs = person_hmacs(KEY, aliases, anywhere)
    return Erased(KEY, persons=dict.fromkeys(hmacs, label_of(hmacs)))


MARA = person("mara", "Mara Lindqvist", "U05MARA77", "maralind", "id:201", anywhere=("U05MARA77", "maralind"))
LABEL = next(iter(MARA.persons.values()))


def test_a_record_is_known_by_its_id_in_any_unit_and_by_its_source() -> None:
    erased = Erased(KEY, frozenset((record_hmac(KEY, "codex", "r1"),)))
    assert erased.keeps_out("codex", "another session", "r1", "message", {})
    assert not erased.keeps_out("codex", "u", "r2", "message", {})
    assert not erased.keeps_out("claude_code", "u", "r1", "message", {})


def test_a_unit_is_kept_out_with_what_is_added_to_it_later() -> None:
    erased = Erased(KEY, frozenset((unit_hmac(KEY, "codex:u"),)))
    assert erased.keeps_out("codex", "u", "of tomorrow", "message", {})
    assert not erased.keeps_out("codex", "v", "of tomorrow", "message", {})


@pytest.mark.parametrize("again", [SAID, SAID.upper(), SAID.replace(" ", "\n  ")])
def test_a_whole_text_is_known_again_in_any_spacing_and_case(again: str) -> None:
    hmac = text_hmac(KEY, SAID)
    assert hmac
    erased = Erased(KEY, frozenset((hmac,)))
    assert erased.keeps_out("slack", "u", "new", "message", {"deep": [{"text": again}]})
    assert not erased.keeps_out("slack", "u", "new", "message", {"text": f"{again}, said somebody"})


def test_a_text_is_the_same_whichever_key_masked_an_address_in_it() -> None:
    one, two = (f"Write to [redacted:email:{mark}] about the berths" for mark in ("00000000", "ffffffff"))
    assert text_hmac(KEY, one) == text_hmac(KEY, two)


def test_a_short_text_is_too_common_to_be_kept_out() -> None:
    assert text_hmac(KEY, "yes, do it") is None


def test_without_the_key_nothing_is_known() -> None:
    assert record_hmac(KEY, "codex", "r1") != record_hmac(OTHER, "codex", "r1")
    assert person_hmacs(KEY, ["mara"]) != person_hmacs(OTHER, ["mara"])


@pytest.mark.parametrize(
    "value",
    [
        {"message": {"user": "U05MARA77", "text": "x"}},
        {"user": {"login": "maralind", "id": 5}, "body": "x"},
        {"author_id": 201, "note": "x"},
        {"author": {"name": "Mara Lindqvist"}, "text": "x"},
        {"commit_author": {"name": "MARA LINDQVIST"}, "message": "x"},
        {"id": "U05MARA77", "name": "mara", "profile": {"display_name": "mara"}},
    ],
)
def test_what_a_person_said_is_kept_out_as_each_source_words_it(value: object) -> None:
    assert MARA.keeps_out("any", "u", "r", "message", value)


@pytest.mark.parametrize(
    "value",
    [
        {"message": {"user": "U05JONAS4", "text": "ask <@U05MARA77>"}},
        {"user": {"login": "jpetri"}, "assignee": {"login": "maralind"}},
        {"author": {"name": "Jonas Petri"}, "actor": {"name": "Mara Lindqvist"}},
        {"id": 201, "title": "a request whose number is hers by chance"},
    ],
)
def test_what_others_said_about_a_person_stays(value: object) -> None:
    assert not MARA.keeps_out("any", "u", "r", "message", value)


def test_a_session_is_kept_out_by_whose_file_it_is() -> None:
    assert MARA.keeps_out("codex", "u", "r", "message", {"text": "x"}, "mara")
    assert not MARA.keeps_out("codex", "u", "r", "message", {"text": "x"}, "jonas")


def test_what_a_person_decided_stays_whoever_brought_it() -> None:
    value = {"actor": {"name": "Mara Lindqvist"}, "decision": {"decision": "reject"}}
    assert not MARA.keeps_out("decisions", "u", "r", "decision", value, "mara")
    assert MARA.masked(value) == {"actor": {"name": LABEL}, "decision": {"decision": "reject"}}


def test_a_record_nested_without_end_loses_its_names_too() -> None:
    value: object = "U05MARA77"
    for _ in range(5_000):
        value = [value]
    masked = MARA.masked(value)
    while isinstance(masked, list):
        (masked,) = masked
    assert masked == LABEL


def test_a_deletion_by_an_erased_person_stays_a_deletion() -> None:
    gone = {
        "message": {"deleted_ts": "1", "user": "U05MARA77", "text": "secret", "previous_message": {"text": "secret"}}
    }
    assert not MARA.keeps_out("slack", "u", "r", "message_deleted", gone)
    assert MARA.masked(gone) == {"message": {"deleted_ts": "1", "user": LABEL}}


def test_names_in_the_records_of_others_become_a_label_and_their_own_objects_go() -> None:
    value = {
        "body": "thanks @maralind, maralind and Mara Lindqvist; mara said so",
        "reactions": [{"name": "eyes", "users": ["U05JONAS4", "U05MARA77"]}],
        "replies": [{"user": "U05MARA77", "ts": "1"}, {"user": "U05JONAS4", "ts": "2"}],
        "assignee": {"login": "maralind", "avatar_url": "https://example.com/maralind"},
        "merged_by_id": 201,
        "root": {"user": "U05MARA77", "text": "her words", "ts": "1"},
    }
    assert MARA.masked(value) == {
        "body": f"thanks @{LABEL}, {LABEL} and {LABEL}; mara said so",
        "reactions": [{"name": "eyes", "users": ["U05JONAS4", LABEL]}],
        "replies": [{"user": "U05JONAS4", "ts": "2"}],
        "assignee": {"login": LABEL},
        "merged_by_id": int(LABEL.removeprefix("erased:"), 16),
        "root": {"user": LABEL, "ts": "1"},
    }


def test_a_value_that_names_nobody_is_the_same_object() -> None:
    value = {"body": "marathon and maraschino", "users": ["U05JONAS4"]}
    assert MARA.masked(value) is value
    assert NOTHING.masked(value) is value


def test_plain_words_of_a_name_go_where_they_were_asked_to() -> None:
    erased = person("mara", anywhere=("mara",))
    label = next(iter(erased.persons.values()))
    assert erased.text("Mara takes it, not the marathon; /home/mara/src") == (
        f"{label} takes it, not the marathon; /home/{label}/src"
    )


def test_each_alias_has_its_own_mark_in_a_path_so_that_two_files_never_get_one_name() -> None:
    one, two = MARA.path("codex/mara/a.jsonl"), MARA.path("codex/maralind/a.jsonl")
    assert one != two
    assert "mara" not in one + two
    assert MARA.path("codex/jonas/a.jsonl") == "codex/jonas/a.jsonl"


def test_it_travels_to_another_process_and_its_digest_tells_states_apart() -> None:
    assert deepcopy(MARA) == MARA
    assert NOTHING.digest == ""
    assert MARA.digest != person("mara").digest
