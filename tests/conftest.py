"""What every test may count on."""

from __future__ import annotations

from pathlib import Path

from hypothesis import settings

# How long one example takes is the machine's affair: under load a deadline fails what is right.
settings.register_profile("lorelake", deadline=None)
settings.load_profile("lorelake")

EXAMPLE_KEY = Path(__file__).parent / "samples" / "team" / "example.key"


def pytest_configure() -> None:
    """Git keeps no 0600, and the redactor insists on it; `lorelake nightly` does the same for the bundled example."""
    EXAMPLE_KEY.chmod(0o600)
