import json
from datetime import UTC, datetime, timedelta

import pytest

from lorelake.learnings.supersession import candidates
from lorelake.tables import SUPERSESSION_CANDIDATES

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
A, B, C = ("lrn_" + letter * 32 for letter in "abc")


class Documents:
    """Document versions with the claims they make."""

    def __init__(self):
        self.claims, self.signals, self.events = [], [], []

    def add(self, path, claim, trust="stated", audience="team", text="", **attributes):
        name = f"e{len(self.events)}"
        event = {"event_id": name, "unit_id": f"documents:{path}@root", "seq": len(self.events), "path": path}
        event["kind"] = "document_version"
        event |= {"revision": f"rev{len(self.events)}", "actor": "ana", "audience": audience, "text": text}
        event["actor_class"] = "agent" if attributes.get("machine_written") else "human"
        self.events.append(event | {"ts": NOON + timedelta(days=len(self.events)), "attributes": attributes})
        signal = {"signal_id": f"s-{name}", "event_id": name, "kind": "authored", "quote": f"words of {claim[4:6]}"}
        self.signals.append(signal | {"audience": audience, "actor": "ana", "payload": "{}", "ts": NOON})
        row = {"claim_id": claim, "signal_id": f"s-{name}", "learning_id": claim, "is_canonical": True, "title": path}
        row |= {"trust_basis": trust, "kind": "decision", "rejected": None, "document": path, "applies_to": []}
        self.claims.append(row | {"tombstone_match": None})
        return self

    def links(self, ledger=()):
        return [(row["older_id"], row["newer_id"], row["reason"]) for row in self.rows(ledger)]

    def rows(self, ledger=()):
        rows = candidates(self.claims, self.signals, ledger, self.events)
        assert all(set(row) == set(SUPERSESSION_CANDIDATES.column_names) for row in rows)
        backwards = candidates(self.claims[::-1], self.signals[::-1], ledger[::-1], self.events[::-1])
        assert rows == backwards, "no order of input shows"
        return rows

    def parts(self):
        """(older, newer, whole or the part, ambiguous) of each explicit link."""
        return [
            (row["older_id"], row["newer_id"], (row["part"] or "?") if row["partial"] else "whole", row["ambiguous"])
            for row in self.rows()
            if row["reason"] == "explicit"
        ]


def test_the_next_version_of_a_document_replaces_what_it_said_before():
    found = Documents().add("learnings/a.md", A).add("learnings/a.md", B)
    assert found.links() == [(A, B, "same_document")]
    (row,) = candidates(found.claims, found.signals, (), found.events)
    assert (row["evidence"], row["actor"], row["ts"]) == ("learnings/a.md@rev1", "ana", NOON + timedelta(days=1))


def test_a_version_that_says_the_same_replaces_nothing():
    assert Documents().add("learnings/a.md", A).add("learnings/a.md", A).links() == []


def test_frontmatter_names_a_document_or_a_claim():
    by_path = (
        Documents().add("learnings/a.md", A).add("learnings/b.md", B, frontmatter={"supersedes": "learnings/a.md"})
    )
    beside = Documents().add("learnings/a.md", A).add("learnings/b.md", B, frontmatter={"supersedes": ["a.md"]})
    by_id = Documents().add("learnings/b.md", B, frontmatter={"supersedes": C})
    assert by_path.links() == beside.links() == [(A, B, "explicit")]
    assert by_id.links() == [(C, B, "explicit")]


def test_a_name_of_nothing_or_of_itself_gives_no_link():
    assert Documents().add("learnings/b.md", B, frontmatter={"supersedes": "learnings/none.md"}).links() == []
    assert Documents().add("learnings/b.md", B, frontmatter={"supersedes": "b.md"}).links() == []


def test_a_document_speaks_for_its_own_audience_only():
    found = Documents().add("learnings/a.md", A)
    found.add("learnings/x/b.md", B, audience="project:x", frontmatter={"supersedes": "learnings/a.md"})
    assert found.links() == []


def test_a_machines_document_replaces_nothing():
    found = Documents().add("learnings/a.md", A).add("learnings/a.md", B, trust="proposed")
    found.add("learnings/c.md", C, trust="proposed", frontmatter={"supersedes": "learnings/a.md"})
    assert found.links() == []


def status(text):
    return {"text": text, "sections": {"status": [0, len(text)]}}


def test_the_status_of_a_decision_record_names_what_replaces_it_or_what_it_replaces():
    found = Documents().add("docs/adr/0002-b.md", B)
    found.add("docs/adr/0001-a.md", A, **status("Superseded by [ADR 2](0002-b.md)"))
    assert found.parts() == [(A, B, "whole", False)]
    newer = Documents().add("docs/adr/0001-a.md", A)
    newer.add("docs/adr/0002-b.md", B, **status("Accepted. Supersedes [ADR 1](0001-a.md)"))
    assert newer.parts() == [(A, B, "whole", False)]


