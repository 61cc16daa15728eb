"""Every error lorelake raises on purpose.

LorelakeError                exit code 1; carries place and remedy
├── UsageError               exit code 2: the call itself is wrong
├── SettingsError            exit code 2: lorelake.toml is wrong
├── SourceError              a source cannot be read at all (a record that cannot is a Refusal, not an error)
├── ContractError            rows do not fit their table: a fault of ours, never of the input
├── ReleaseError             a release is missing, damaged or may not be published
│   └── AuditError           the audit refused the candidate; yesterday's release goes on serving
├── UnreachableError         memory could not be reached (not the same as "nothing matched")
└── LakeBusyError            another run holds the lake
"""

from __future__ import annotations

from collections.abc import Callable


class LorelakeError(Exception):
    """An error with what happened, where, and what to do about it.

    Args:
        what: one sentence, no full stop.
        where: file, place in it, or None.
        remedy: what the person can do, or None.
    """

    exit_code = 1

    def __init__(self, what: str, *, where: str | None = None, remedy: str | None = None) -> None:
        self.what, self.where, self.remedy = what, where, remedy
        super().__init__(what)

    def __reduce__(self) -> tuple[Callable[..., LorelakeError], tuple[object, ...]]:
        return _restore, (type(self), self.what, self.where, self.remedy)

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        remedy = f"\n  remedy: {self.remedy}" if self.remedy else ""
        return f"{place}{self.what}{remedy}"


def _restore(kind: type[LorelakeError], what: str, where: str | None, remedy: str | None) -> LorelakeError:
    """An error as it was in another process."""
    return kind(what, where=where, remedy=remedy)


class UsageError(LorelakeError):
    """The call is wrong."""

    exit_code = 2


class SettingsError(LorelakeError):
    """lorelake.toml is wrong."""

    exit_code = 2


class SourceError(LorelakeError):
    """A source cannot be read at all."""


class ContractError(LorelakeError):
    """Rows do not fit the table they are written to."""


class ReleaseError(LorelakeError):
    """A release is missing, damaged, or may not be published."""


class AuditError(ReleaseError):
    """The audit refused a candidate release."""


class UnreachableError(LorelakeError):
    """Memory could not be reached."""


class LakeBusyError(LorelakeError):
    """Another run holds the lake."""
