"""Stage 0: find what there is to read, and hand it on as captures."""
