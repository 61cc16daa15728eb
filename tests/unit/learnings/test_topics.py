"""Topics: keys, kinds, merges that can be undone, people who were there, and counts that no order changes."""

import json
import random

import pytest

from lorelake.learnings.topic_names import merged, named
from lorelake.learnings.topic_people import present
from lorelake.learnings.topics import MOST_TAGS, topic_id, topics

TEAM = "team"


def learning(name, **more):
    row = {
        "learning_id": f"lrn_{name}",
        "state": "active",
        "audience": TEAM,
        "project": "unknown",
        "tags": [],
        "applies_to": [],
    }
    return row | more


def behind(name, signal_id=None):
    return {"learning_id": f"lrn_{name}", "signal_id": signal_id or f"s-{name}"}


def seen(name, unit="claude_code:s1", quote="keep it short", item=None, saw=None):
    payload = json.dumps({"item": item or {}, "seen": saw or {}})
    return {"signal_id": f"s-{name}", "unit_id": unit, "quote": quote, "payload": payload}


def filed(learnings, signals=(), here=None):
    evidence = [behind(row["learning_id"][4:]) for row in learnings]
    by_id = {row["signal_id"]: row for row in signals}
    return topics(learnings, evidence, by_id, here or {})


def paths(found, name="a"):
    of = {row["topic_id"]: row["path"] for row in found.topics}
    return {of[row["topic_id"]]: row["tagger"] for row in found.members if row["learning_id"] == f"lrn_{name}"}


@pytest.mark.parametrize(
    ("words", "key"),
    [
        ("CI Cache", "ci_cache"), ("src/Billing/api.py", "src/billing/api_py"), ("C++", "cpp"), ("C#", "csharp"),
        ("部署 流程", "部署_流程"), ("Größe", "größe"), ("ＡＢＣ", "abc"), ("हिन्दी", "हिन्दी"), ("a//./b/", "a/b"),
    ],
)  # fmt: skip
def test_a_key_keeps_letters_of_any_script_and_nothing_else(words, key):
    assert named(words).key == key


def test_what_has_no_letter_has_no_key():
    assert named("---/ *") is None


def test_a_long_key_loses_whole_parts_and_a_long_label_its_end():
    found = named("/".join(f"part{number:02}" + "x" * 20 for number in range(9)))
    assert len(found.key) <= 128
    assert found.key.endswith("x")
    assert len(found.labels) == found.key.count("/") + 1
    assert named("y" * 300).key == "y" * 128
    assert len(named("y" * 300).labels[0]) == 80


@pytest.mark.parametrize(
    ("keys", "into"),
    [
        (["pre_commit", "precommit"], {"pre_commit": "precommit"}),
        (["deploy", "deployments"], {"deployments": "deploy"}),
        (["git", "git_rebase", "git_stash"], {"git_rebase": "git", "git_stash": "git"}),
        (["cache_tool", "ci_cache"], {"ci_cache": "cache_tool"}),
    ],
)
def test_tags_of_the_same_words_are_one_topic(keys, into):
    assert {key: merge.into for key, merge in merged(dict.fromkeys(keys, 1)).items()} == into


@pytest.mark.parametrize(
    "keys",
    [
        ["post", "postgres"],  # a common beginning is no common word
        ["auth", "author"],
        ["git_rebase", "git_stash"],  # each says something that the other does not
        ["data_team", "data_plan"],  # words that are in tags of any subject
        ["use_hook", "user_hook"],  # three letters are no stem
        ["go", "go_generate"],  # two letters are too few to go by
        ["部署", "部落"],
    ],
)
def test_tags_that_only_look_alike_stay_apart(keys):
    assert merged(dict.fromkeys(keys, 1)) == {}


def test_a_merge_leads_to_a_topic_and_never_to_what_was_merged_itself():
    found = merged({"cache": 1, "caches_ci": 4, "ci_caches_slow": 9})
    assert {merge.into for merge in found.values()} == {"cache"}


def test_of_equally_plain_tags_the_more_used_stays():
    assert merged({"flaky_test": 1, "test_flaky": 2})["flaky_test"].into == "test_flaky"
    assert merged({"flaky_test": 2, "test_flaky": 1})["test_flaky"].into == "flaky_test"


