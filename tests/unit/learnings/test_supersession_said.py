"""The wording by which records replace each other, in pairs: what is said, and what only looks like it."""

import pytest

from lorelake.learnings.supersession_said import stated_in, statements


def read(text, titles=()):
    return [shown(one) for one in statements(text, titles)]


def shown(one):
    """`older<newer`, W for the whole or P with the part; this record is `this`."""
    sides = [
        ",".join(name.value.lstrip("0") for names in side for name in names) or "this"
        for side in (one.older, one.newer)
    ]
    return f"{sides[0]}<{sides[1]} {'P' if one.is_partial else 'W'}" + (f" {one.part}" if one.part else "")


SAID = {
    # Passive, about this record.
    "Superseded by ADR 9": "this<9 W",
    "Status: Superseded by ADR-0009": "this<9 W",
    "* Status: superseded by [ADR-0009](9-x.md)": "this<9-x.md W",
    "# 3. A queue\n\n## Status\n\nSuperseded by [9. No queue](9-no.md)": "this<9-no.md W",
    "> **Superseded by** [ADR 9](9-x.md)": "this<9-x.md W",
    "Accepted. It was replaced by ADR 9.": "this<9 W",
    "Superseded on 2026-03-04 by ADR 9": "this<9 W",
    "Superseded by the 2025 storage plan and ADR 9.": "this<9 W",
    "Superseded by 0009": "this<9 W",
    "Superseded by 5. Keep the queue": "this<5 W",
    "Replaced by ADR-0011/0012": "this<11,12 W",
    "Deprecated in favour of ADR 9.": "this<9 W",
    "Abandoned in favor of ADR 9": "this<9 W",
    "Deprecated, see ADR 9": "this<9 W",
    "Obsolete: see ADR 9": "this<9 W",
    "## Decision\n\nThis record was obsoleted by ADR 9.": "this<9 W",
    "| Superseded by | ADR 9 |": "this<9 W",
    # Active.
    "This ADR supersedes ADR 4.": "4<this W",
    "## Decision\n\nThis decision replaces ADR 12 and ADR 13.": "12,13<this W",
    "## Consequences\n\n- Reverses ADR-0013.": "13<this W",
    "We adopt gRPC, superseding ADR 4.": "4<this W",
    "Supercedes [3. Use a file](3-x.md)": "3-x.md<this W",
    "Supersedes `docs/adr/4-use-x.md`": "docs/adr/4-use-x.md<this W",
    "Supersedes ADRs 4, 5 and 6": "4,5,6<this W",
    "Supersedes the earlier decision in ADR 3": "3<this W",
    "- **Supersedes:** ADR 4": "4<this W",
    # Between two others, and this one by its name.
    "## Context\n\nADR 4 was superseded by ADR 9.": "4<9 W",
    "## Decision\n\nADR 9 supersedes ADR 4.": "4<9 W",
    "ADR 9 supersedes this decision.": "this<9 W",
    # In part.
    "Superseded in part by ADR 6": "this<6 P",
    "Partly superseded by ADR 6": "this<6 P",
    "Partially superseded by\nADR 6 for the retry budget.": "this<6 P retry budget",
    "Superseded (retry section) by ADR 6": "this<6 P retry section",
    "Superseded for the public layout by ADR 6: it moved.": "this<6 P public layout",
    "Refined and superseded for the log format by ADR 6": "this<6 P log format",
    "Refines/supersedes ADR 6": "6<this P",
    "Supersedes the naming rules of ADR 6": "6<this P naming rules",
    "Supersedes ADR 6 for the storage layout": "6<this P storage layout",
    "Supersedes ADR 6's cache keys.": "6<this P cache keys",
    "Supersedes ADR 6 (retry rules only)": "6<this P retry rules only",
    "Status note (2026-01-01): ADR 8 replaces this decision's retry budget.": "this<8 P retry budget",
    "Amended (2026-01-01) by ADR 7: ports are fixed.": "this<7 P",
    "Amends ADR 7": "7<this P",
    "Updated by ADR 7, which drops the second port.": "this<7 P",
    "Superseded in part by ADR 7, which drops the second port.": "this<7 P drops the second port",
    # Chinese.
    "本 ADR 取代 ADR 5。": "5<this W",
    "取代：ADR 5": "5<this W",
    "状态：已被 ADR 9 取代": "this<9 W",
    "已废弃，参见 ADR 9": "this<9 W",
    "ADR 5 已被 ADR 9 取代": "5<9 W",
    "部分取代 ADR 5": "5<this P",
    "被 ADR 9 部分取代": "this<9 P",
    "本决策取代 ADR 5 的超时部分。": "5<this P 超时",
}

