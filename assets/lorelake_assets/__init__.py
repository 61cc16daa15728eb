"""The orchestration: one module per asset group. Bodies call the library and return metadata."""
