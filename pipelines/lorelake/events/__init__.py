"""Stage 2: one shape for everything that happened; people, projects, ownership; the ledger decoded."""
