"""Samples and oracle lie beside the tests; pytest's importlib mode does not put them on the path by itself."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