def test_each_merge_is_a_row_by_which_it_can_be_taken_back():
    rows = [learning("a", tags=["deploy"]), learning("b", tags=["Deployments"])]
    found = filed(rows)
    (merge,) = found.merges
    assert merge == {
        "from_id": topic_id(TEAM, "topic/deployments"), "to_id": topic_id(TEAM, "topic/deploy"), "audience": TEAM,
        "kind": "topic", "from_path": "topic/deployments", "to_path": "topic/deploy", "rule": "shared_words",
        "evidence": "deploy ~ deployments",
    }  # fmt: skip
    assert paths(found, "b") == {"topic/deploy": "tag"}
    assert {row["path"]: row["learnings"] for row in found.topics} == {"topic/deploy": 2}


def test_nothing_but_free_tags_is_merged_by_its_words():
    rows = [
        learning("a", applies_to=["cache/store.py", "npm:cache-store"], project="cache"),
        learning("b", applies_to=["caches/store.py", "npm:cache-stores"], project="caches", tags=["package_cache"]),
    ]
    found = filed(rows)
    assert found.merges == []
    assert paths(found, "b") == {
        "project/caches": "project", "path/caches/store_py": "path", "package/cache_stores": "package",
        "package/cache": "tag",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("src/billing/api.py", {"path/src/billing/api_py"}),
        ("src/billing/**/*.py", {"path/src/billing"}),
        ("Makefile.am", {"path/makefile_am"}),
        ("@tanstack/query", {"package/tanstack/query"}),
        ("requests==2.31", {"package/requests"}),
        ("pip install 'httpx[http2]' ruff", {"package/httpx", "package/ruff"}),
        ("npm run build", set()),
        ("https://example.org/a/b", set()),
        ("sig-1:0123456789abcdef", set()),
    ],
)
def test_what_an_item_applies_to_is_a_path_a_package_or_no_topic(entry, expected):
    assert set(paths(filed([learning("a", applies_to=[entry])]))) == expected


def test_channel_error_family_and_folder_come_from_the_signals():
    signals = [
        seen("a", unit="slack:C012AB:17.5"),
        seen("b", item={"witness": "KeyError app/pay.py:load <quoted> sig-1:ff"}, saw={"signature": "sig-1:ff"}),
        seen("c", item={"document": "learnings/docker/volumes.md"}),
        seen("d", item={"document": "docs/adr/0007-ledger.md"}),
        seen("e", unit="slack:D0MARA:17.5"),
    ]
    found = filed([learning(name) for name in "abcde"], signals)
    assert paths(found, "a") == {"channel/c012ab": "channel"}
    assert paths(found, "b") == {"error/keyerror": "error"}
    assert paths(found, "c") == {"topic/docker": "folder"}
    assert paths(found, "d") == {}
    assert paths(found, "e") == {}
    assert found.without == ["lrn_d", "lrn_e"]


def event(actor, text="", unit="claude_code:s1", source="github", actor_class="human", name=None):
    attributes = json.dumps({"name": name} if name else {})
    return {
        "unit_id": unit,
        "source": source,
        "actor": actor,
        "actor_class": actor_class,
        "text": text,
        "attributes": attributes,
    }


PEOPLE = [
    {"source": "settings", "alias": "mara", "person_id": "mara", "kind": "human"},
    {"source": "settings", "alias": "mk-dev", "person_id": "mara", "kind": "human"},
    {"source": "settings", "alias": "jonas", "person_id": "jonas", "kind": "human"},
    {"source": "settings", "alias": "robo", "person_id": "robo", "kind": "bot"},
]


def test_a_person_is_a_topic_only_where_present_and_by_the_people_table():
    here = present([event("mara", "ask @jonas, not @stranger or @robo")], PEOPLE)
    row = learning("a", tags=["person_mk-dev", "person: Jonas", "person/stranger", "person_robo", "person_nina"])
    assert paths(filed([row], [seen("a")], here)) == {"person/mara": "tag", "person/jonas": "tag"}
    assert paths(filed([row], [seen("a")], {})) == {}
    elsewhere = present([event("mara", "ask @jonas", unit="claude_code:s2")], PEOPLE)
    assert paths(filed([row], [seen("a")], elsewhere)) == {}


