"""One module per native format: sniff, typed records, identity, and the way to events.

A new source is one new file here. `record.py` holds what they share. Nothing here writes or knows the lake.
"""
