from __future__ import annotations

import msgspec
import pytest

from lorelake.recall.reader import open_release
from lorelake.release.parts import served_words

WHOLE = {"do": "Keep the folder layout flat. Name files after the route.", "because": "The layout is read by the tool."}


def cut(**changes):
    row = served_words({"title": "t", "replaced_parts": ["lrn_2: the folder layout"], **WHOLE, **changes})
    return row["do"], row["because"]


def test_the_sentence_that_holds_the_part_is_not_served():
    assert cut() == ("Name files after the route.", WHOLE["because"])
    assert cut(replaced_parts=["lrn_2: layout"]) == ("Name files after the route.", None)


@pytest.mark.parametrize(
    ("changes", "left"),
    [
        ({"do": "Keep the **Folder Layout** flat!\nName files after the route."}, "Name files after the route."),
        ({"do": "保持目录布局扁平。文件以路由命名。", "replaced_parts": ["lrn_2: 目录布局"]}, "文件以路由命名。"),
        ({"do": "Use v2.1 of the folder layout. Run `x.sh` first."}, "Run `x.sh` first."),
    ],
)
def test_however_it_is_written(changes, left):
    assert cut(**changes)[0] == left


@pytest.mark.parametrize(
    "changes",
    [
        {"replaced_parts": []},
        {"replaced_parts": ["lrn_2"]},
        {"replaced_parts": ["lrn_2: the ports"]},
        {"replaced_parts": ["lrn_2: the layouts"]},
        {"do": "Keep the folder layout flat.", "because": "It is fast."},
    ],
)
def test_what_cannot_be_found_or_is_all_there_is_stays(changes):
    row = {**WHOLE, **changes}
    assert cut(**changes) == (row["do"], row["because"])


def test_what_agents_get_is_cut_and_what_the_approval_is_bound_to_is_not(
    tmp_path, settings, make_night, publish_night, learning_of
):
    from lorelake.lake import Lake, read_table
    from lorelake.tables import LEARNINGS

    night = make_night()
    row = night.learning("pnpm")
    row |= {
        "do": "Install with the old registry. Use pnpm here.",
        "replaced_parts": [f"{learning_of('paths')}: registry"],
    }
    lake = Lake(tmp_path / "lake")
    publish_night(lake, settings, night)
    with open_release(lake.root, projects=["harbour"]) as reader:
        shown = reader.show(learning_of("pnpm"))
        found = reader.recall("old registry install")
    assert shown.hit.do == "Use pnpm here."
    assert shown.hit.replaced_parts == (f"{learning_of('paths')}: registry",)
    assert all("registry" not in msgspec.json.encode(hit.do).decode() for hit in found.hits)
    table = read_table(LEARNINGS, lake.releases / lake.current_release() / "tables/learnings.parquet")
    (whole,) = [one for one in table.to_dicts() if one["learning_id"] == learning_of("pnpm")]
    assert (whole["do"], whole["text_sha256"]) == (row["do"], row["text_sha256"])
