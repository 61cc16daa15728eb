"""Stage 1: what arrived, redacted and kept with its lineage; what cannot be read is quarantined."""
