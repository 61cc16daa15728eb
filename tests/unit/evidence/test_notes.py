from lorelake.evidence.authored import extract
from lorelake.formats import markdown


def do(unit, text):
    attributes = {"title": markdown.title(text, {}, "til/a.md"), "body_start": 0, "sections": {}}
    unit.add("document_version", text, path="til/a.md", attributes=attributes, revision="r1")
    (signal,) = extract(unit.events)
    assert signal.quote in text
    return signal.item["do"]


def test_the_story_before_the_command_is_left_out(unit):
    text = (
        "# Rename A Shelf\n\nI have a warehouse project. It had a bad name for years.\n\n"
        "You can rename a shelf with one command:\n\n```bash\n$ shelf rename old new\n```\n\n"
        "This also moves what lies on it.\n\nSee `man shelf`.\n"
    )
    assert do(unit, text) == (
        "You can rename a shelf with one command: `shelf rename old new` This also moves what lies on it."
    )


def test_of_several_commands_the_one_the_title_speaks_of_is_meant(unit):
    text = (
        "# Rename A Shelf\n\nFirst list all that there is in the house:\n\n```\n$ shelf list -v\nold\n```\n\n"
        "Then give the one you mean its new name:\n\n```\n$ shelf rename old new\n```\n"
    )
    assert do(unit, text).endswith("`shelf rename old new`")


def test_a_command_that_only_looks_around_is_none(unit):
    text = (
        "# Stash The Rest\n\nSee where the tree stands before you begin:\n\n```\n$ git status\nclean\n```\n\n"
        "The `--keep-index` flag leaves alone what is staged already.\n"
    )
    assert do(unit, text) == "The `--keep-index` flag leaves alone what is staged already."


def test_a_lead_that_points_back_takes_the_sentence_before_along(unit):
    text = (
        "# Prune\n\nOld branches of the remote stay listed for ever. Prune them like so:\n\n```\n$ git fetch -p\n```\n"
    )
    assert do(unit, text) == ("Old branches of the remote stay listed for ever. Prune them like so: `git fetch -p`")


def test_a_sentence_that_begins_in_the_middle_leads_to_nothing(unit):
    text = (
        "# Colours\n\nUse the config file for the colours.\n\n```ini\n[ui]\n```\n\n"
        "or set it from the shell:\n\n```\n$ tool config --colour on\n```\n"
    )
    assert do(unit, text) == "Use the config file for the colours."


def test_a_block_of_code_that_is_no_command_is_not_quoted(unit):
    text = (
        "# Frozen Records\n\nI once lost a day to a record that changed. Pass `frozen=True` so that no field can be "
        "set later.\n\n```python\nfrom dataclasses import dataclass\n```\n"
    )
    assert do(unit, text) == "Pass `frozen=True` so that no field can be set later."


def test_a_line_of_code_past_120_characters_stays_out(unit):
    text = "# Long\n\nRun the long one with the `-x` flag:\n\n```\n$ tool -x " + "y" * 130 + "\n```\n"
    assert "yyy" not in do(unit, text)


def test_a_quotation_in_a_note_is_not_its_authors_advice(unit):
    text = "# Restore\n\n> To restore a file use the index of the day.\n\nUse the `restore` command for one file.\n"
    assert do(unit, text) == "Use the `restore` command for one file."
