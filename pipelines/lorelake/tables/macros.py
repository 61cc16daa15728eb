"""Table macros of a release: the two questions about the past, for whoever opens its catalogue or `lorelake sql`."""

from __future__ import annotations

MACROS: dict[str, tuple[str, str, str]] = {
    "as_of": (
        "valid, known",
        "what was believed of each learning at the end of day `valid`, by what the lake had kept on day `known`, "
        "under the rules of this release",
        "SELECT * FROM learning_versions"
        " WHERE valid_from < CAST(valid AS DATE) + INTERVAL 1 DAY"
        " AND (valid_to IS NULL OR valid_to >= CAST(valid AS DATE) + INTERVAL 1 DAY)"
        " AND known_from <= CAST(known AS DATE) AND (known_to IS NULL OR known_to > CAST(known AS DATE))",
    ),
    "served": (
        "served_on",
        "what agents were served at the end of a day: the learnings of the release that was served then, with the "
        "hash of their words, and their title where this release may still tell it",
        "SELECT p.release_id, p.sequence, s.learning_id, s.text_sha256, w.title"
        " FROM publishes p JOIN servings s ON s.from_sequence <= p.sequence"
        " AND (s.to_sequence IS NULL OR s.to_sequence > p.sequence)"
        " LEFT JOIN (SELECT learning_id, text_sha256, min(title) AS title FROM learning_versions GROUP BY ALL) w"
        " ON w.learning_id = s.learning_id AND w.text_sha256 = s.text_sha256"
        " WHERE p.sequence = (SELECT max(q.sequence) FROM publishes q"
        " WHERE q.served_from < CAST(served_on AS DATE) + INTERVAL 1 DAY)",
    ),
}
"""Name to (parameters, meaning, query)."""

READS: dict[str, tuple[str, ...]] = {
    "as_of": ("learning_versions",),
    "served": ("publishes", "servings", "learning_versions"),
}
"""Tables a macro reads: without one of them, as in a release older than it, it is not there."""


def statements(tables: set[str]) -> list[str]:
    """What makes each macro whose tables are there."""
    return [
        f"CREATE MACRO {name}({parameters}) AS TABLE {query}"
        for name, (parameters, _, query) in MACROS.items()
        if tables.issuperset(READS[name])
    ]