def test_who_is_mentioned_in_the_quote_is_its_topic_and_who_only_wrote_is_not():
    here = present([event("mara", "hm"), event("mara", "@jonas owns the ledger, mail a@jonas")], PEOPLE)
    assert paths(filed([learning("a")], [seen("a", quote="@jonas owns the ledger")], here)) == {
        "person/jonas": "mention"
    }
    assert paths(filed([learning("a")], [seen("a", quote="mail a@jonas")], here)) == {}


def test_two_present_of_one_name_are_named_by_neither_and_a_machine_mentions_nobody():
    people = [*PEOPLE, {"source": "slack", "alias": "U1", "person_id": "slack:U1", "kind": "human"}]
    here = present([event("mara", name="Kim"), event("slack:U1", name="Kim", source="slack")], people)
    assert paths(filed([learning("a", tags=["person_kim"])], [seen("a")], here)) == {}
    assert "jonas" not in present([event("agent", "@jonas", actor_class="agent")], PEOPLE)["claude_code:s1"]


def test_a_channel_tag_is_dropped_for_the_channel_is_where_it_was_said():
    found = filed([learning("a", tags=["channel_general"])], [seen("a", unit="slack:C012AB:17.5")])
    assert paths(found) == {"channel/c012ab": "channel"}


def test_of_many_tags_the_most_used_are_kept_and_the_rest_is_counted():
    names = ["alpha", "bravo", "carol", "delta", "hotel"]
    rows = [learning("a", tags=names), learning("b", tags=["hotel"]), learning("c", tags=["delta"])]
    found = filed(rows)
    assert set(paths(found)) == {"topic/alpha", "topic/bravo", "topic/delta", "topic/hotel"}
    assert len(paths(found)) == MOST_TAGS
    assert found.tags_cut == 1


def test_a_topic_counts_what_lies_below_once_and_only_what_is_live():
    rows = [
        learning("a", applies_to=["src/pay/a.py", "src/pay/b.py"]),
        learning("b", applies_to=["src/x.py"], state="candidate"),
        learning("c", applies_to=["src/pay/c.py"], state="superseded"),
        learning("d", applies_to=["src/d.py"], state="forgotten"),
    ]
    found = filed(rows)
    by_path = {row["path"]: row for row in found.topics}
    assert (by_path["path/src"]["learnings"], by_path["path/src"]["active"]) == (2, 1)
    assert (by_path["path/src/pay"]["learnings"], by_path["path/src/pay"]["active"]) == (1, 1)
    assert by_path["path/src/pay/c_py"]["learnings"] == 0
    assert by_path["path/src/pay"]["parent_id"] == by_path["path/src"]["topic_id"]
    assert by_path["path/src"]["parent_id"] is None
    assert "path/src/d_py" not in by_path
    assert by_path["path/src/pay/a_py"]["label"] == "a.py"


def test_topics_of_one_audience_know_nothing_of_another():
    rows = [learning("a", tags=["deployments"]), learning("b", tags=["deploy"], audience="channel:C9")]
    found = filed(rows)
    assert {(row["audience"], row["path"], row["learnings"]) for row in found.topics} == {
        (TEAM, "topic/deployments", 1), ("channel:C9", "topic/deploy", 1)
    }  # fmt: skip
    assert found.merges == []
    assert len({row["topic_id"] for row in found.topics}) == 2


def test_no_order_of_input_shows():
    rows = [
        learning("a", tags=["CI cache", "flaky"], applies_to=["src/a.py", "b/c.py"]),
        learning("b", tags=["ci-cache", "caches"]), learning("c", tags=["Cache", "flaky tests"], project="shop"),
    ]  # fmt: skip
    signals = [seen(name) for name in "abc"]
    expected = filed(rows, signals)
    for seed in range(5):
        mixed = random.Random(seed).sample([row | {"tags": row["tags"][::-1]} for row in rows], 3)
        assert filed(mixed, signals[::-1]) == expected


def test_every_member_and_merge_has_its_topic():
    rows = [
        learning(str(n), tags=[f"tag{n % 3} x{n}", "git", f"git a{n}"], applies_to=[f"s/{n % 4}/f.py"])
        for n in range(9)
    ]
    found = filed(rows)
    known = {row["topic_id"] for row in found.topics}
    assert {row["topic_id"] for row in found.members} <= known
    assert {row["to_id"] for row in found.merges} <= known
    assert {row["parent_id"] for row in found.topics} - {None} <= known
