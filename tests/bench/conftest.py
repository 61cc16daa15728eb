"""What figures are measured with lies beside them; pytest's importlib mode does not put it on the path by itself."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
