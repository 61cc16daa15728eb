"""What agents get: reader, ranking, answers. Read only."""
