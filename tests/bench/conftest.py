"""What figures are measured with lies beside them, simulated histories beside the tests of SQL; pytest's importlib mode
does not put either on the path by itself."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "sql")]
