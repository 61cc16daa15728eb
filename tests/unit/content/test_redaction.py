"""Structure survives, marks are stable, the key stays private."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lorelake.content.redaction import FEW, MARK, RULES, RULES_VERSION, Redactor, load_key
from lorelake.errors import SettingsError

REDACTOR = Redactor(b"k" * 32)
TOKEN = "ghp_" + "a1B2" * 9
MARKED = REDACTOR.mark("github_token", TOKEN)
EXAMPLES = [re.sub("[«»]", "", text) for rule in RULES for text in rule.positive]


def test_the_headers_of_a_request_are_hidden_and_the_next_field_is_kept() -> None:
    """Masking serialised text swallowed quotes, braces and the next field of such a line."""
    value = {
        "headers": {
            "cookie": {"session": "s%3Aq8Zr5TfX0aWb", "nested": {"csrf": "9f8e7d6c5b4a"}},
            "authorization": ["Bearer " + "q8Zr5TfX0aWb9f8e", "Basic dXNlcjpwYXNz"],
            "api_key": 1234567890123,
        },
        "text": "kept",
    }
    result = REDACTOR.values([value])[0]
    out = json.dumps(result)
    for secret in ("q8Zr5TfX0aWb", "9f8e7d6c5b4a", "dXNlcjpwYXNz", "1234567890123"):
        assert secret not in out
    assert result["text"] == "kept"
    assert [list(result), list(result["headers"]), list(result["headers"]["cookie"])] == [
        ["headers", "text"], ["cookie", "authorization", "api_key"], ["session", "nested"],
    ]  # fmt: skip
    assert result["headers"]["authorization"][0].startswith("Bearer [redacted:authorization:")


def test_a_key_in_a_command_with_escaped_quotes() -> None:
    command = f'curl -H \\"x-token: {TOKEN}\\" -d "{{\\"a\\": \\"b\\"}}"'
    value = {"tool": "Bash", "input": {"command": command}, "after": [1, None, True]}
    assert REDACTOR.values([value]) == [
        {"tool": "Bash", "input": {"command": command.replace(TOKEN, MARKED)}, "after": [1, None, True]}
    ]


def test_a_secret_in_json_in_json_is_found() -> None:
    inner = json.dumps({"env": f"line\n{TOKEN}\nnext", "db": "postgres://app:s3cr3t-pw@db/x", "by": "\njo@example.org"})
    outer = json.dumps({"result": inner})
    result = REDACTOR.values([{"content": outer}])[0]["content"]
    again = json.loads(json.loads(result)["result"])
    assert again == {
        "env": f"line\n{MARKED}\nnext",
        "db": f"postgres://app:{REDACTOR.mark('password', 's3cr3t-pw')}@db/x",
        "by": f"\n{REDACTOR.mark('email', 'jo@example.org')}",
    }


def test_the_same_secret_has_the_same_mark_in_any_field() -> None:
    value = {
        "a": TOKEN,
        TOKEN: f"export X={TOKEN}.",
        "password": TOKEN,
        "c": ["--token " + TOKEN, f"https://x:{TOKEN}@h/"],
    }
    result = json.dumps(REDACTOR.values([value])[0])
    assert TOKEN not in result
    assert set(MARK.findall(result)) == {MARKED}
    assert len(MARK.findall(result)) == 6


def test_a_private_key_is_one_mark_however_its_line_ends_are_written() -> None:
    body = "\n".join(["MIIEow" + "a1B2" * 14] * 6)
    pem = f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----"
    plain, escaped = REDACTOR.text(f"x {pem} y"), REDACTOR.text("x " + pem.replace("\n", "\\n") + " y")
    assert plain == escaped
    assert re.fullmatch(r"x \[redacted:private_key:[0-9a-f]{8}\] y", plain)


def test_addresses_are_equal_in_any_case_and_numbers_in_any_grouping() -> None:
    assert (
        REDACTOR.text("Jo@Example.org") == REDACTOR.text("jo@example.org") == REDACTOR.mark("email", "JO@example.ORG")
    )
    assert REDACTOR.text("415-555-2671") == REDACTOR.text("(415) 555-2671")


def test_what_the_settings_keep_is_kept() -> None:
    text = f"jo@example.org 415-555-2671 {TOKEN}"
    assert Redactor(b"k" * 32, emails="keep", phones="keep").text(text) == f"jo@example.org 415-555-2671 {MARKED}"
    assert Redactor(b"k" * 32, emails="keep").text("jo@example.org") == "jo@example.org"
    assert Redactor(b"k" * 32, phones="keep").text("jo@example.org").startswith("[redacted:email:")


def test_another_key_gives_other_marks() -> None:
    assert Redactor(b"j" * 32).text(TOKEN) != MARKED


@pytest.mark.parametrize(
    "value",
    [
        {"password": {"type": "string", "description": "at least 8 characters"}},
        {"token": "next", "tokens": 123456789, "max_tokens": 200000, "secret": None, "api_key": True},
        {"authorization": "required", "cookie": None, "password": "", "credentials": []},
        {"usage": {"input_tokens": 1234567, "cache_read_input_tokens": 9876543}},
    ],
)
def test_names_without_a_secret_hide_nothing(value: Any) -> None:
    assert REDACTOR.values([value]) == [value]


def test_values_without_a_hit_are_not_copied() -> None:
    value = {"a": ["nothing here"]}
    assert REDACTOR.values([value])[0] is value


def test_redaction_is_idempotent_on_every_example() -> None:
    once = REDACTOR.values(EXAMPLES)
    assert REDACTOR.values(once) == once
    assert [REDACTOR.text(text) for text in once] == once


@given(
    st.lists(
        st.sampled_from([*EXAMPLES, MARKED, "password=", "token: ", "@", "://", '"', "\\n", " ", "eyJ", "x"]),
        max_size=6,
    ).map("".join)
)
def test_redaction_is_idempotent_on_any_mixture(text: str) -> None:
    once = REDACTOR.text(text)
    assert REDACTOR.text(once) == once
    assert REDACTOR.values([{"password": once, "k": [once]}]) == REDACTOR.values(
        REDACTOR.values([{"password": once, "k": [once]}])
    )


def test_many_values_and_one_are_redacted_alike() -> None:
    values = [{"n": i, "text": f"{text} {i}"} for i, text in enumerate(EXAMPLES)]
    assert sum(len(value["text"]) for value in values) > FEW  # type: ignore[arg-type]
    assert REDACTOR.values(values) == [REDACTOR.values([value])[0] for value in values]


def test_a_lone_surrogate_does_not_stop_it() -> None:
    filler = "x" * FEW
    assert REDACTOR.values([f"\ud800 {TOKEN}", filler]) == [f"\ud800 {MARKED}", filler]


@pytest.mark.parametrize("piece", ["eyJ", "token=", "cookie:a=", "-----BEGIN PRIVATE KEY-----", "a@", "password: "])
def test_hostile_repetition_takes_linear_time(piece: str) -> None:
    """A pattern that starts over at every repetition takes a minute for this."""
    began = time.process_time()
    REDACTOR.text(piece * (60_000 // len(piece)))
    assert time.process_time() - began < 5


def test_the_version_follows_the_rules() -> None:
    code = "from lorelake.content.redaction import RULES_VERSION; print(RULES_VERSION)"
    other = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()
    assert other == RULES_VERSION
    assert re.fullmatch("[0-9a-f]{12}", RULES_VERSION)


def test_a_key_is_made_once_and_private(tmp_path: Path) -> None:
    path = tmp_path / "team.key"
    key = load_key(path)
    assert len(key) >= 32
    assert load_key(path) == key
    assert path.stat().st_mode & 0o777 == 0o600
    assert os.listdir(tmp_path) == ["team.key"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_a_key_that_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "team.key"
    load_key(path)
    path.chmod(mode)
    with pytest.raises(SettingsError, match="read by others") as refused:
        load_key(path)
    assert refused.value.remedy is not None
    assert "chmod 600" in refused.value.remedy


def test_a_key_that_is_none_is_refused(tmp_path: Path) -> None:
    short = tmp_path / "short"
    short.write_bytes(b"abc\n")
    short.chmod(0o600)
    with pytest.raises(SettingsError, match="32 are needed"):
        load_key(short)
    with pytest.raises(SettingsError, match="cannot be read"):
        load_key(tmp_path / "missing" / "team.key")
