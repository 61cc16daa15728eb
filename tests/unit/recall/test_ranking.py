from __future__ import annotations

import pytest

from lorelake import served
from lorelake.recall import ranking
from lorelake.recall.lexical import LexicalIndex, phrase
from lorelake.release.index import index_text, write_lexical


def make_item(name: str, title: str, audience: str = "team", **values) -> served.Item:
    base = {
        "learning_id": "lrn_" + name.encode().hex().ljust(32, "0")[:32], "audience": audience, "project": "unknown",
        "trust": "stated", "state": "active", "kind": "fact", "severity": None, "title": title, "when": "", "do": "",
        "because": None, "rejected": None, "not_when": (), "applies_to": (), "self_check": (), "tags": (),
        "said_by": "mara", "people": 1, "families": 1, "confidence": 0.5, "confidence_low": 0.2,
        "confidence_high": 0.8, "text_sha256": title, "content_key": name, "first_said": "2026-03-01",
        "last_said": "2026-03-01", "quotes": (),
    }  # fmt: skip
    return served.Item(**base | values)


@pytest.fixture
def index_of(tmp_path):
    opened = []

    def make(*items: served.Item) -> LexicalIndex:
        folder = tmp_path / str(len(opened))
        folder.mkdir()
        write_lexical(folder / served.LEXICAL_DB, items, [index_text(item) for item in items], {}, [])
        opened.append(LexicalIndex(folder, items[0].audience))
        return opened[-1]

    yield make
    for index in opened:
        index.close()


def ask(question: str, *indexes: LexicalIndex) -> tuple[ranking.Verdict, list[str]]:
    terms = ranking.weigh_terms(question, indexes)
    found = ranking.matches(terms, indexes)
    best = max(found, key=lambda match: match.coverage, default=None)
    return ranking.judge(best, terms), [entry.item.title for entry in ranking.rank(found, terms)]


FILLER = [make_item(f"n{n}", f"note number {n} on build pipeline stage {n}") for n in range(30)]


@pytest.mark.parametrize(
    ("question", "verdict"),
    [
        ("vacuum the analytics warehouse", "RELEVANT"),
        ("how do I vacuum the warehouse?", "RELEVANT"),
        ("vacuuming warehouses", "RELEVANT"),
        ("warehouse", "RELEVANT"),
        ("warehouse forklift driver training", "NOT_RELEVANT"),
        ("warehouse vacuum forklift training", "WEAK"),
        ("forklift driver", "NOT_RELEVANT"),
        ("", "NOT_RELEVANT"),
        ("how do I do it?", "NOT_RELEVANT"),
        ('"(( AND NOT * ^', "NOT_RELEVANT"),
    ],
)
def test_the_verdict_rests_on_the_rare_terms_an_item_holds(index_of, question, verdict):
    index = index_of(*FILLER, make_item("vac", "Vacuum the analytics warehouse only on Sundays"))
    assert ask(question, index)[0] == verdict


def test_pasted_output_full_of_unknown_words_still_finds_its_item(index_of):
    index = index_of(*FILLER, make_item("err", "TypeError: cannot unpack non-iterable NoneType in resolve_tenant"))
    noise = " ".join(f"0x{n:x}f frame{n}x" for n in range(60))
    assert ask(f"TypeError: cannot unpack non-iterable NoneType resolve_tenant {noise}", index)[0] == "RELEVANT"


def test_names_are_found_however_they_are_written(index_of):
    index = index_of(*FILLER, make_item("camel", "call getUserName before saveDraft"))
    for question in ("get_user_name", "getUserName", "user name draft", "GETUSERNAME"):
        assert ask(question, index)[1][:1] == ["call getUserName before saveDraft"], question


def test_chinese_and_japanese_are_found_inside_a_sentence(index_of):
    index = index_of(*FILLER, make_item("zh", "数据库迁移前先备份"), make_item("ja", "本番環境では再起動しない"))
    assert ask("迁移", index)[1] == ["数据库迁移前先备份"]
    assert ask("再起動", index)[1] == ["本番環境では再起動しない"]


def test_an_exact_match_in_a_folder_of_one_beats_a_loose_one_in_a_large_folder(index_of):
    large = index_of(*FILLER, make_item("loose", "pipeline cache notes", confidence=1.0))
    small = index_of(make_item("exact", "Purge the pipeline cache by tag", "project:p", confidence=0.0))
    assert ask("purge pipeline cache by tag", large, small)[1][0] == "Purge the pipeline cache by tag"


