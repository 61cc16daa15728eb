import json

import pytest

from lorelake.evidence.edits import Change, essence

PATCH = """*** Begin Patch
*** Update File: tests/test_csv.py
@@
-def test_header() -> None:
-    path = export("/tmp/out")
+def test_header(tmp_path: Path) -> None:
+    path = export(tmp_path)
*** End Patch
"""


def replaced(unit, old, new):
    return unit.call("e1", text=json.dumps({"file_path": "a.py", "old_string": old, "new_string": new}), path="a.py")


def test_a_new_line_tells_what_was_done(unit):
    call = replaced(unit, "create_index(\n  name)", "with autocommit_block(connection):\n  create_index(\n  name)")
    assert essence(call) == Change("with autocommit_block(connection):", "")


def test_a_touched_line_is_shown_with_what_it_stands_in_for(unit):
    call = unit.call("e1", tool="apply_patch", text=PATCH, path="tests/test_csv.py")
    assert essence(call) == Change("path = export(tmp_path)", 'path = export("/tmp/out")')


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("shutil.rmtree(folder)\nkeep(folder)", "keep(folder)"),
        ("x = one", "# only a comment here\nx = one"),
        ("x = one", "import os, sys\nx = one"),
        ("x = one", "}\nx = one"),
        ("x = one", "very_long_name(" + "argument, " * 20 + ")"),
    ],
)
def test_what_tells_nothing_by_itself_is_left_out(unit, old, new):
    assert essence(replaced(unit, old, new)) is None


def test_a_whole_file_written_or_a_text_cut_off_is_no_change_of_lines(unit):
    assert essence(unit.call("e1", tool="Write", text=json.dumps({"content": "open the pool"}), path="a.py")) is None
    assert essence(unit.call("e2", text='{"old_string": "x', path="a.py")) is None
