"""lorelake.toml: what does not fit is refused with file, place and remedy, before anything is touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from lorelake.errors import SettingsError
from lorelake.settings import load


def refused(tmp_path: Path, text: str) -> str:
    path = tmp_path / "lorelake.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert caught.value.exit_code == 2
    return str(caught.value)


def test_a_whole_file_becomes_typed_settings(tmp_path: Path) -> None:
    path = tmp_path / "lorelake.toml"
    path.write_text(
        '[team]\nid = "tide"\n[[sources]]\npath = "notes"\nproject = "api"\n[nightly]\nas_of = 2026-03-20\n'
    )
    settings = load(path)
    assert settings.sources[0].project == "api"
    assert settings.resolve("notes") == (tmp_path / "notes").resolve()
    assert settings.nightly.as_of is not None
    assert settings.review.require == "risky"


def test_an_unknown_key_is_named_with_its_place(tmp_path: Path) -> None:
    text = refused(tmp_path, '[team]\nid = "a"\n[slack]\nincludes = ["public"]\n')
    assert "unknown key `includes` in `slack`" in text
    assert "remedy" in text


def test_a_wrong_type_is_named_with_its_place(tmp_path: Path) -> None:
    assert "recall.limit" in refused(tmp_path, '[team]\nid = "a"\n[recall]\nlimit = "three"\n')


def test_a_value_outside_its_vocabulary_is_refused(tmp_path: Path) -> None:
    assert "review.require" in refused(tmp_path, '[team]\nid = "a"\n[review]\nrequire = "some"\n')


def test_torn_toml_and_a_missing_team_are_refused(tmp_path: Path) -> None:
    assert "TOML" in refused(tmp_path, "[team\n")
    assert "team" in refused(tmp_path, 'home = "x"\n')


def test_one_name_cannot_belong_to_two_people(tmp_path: Path) -> None:
    people = '[[people]]\nid = "a"\nlogins = ["Mara"]\n[[people]]\nid = "b"\nlogins = ["mara"]\n'
    assert "belongs to two people" in refused(tmp_path, f'[team]\nid = "t"\n{people}')


def test_a_reviewer_must_be_a_listed_human(tmp_path: Path) -> None:
    text = '[team]\nid = "t"\n[[people]]\nid = "bot"\nkind = "bot"\n[review]\nreviewers = ["bot"]\n'
    assert "not a human" in refused(tmp_path, text)


def test_a_missing_file_names_the_command_that_makes_one(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no settings file") as caught:
        load(tmp_path / "lorelake.toml")
    assert "lorelake init" in str(caught.value)


def test_folder_is_not_a_key(tmp_path: Path) -> None:
    assert "unknown key `folder`" in refused(tmp_path, 'folder = "x"\n[team]\nid = "t"\n')