NOT_SAID = {
    "denied": "Not superseded by ADR 9",
    "denied of this": "This does not supersede ADR 4.",
    "no record is": "No earlier ADR is superseded; see ADR 4.",
    "until": "Accepted until superseded by ADR 9",
    "unless": "Unless this ADR is superseded by ADR 9 it holds.",
    "once": "Once ADR 9 supersedes this ADR, drop the flag.",
    "planned": "Will be superseded by ADR 9",
    "asked": "Should this supersede ADR 4?",
    "imagined": "It would replace ADR 4 if we moved.",
    "extends": "Extends ADR 4 and builds on ADR 5.",
    "another relation beside it": "Confirms ADR 4 rather than superseding ADR 5",
    "a task": "## Decision\n\nReplace the cache, see ADR 4.",
    "a task to write": "Update ADR 4 when the port changes.",
    "the source of the new thing": "## Decision\n\nReplaces polling with the webhook of ADR 4.",
    "something else was": "## Context\n\nThe v1 gateway was superseded by ADR 4.",
    "a choice of a template": "Status: proposed | accepted | superseded by ADR 9",
    "a comment": "<!-- superseded by ADR 9 -->",
    "struck through": "~~Superseded by ADR 9~~",
    "code": "```\nSuperseded by ADR 9\n```",
    "a ticket": "Bead x-12 supersedes the plan; ADR 4 stays.",
    "nobody": "Supersedes: none\nSuperseded by: none\nRelated: ADR 4",
    "another kind of record": "Superseded by RFC 9",
    "an issue": "Superseded by #12",
    "a count": "Replaces 3 legacy services",
    "denied in Chinese": "本 ADR 不取代 ADR 5。",
    "asked in Chinese": "是否被 ADR 9 取代？",
}


@pytest.mark.parametrize("text", SAID)
def test_usual_wording_is_read_with_its_direction_and_part(text):
    assert read(text) == [SAID[text]]


@pytest.mark.parametrize("text", NOT_SAID.values(), ids=NOT_SAID)
def test_what_only_looks_like_it_is_no_statement(text):
    assert read(text) == []


def test_a_list_below_the_verb_names_each_and_only_its_first_name():
    text = "## Supersedes\n\n- ADR 4, which kept ADR 2's queue\n- ADR 5\n\n## Context\n\n- ADR 6"
    assert read(text) == ["4<this W", "5<this W"]


def test_below_a_heading_of_the_body_it_is_the_heading_that_was_replaced():
    body = "# 3. Ports\n\n## Alternatives\n\n### One port each\n\nSuperseded by ADR 9.\n"
    assert read(body) == ["this<9 P One port each"]
    assert read("# 3. Ports\n\n## Status\n\nSuperseded by ADR 9.\n") == ["this<9 W"]


def test_a_reason_after_for_is_no_part():
    assert read("Superseded by ADR 6 for performance reasons") == ["this<6 W"]
    assert read("Superseded by ADR 6 for the index files") == ["this<6 P index files"]


def test_a_title_names_a_record_only_where_there_is_one():
    text = 'This ADR supersedes "Keep one queue".'
    assert read(text, {"keep one queue"}) == ["keep one queue<this W"]
    assert read(text, {"keep two queues"}) == []


def test_a_status_of_the_frontmatter_is_read_as_a_status_section():
    assert [shown(one) for one in stated_in("superseded by [ADR-0009](9-x.md)", ())] == ["this<9-x.md W"]
    assert list(stated_in("accepted", ())) == []


def test_the_quote_is_the_sentence_and_nothing_beside_it():
    text = "# 3. Ports\n\n## Status\n\nAccepted. **Supersedes ADR 4**; the rest stays.\n"
    (one,) = statements(text, ())
    assert text[one.start : one.end] == "**Supersedes ADR 4**;"