def test_a_replacement_in_part_names_the_part():
    found = Documents().add("docs/adr/0002-b.md", B)
    found.add("docs/adr/0001-a.md", A, **status("Accepted. Superseded in part by [ADR 2](0002-b.md) for the layout"))
    assert found.parts() == [(A, B, "layout", False)]
    (row,) = found.rows()
    assert row["quote"] == "Superseded in part by [ADR 2](0002-b.md) for the layout"
    assert (row["older_evidence"], row["older_quote"]) == ("s-e1", "words of aa")
    assert (row["newer_evidence"], row["newer_quote"]) == ("s-e0", "words of bb")


def test_of_one_moment_the_part_is_believed_and_later_words_replace_it():
    """Both records speak of the pair: one of a part, one of the whole."""
    part = "Superseded in part by [ADR 2](0002-b.md)"
    found = Documents().add("docs/adr/0002-b.md", B, **status("Supersedes [ADR 1](0001-a.md)"))
    found.add("docs/adr/0001-a.md", A, **status(part))
    for event in found.events:
        event["ts"] = NOON
    assert found.parts() == [(A, B, "?", False)]
    later = Documents().add("docs/adr/0001-a.md", A, **status(part))
    later.add("docs/adr/0002-b.md", B, **status("Supersedes [ADR 1](0001-a.md)"))
    assert later.parts() == [(A, B, "whole", False)]


def test_what_the_newest_version_no_longer_says_is_taken_back():
    found = Documents().add("docs/adr/0002-b.md", B)
    found.add("docs/adr/0001-a.md", A, **status("Superseded by [ADR 2](0002-b.md)"))
    assert len(found.parts()) == 1
    assert found.add("docs/adr/0001-a.md", A, **status("Accepted")).parts() == []


def test_a_statement_counts_from_when_it_was_first_made():
    found = Documents().add("docs/adr/0002-b.md", B)
    found.add("docs/adr/0001-a.md", A, **status("Superseded by [ADR 2](0002-b.md)"))
    found.add("docs/adr/0001-a.md", A, **status("Superseded by [ADR 2](0002-b.md)\n\nKept for the record."))
    (row,) = found.rows()
    assert row["evidence"] == "docs/adr/0001-a.md@rev1"


def test_a_version_that_claims_nothing_still_says_what_replaced_it():
    """Many teams empty a record and leave a line behind."""
    found = Documents().add("docs/adr/0002-b.md", B).add("docs/adr/0001-a.md", A)
    found.add("docs/adr/0001-a.md", C, **status("Superseded by [ADR 2](0002-b.md)"))
    found.claims.pop()
    assert found.parts() == [(A, B, "whole", False)]


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("supersedes", (A, B, "whole", False)), ("replaces", (A, B, "whole", False)),
        ("obsoletes", (A, B, "whole", False)),
        ("superseded_by", (B, A, "whole", False)), ("replaced-by", (B, A, "whole", False)),
        ("amends", (A, B, "?", False)), ("amended-by", (B, A, "?", False)), ("related", None),
    ],
)  # fmt: skip
def test_keys_of_the_frontmatter_have_a_direction(key, expected):
    found = Documents().add("docs/a.md", A).add("docs/b.md", B, frontmatter={key: ["a.md"]})
    assert found.parts() == ([expected] if expected else [])


@pytest.mark.parametrize(
    "name", ["docs/adr/0001-a.md", "0001-a.md", "ADR-0001", 1, "0001-a", "ADR 1", "Keep one queue"]
)
def test_a_record_may_be_named_in_every_usual_way(name):
    found = Documents().add("docs/adr/0001-a.md", A, adr_number=1, title="1. Keep one queue")
    found.add("docs/adr/0002-b.md", B, adr_number=2, frontmatter={"supersedes": name})
    assert found.parts() == [(A, B, "whole", False)]


def test_a_link_by_address_leads_to_the_record_of_that_name():
    url = "https://code.example/team/shop/blob/main/docs/adr/0001-a.md"
    found = Documents().add("docs/adr/0001-a.md", A)
    found.add("docs/adr/0002-b.md", B, **status(f"Supersedes [the first]({url})"))
    assert found.parts() == [(A, B, "whole", False)]
    gone = Documents().add("docs/adr/0001-a.md", A, adr_number=1)
    gone.add("docs/adr/0002-b.md", B, **status("Supersedes [ADR 1](0001-another.md)"))
    assert gone.parts() == [], "a link that leads nowhere is not helped by its number"


def test_a_decision_record_may_be_named_by_its_number():
    found = Documents().add("docs/adr/0007-b.md", B, adr_number=7)
    found.add("docs/adr/0001-a.md", A, trust="proposed", adr_number=1, **status("Superseded by ADR 0007"))
    assert found.links() == [(A, B, "explicit")]


