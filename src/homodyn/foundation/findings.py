"""Findings: the results of checks of models, recordings and analyses."""

from __future__ import annotations

from enum import StrEnum

from homodyn.foundation.record import Record, record


class Severity(StrEnum):
    """Importance of a finding, the most severe first."""

    ERROR = "error"
    """Results are wrong until the cause is corrected."""
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
    """One sentence about something that was checked, with its severity."""

    severity: Severity
    subject: str
    """Subject in one or two words: ``"inertia"``, ``"gap"``."""
    sentence: str
    """What was found, where, and what to do about it."""

    def headline(self) -> str:
        """Severity, subject and sentence."""
        return f"{self.severity}: {self.subject}: {self.sentence}"

    def __str__(self) -> str:
        return self.headline()
