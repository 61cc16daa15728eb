from datetime import UTC, datetime, timedelta

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
        event |= {"revision": f"rev{len(self.events)}", "actor": "ana", "audience": audience, "text": text}
        event["actor_class"] = "agent" if attributes.get("machine_written") else "human"
        self.events.append(event | {"ts": NOON + timedelta(days=len(self.events)), "attributes": attributes})
        self.signals.append({"signal_id": f"s-{name}", "event_id": name, "kind": "authored"})
        self.claims.append({"claim_id": claim, "signal_id": f"s-{name}", "trust_basis": trust})
        return self

    def links(self, ledger=()):
        rows = candidates(self.claims, self.signals, ledger, self.events)
        assert all(set(row) == set(SUPERSESSION_CANDIDATES.column_names) for row in rows)
        return [(row["older_id"], row["newer_id"], row["reason"]) for row in rows]


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


def test_the_status_of_a_decision_record_links_whole_replacements_only():
    found = Documents().add("docs/adr/0002-b.md", B)
    found.add("docs/adr/0001-a.md", A, **status("Superseded by [ADR 2](0002-b.md)"))
    assert found.links() == [(A, B, "explicit")]
    newer = Documents().add("docs/adr/0001-a.md", A)
    newer.add("docs/adr/0002-b.md", B, **status("Accepted. Supersedes [ADR 1](0001-a.md)"))
    assert newer.links() == [(A, B, "explicit")]
    for words in (
        "Accepted. Superseded in part by [ADR 2](0002-b.md)",
        "Accepted.\n\nPartially superseded by\n[ADR 2](0002-b.md) for the layout",
        "Accepted. Refines/supersedes [ADR 2](0002-b.md)",
        "Supersedes the layout portions of [ADR 2](0002-b.md)",
    ):
        part = Documents().add("docs/adr/0002-b.md", B)
        part.add("docs/adr/0001-a.md", A, **status(words))
        assert part.links() == []


def test_a_decision_record_may_be_named_by_its_number():
    found = Documents().add("docs/adr/0007-b.md", B, adr_number=7)
    found.add("docs/adr/0001-a.md", A, trust="proposed", adr_number=1, **status("Superseded by ADR 0007"))
    assert found.links() == [(A, B, "explicit")]


def test_a_number_that_two_records_have_names_none():
    found = Documents().add("docs/adr/0007-b.md", B, adr_number=7).add("docs/adr/0007-c.md", C, adr_number=7)
    found.add("docs/adr/0001-a.md", A, adr_number=1, **status("Superseded by ADR 7"))
    assert found.links() == []


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