def twins(words, **more):
    found = Documents().add("docs/adr/0007-b.md", B, adr_number=7, title="7. Store sessions in Redis")
    found.add("docs/adr/0007-c.md", C, adr_number=7, title="7. Ship metrics by push gateway")
    return found.add("docs/adr/0001-a.md", A, adr_number=1, **status(words), **more)


def test_a_number_that_two_records_have_is_ambiguous_and_names_both():
    found = twins("Superseded by ADR 7")
    assert found.parts() == [(A, B, "whole", True), (A, C, "whole", True)]
    assert json.loads(found.rows()[0]["features"])["fits"] == ["docs/adr/0007-b.md", "docs/adr/0007-c.md"]


def test_of_two_with_one_number_a_link_or_the_words_of_the_title_tell_which():
    assert twins("Superseded by [ADR 7](0007-c.md)").parts() == [(A, C, "whole", False)]
    assert twins("Superseded by ADR 7 (sessions in Redis)").parts() == [(A, B, "whole", False)]
    named = "Superseded by ADR 7.\n\nSee [the gateway](0007-c.md)."
    assert twins(named).parts() == [(A, C, "whole", False)]


def test_a_bare_number_adds_nothing_to_what_is_said_clearly():
    both = "Superseded by [ADR 7](0007-b.md) and [ADR 7](0007-c.md). This ADR was superseded by ADR 7."
    assert twins(both).parts() == [(A, B, "whole", False), (A, C, "whole", False)]


def test_a_record_that_names_its_own_number_means_itself():
    found = Documents().add("docs/adr/0007-b.md", B, adr_number=7).add("docs/adr/0001-a.md", A, adr_number=1)
    found.add("docs/adr/0007-c.md", C, adr_number=7, **status("Accepted. ADR 7 supersedes ADR 1."))
    assert found.parts() == [(A, C, "whole", False)]


def test_records_that_share_a_number_are_not_linked_by_it():
    assert twins("Accepted").links() == []


def test_a_number_counts_in_its_own_folder():
    found = Documents().add("api/adr/0007-b.md", B, adr_number=7).add("web/adr/0007-c.md", C, adr_number=7)
    found.add("api/adr/0001-a.md", A, adr_number=1, **status("Superseded by ADR 7"))
    assert found.parts() == [(A, B, "whole", False)]


def test_a_record_that_was_replaced_itself_goes_on_replacing():
    found = Documents().add("docs/adr/0001-a.md", A, adr_number=1)
    past = {"adr_status": "superseded", "adr_number": 2}
    found.add("docs/adr/0002-b.md", B, trust="proposed", **past, **status("Supersedes ADR 1"))
    assert found.parts() == [(A, B, "whole", False)]
    draft = Documents().add("docs/adr/0001-a.md", A, adr_number=1)
    draft.add("docs/adr/0002-b.md", B, trust="proposed", adr_status="draft", **status("Supersedes ADR 1"))
    assert draft.parts() == []


def test_a_proposal_is_replaced_but_replaces_nothing():
    found = Documents().add("docs/adr/0001-a.md", A)
    found.add("docs/adr/0002-b.md", B, trust="proposed", **status("Proposed. Supersedes [ADR 1](0001-a.md)"))
    assert found.links() == []
    machine = Documents().add("docs/adr/0002-b.md", B)
    machine.add("docs/adr/0001-a.md", A, machine_written=True, **status("Superseded by [ADR 2](0002-b.md)"))
    assert machine.links() == []


def test_a_document_of_another_repository_is_another_document():
    found = Documents().add("learnings/a.md", A)
    found.events[0]["unit_id"] = "documents:learnings/a.md@elsewhere"
    assert found.add("learnings/b.md", B, frontmatter={"supersedes": "a.md"}).links() == []


def decided(**more):
    row = {"decision": "supersede", "verdict": "applies", "claim_id": A, "other_claim_id": B}
    return row | {"decision_id": "d1", "actor": "ben", "ts": NOON} | more


def test_a_decision_that_applies_is_explicit_and_one_that_does_not_is_nothing():
    assert Documents().links([decided()]) == [(A, B, "explicit")]
    assert Documents().links([decided(verdict="refused")]) == []
    assert Documents().links([decided(decision="approve")]) == []
    assert Documents().links([decided(other_claim_id=A)]) == []


def test_of_two_statements_of_one_link_the_latest_is_kept():
    later = decided(decision_id="d0", ts=NOON + timedelta(days=3))
    (row,) = candidates([], [], [later, decided()], [])
    assert row["evidence"] == "d0"


def test_a_persons_decision_weighs_more_than_a_document():
    found = Documents().add("docs/adr/0002-b.md", B)
    found.add("docs/adr/0001-a.md", A, **status("Superseded in part by [ADR 2](0002-b.md)"))
    assert [(row["partial"], row["evidence"]) for row in found.rows()] == [(True, "docs/adr/0001-a.md@rev1")]
    assert [(row["partial"], row["evidence"]) for row in found.rows([decided()])] == [(False, "d1")]
