"""Stage 4: claims, clusters, supersession candidates. Trust and states follow in SQL."""
