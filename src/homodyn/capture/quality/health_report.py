"""Report of a health check: findings, and one row per marker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from homodyn.capture.quality.finding import (
    Frames,
    TrialFinding,
)
from homodyn.foundation.findings import Severity
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of
from homodyn.foundation.time_series import require_pandas

if TYPE_CHECKING:
    import pandas as pd

PROBLEM_KINDS = ("gaps", "spikes", "jumps", "swaps", "mislabels", "frozen")
"""Fields of `MarkerHealth` that are ranges of frames."""


@record(eq=True)
class MarkerHealth(Record):
    """Problems of one marker, in frames of the recording."""

    marker: str
    """Name of the marker."""
    missing: float
    """Share of frames without a position, 0 to 1."""
    gaps: Frames = ()
    spikes: Frames = ()
    jumps: Frames = ()
    swaps: Frames = ()
    mislabels: Frames = ()
    frozen: Frames = ()
    companions: tuple[str, ...] = ()
    """Markers at a constant distance from it."""


@record(eq=True)
class HealthReport(Record):
    """All findings about a recording, most severe first, and one row per marker."""

    trial: str
    """Name of the trial."""
    findings: tuple[TrialFinding, ...]
    markers: tuple[MarkerHealth, ...]

    @property
    def has_errors(self) -> bool:
        """Whether something must be corrected before results can be trusted."""
        return any(finding.severity is Severity.ERROR for finding in self.findings)

    def about(self, subject: str) -> tuple[TrialFinding, ...]:
        """The findings about one subject.

        Args:
            subject: Such as ``"gap"`` or ``"swap"``.

        Returns:
            The findings, most severe first.
        """
        return tuple(finding for finding in self.findings if finding.subject == subject)

    def with_severity(self, severity: Severity) -> tuple[TrialFinding, ...]:
        """The findings of one severity.

        Args:
            severity: Error, warning or info.

        Returns:
            The findings.
        """
        return tuple(finding for finding in self.findings if finding.severity is severity)

    def headline(self) -> str:
        """Name of the trial and number of findings."""
        found = count_of(len(self.findings), "finding") if self.findings else "no findings"
        return f"{self.trial}: {found} in {count_of(len(self.markers), 'marker')}"

    def summary(self) -> str:
        """All findings, one line each.

        Returns:
            The text.
        """
        return str(self)

    def to_pandas(self) -> pd.DataFrame:
        """Share of missing frames and number of problems of each kind, one row per marker.

        Raises:
            HomodynError: pandas is not installed.
        """
        pandas = require_pandas()
        rows = [
            {"missing": row.missing, **{kind: len(getattr(row, kind)) for kind in PROBLEM_KINDS}}
            for row in self.markers
        ]
        names = pandas.Index([row.marker for row in self.markers], name="marker")
        frame: pd.DataFrame = pandas.DataFrame(rows, index=names)
        return frame

    def __str__(self) -> str:
        if not self.findings:
            return self.headline()
        return "\n".join(str(finding) for finding in self.findings)
