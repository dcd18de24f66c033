"""Findings: what a check of a model, a recording or a result noticed."""

from __future__ import annotations

from enum import StrEnum

from homodyn.foundation.record import Record, record


class Severity(StrEnum):
    """How much a finding matters, the gravest first."""

    ERROR = "error"
    """Results are wrong until it is corrected."""
    WARNING = "warning"
    """Probably a mistake; results that depend on it are in doubt."""
    INFO = "info"
    """Worth knowing; nothing has to be done."""

    @property
    def rank(self) -> int:
        """0 for errors, 1 for warnings, 2 for information: the order in which to list findings."""
        return list(Severity).index(self)


@record(eq=True)
class Finding(Record):
    """One sentence about something that was checked, and how much it matters."""

    severity: Severity
    subject: str
    """What it concerns, in a word or two: ``"inertia"``, ``"gap"``."""
    sentence: str
    """What it is, where, and what to do about it."""

    def headline(self) -> str:
        """Severity, subject and sentence."""
        return f"{self.severity}: {self.subject}: {self.sentence}"

    def __str__(self) -> str:
        return self.headline()