def test_belief_orders_equals_and_never_buries_an_exact_match(index_of):
    index = index_of(
        *FILLER,
        make_item("a", "rotate signing keys monthly", text_sha256="a", confidence=0.2),
        make_item("b", "rotate signing keys monthly", text_sha256="b", confidence=0.9),
        make_item("c", "rotate logs", confidence=1.0),
    )
    terms = ranking.weigh_terms("rotate signing keys monthly", [index])
    ranked = ranking.rank(ranking.matches(terms, [index]), terms)
    assert [entry.item.text_sha256 for entry in ranked[:2]] == ["b", "a"]
    exact = index_of(
        *FILLER,
        make_item("x", "rotate signing keys", confidence=0.0),
        make_item("y", "rotate signing logs", confidence=1.0),
    )
    assert ask("rotate signing keys", exact)[1] == ["rotate signing keys", "rotate signing logs"]


def test_decay_orders_equals_and_never_buries_an_exact_match(index_of):
    """Shown once and not cited is no decay at all; the floor of decay, with no belief left, is the worst there is."""
    same = {"confidence": 0.9}
    index = index_of(
        *FILLER,
        make_item("a", "rotate signing keys monthly", text_sha256="a", decay=0.1, **same),
        make_item("b", "rotate signing keys monthly", text_sha256="b", **same),
    )
    terms = ranking.weigh_terms("rotate signing keys monthly", [index])
    ranked = ranking.rank(ranking.matches(terms, [index]), terms)
    assert [entry.item.text_sha256 for entry in ranked[:2]] == ["b", "a"]
    loose = [make_item(f"l{n}", f"rotate signing logs {n}", confidence=1.0) for n in range(4)]
    exact = index_of(*FILLER, *loose, make_item("x", "rotate signing keys", confidence=0.0, decay=0.1))
    found = ask("rotate signing keys", exact)[1]
    assert len(found) == 5, "a loose match that is not relevant at all could bury nothing"
    assert found[0] == "rotate signing keys"


def test_one_entry_per_text_and_the_narrowest_audience_has_it(index_of):
    same = {"text_sha256": "same"}
    team = index_of(*FILLER, make_item("t", "freeze deploys on fridays", **same))
    project = index_of(make_item("p", "freeze deploys on fridays", "project:p", **same))
    terms = ranking.weigh_terms("freeze deploys fridays", [team, project])
    ranked = ranking.rank(ranking.matches(terms, [team, project]), terms)
    assert [entry.item.audience for entry in ranked] == ["project:p"]


def test_equal_items_go_by_id_whatever_order_they_came_in(index_of):
    twins = [make_item(name, "seal the crates", text_sha256=name) for name in "abc"]
    orders = []
    for order in (twins, twins[::-1]):
        index = index_of(*order)
        terms = ranking.weigh_terms("seal crates", [index])
        ranked = ranking.rank(ranking.matches(terms, [index]), terms)
        orders.append([entry.item.learning_id for entry in ranked])
    assert orders[0] == orders[1] == sorted(orders[0])


def test_at_most_six_terms_are_searched_the_rarest(index_of):
    index = index_of(*FILLER, make_item("rare", "quartz jade opal topaz beryl agate"))
    terms = ranking.weigh_terms("note build pipeline stage quartz jade opal topaz beryl agate", [index])
    assert set(terms.weights) == {"quartz", "jade", "opal", "topaz", "beryl", "agate"}


def test_a_term_is_text_and_never_an_operator():
    assert phrase('a" OR "b') == '"a"" OR ""b"'


def test_what_replaced_a_part_of_an_item_comes_before_it_where_both_match(index_of):
    newer = make_item("newer", "export paths follow the run id")
    question = "where do export paths and export folders go"
    older = make_item("older", "export paths and export folders follow the campaign")
    parted = make_item("older", older.title, replaced_parts=(f"{newer.learning_id}: export paths",))
    assert ask(question, index_of(newer, older, *FILLER))[1][:2] == [older.title, newer.title]
    assert ask(question, index_of(newer, parted, *FILLER))[1][:2] == [newer.title, older.title]
    assert ask(question, index_of(parted, *FILLER))[1][:1] == [older.title], "what does not match is not brought in"


def test_items_that_each_say_to_have_replaced_a_part_of_the_other_are_given_once(index_of):
    ids = [make_item(name, "").learning_id for name in ("one", "two")]
    one = make_item("one", "export paths follow the run id", replaced_parts=(f"{ids[1]}: a",))
    two = make_item("two", "export paths follow the campaign", replaced_parts=(f"{ids[0]}: b",))
    assert sorted(ask("export paths follow", index_of(one, two, *FILLER))[1][:3]) == sorted([one.title, two.title])
