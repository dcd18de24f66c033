"""Findings about a recording, and their grouping into a short list."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from homodyn.foundation.findings import Finding
from homodyn.foundation.record import record
from homodyn.foundation.text import count_of, enumerate_names

Frames = tuple[tuple[int, int], ...]
"""Ranges of frames, first and last of each, in the numbering of the recording."""


@record(eq=True)
class TrialFinding(Finding):
    """One problem of a recording: what it is, where, and what to do.

    The subject is ``gap``, ``empty``, ``spike``, ``jump``, ``swap``, ``mislabel``, ``drift``,
    ``frozen``, ``repeated frames``, ``missing frames``, ``never seen``, ``units``, ``axes``,
    ``mirrored``, ``plate offset``, ``plate drift``, ``plate upside down``, ``plate saturated`` or
    ``plate unloaded``.
    """

    markers: tuple[str, ...] = ()
    """Markers that it concerns."""
    plate: str = ""
    """Force plate that it concerns."""
    frames: Frames = ()
    """Frames that it concerns, in the numbering of the recording."""

    @property
    def marker(self) -> str:
        """The markers as one text."""
        return ", ".join(self.markers)

    @property
    def count(self) -> int:
        """Number of frames it concerns."""
        return sum(last - first + 1 for first, last in self.frames)

    def headline(self) -> str:
        """Severity, subject, markers or plate, and sentence."""
        where = self.marker or self.plate or "the whole recording"
        return f"{self.severity}: {self.subject}, {where}: {self.sentence}"

    @property
    def text(self) -> str:
        """The sentence, preceded by the markers or the plate."""
        where = self.marker or (f"plate {self.plate}" if self.plate else "")
        return f"{where}: {self.sentence}" if where else self.sentence


MAX_FINDINGS_PER_SUBJECT = 8
"""Findings of one subject that are listed; the others are summarized in one."""


def group_findings(findings: Iterable[TrialFinding]) -> tuple[TrialFinding, ...]:
    """The findings, most severe first; of each subject the worst few, the others summarized."""
    subjects: dict[str, list[TrialFinding]] = {}
    for finding in findings:
        subjects.setdefault(finding.subject, []).append(finding)
    kept: list[TrialFinding] = []
    for members in subjects.values():
        members.sort(key=lambda finding: (finding.severity.rank, -finding.count))
        if len(members) > MAX_FINDINGS_PER_SUBJECT + 1:
            kept += members[:MAX_FINDINGS_PER_SUBJECT]
            kept.append(_summary_finding(members[MAX_FINDINGS_PER_SUBJECT:]))
        else:
            kept += members
    return tuple(sorted(kept, key=lambda finding: finding.severity.rank))


def merge_simultaneous_jumps(findings: Iterable[TrialFinding]) -> list[TrialFinding]:
    """Findings with jumps of several markers at the same frames merged: they have one cause."""
    merged: dict[tuple[str, Frames], TrialFinding] = {}
    others: list[TrialFinding] = []
    for finding in findings:
        if finding.subject != "jump":
            others.append(finding)
            continue
        key = (finding.sentence, finding.frames)
        before = merged.get(key)
        markers = (*(before.markers if before else ()), *finding.markers)
        merged[key] = replace(finding, markers=markers)
    return others + list(merged.values())


def _summary_finding(rest: list[TrialFinding]) -> TrialFinding:
    markers = tuple(dict.fromkeys(marker for finding in rest for marker in finding.markers))
    frames = merge_ranges(frame for finding in rest for frame in finding.frames)
    where = count_of(len(markers), "marker")
    sentence = f"{count_of(len(rest), 'similar finding')} on {where}: {rest[0].sentence}"
    return TrialFinding(rest[0].severity, rest[0].subject, sentence, markers, frames=frames)


def merge_ranges(frames: Iterable[tuple[int, int]]) -> Frames:
    """Ranges in order, adjacent and overlapping ones merged."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(frames):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return tuple(merged)


def ranges_text(frames: Frames, limit: int = 5) -> str:
    """Ranges of frames as text: ``12, 40-52 and 3 more``."""
    texts = [str(first) if first == last else f"{first}-{last}" for first, last in frames]
    return enumerate_names(texts, limit)
