"""What is wrong with a recording: one record per finding, few enough to read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

Frames = tuple[tuple[int, int], ...]
"""Stretches of frames, first and last of each, as the recording numbers them."""


class Severity(StrEnum):
    """How much a finding matters to what is computed from the recording."""

    INFO = "info"
    """Worth knowing; nothing has to be done."""
    WARNING = "warning"
    """Results near it are in doubt."""
    SERIOUS = "serious"
    """Results are wrong until it is mended."""


SEVERITY_RANK = {Severity.SERIOUS: 0, Severity.WARNING: 1, Severity.INFO: 2}


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, where it is, and what helps."""

    kind: str
    """``gap``, ``empty``, ``spike``, ``jump``, ``swap``, ``mislabel``, ``drift``, ``frozen``,
    ``never seen``, ``units``, ``axes``, ``mirrored``, ``plate offset``, ``plate drift``,
    ``plate upside down`` or ``plate unloaded``."""
    severity: Severity
    sentence: str
    """What it is and what to do."""
    markers: tuple[str, ...] = ()
    plate: str = ""
    frames: Frames = ()

    @property
    def marker(self) -> str:
        """The markers in one text."""
        return ", ".join(self.markers)

    @property
    def count(self) -> int:
        """Number of frames it concerns."""
        return sum(last - first + 1 for first, last in self.frames)

    def __str__(self) -> str:
        who = self.marker or self.plate or "the whole recording"
        return f"{self.severity}: {self.kind}, {who}: {self.sentence}"


MAX_FINDINGS_PER_KIND = 8
"""Findings of one kind that are told apart; the rest is told in one."""


def group_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings, the gravest first; of each kind the gravest few, the others summed up."""
    kinds: dict[str, list[Finding]] = {}
    for finding in findings:
        kinds.setdefault(finding.kind, []).append(finding)
    kept: list[Finding] = []
    for members in kinds.values():
        members.sort(key=lambda finding: (SEVERITY_RANK[finding.severity], -finding.count))
        kept += (
            members[:MAX_FINDINGS_PER_KIND] if len(members) > MAX_FINDINGS_PER_KIND + 1 else members
        )
        if len(members) > MAX_FINDINGS_PER_KIND + 1:
            kept.append(_summary_finding(members[MAX_FINDINGS_PER_KIND:]))
    return tuple(sorted(kept, key=lambda finding: SEVERITY_RANK[finding.severity]))


def merge_simultaneous_jumps(findings: Iterable[Finding]) -> list[Finding]:
    """Jumps of several markers at the same frames, as one: they have one cause."""
    told: dict[tuple[str, Frames], Finding] = {}
    out: list[Finding] = []
    for finding in findings:
        if finding.kind != "jump":
            out.append(finding)
            continue
        key = (finding.sentence, finding.frames)
        before = told.get(key)
        markers = (*(before.markers if before else ()), *finding.markers)
        told[key] = replace(finding, markers=markers)
    return out + list(told.values())


def _summary_finding(rest: list[Finding]) -> Finding:
    markers = tuple(dict.fromkeys(marker for finding in rest for marker in finding.markers))
    frames = merge_ranges(frame for finding in rest for frame in finding.frames)
    sentence = f"{len(rest)} more of this kind, on {len(markers)} markers: {rest[0].sentence}"
    return Finding(rest[0].kind, rest[0].severity, sentence, markers, frames=frames)


def merge_ranges(frames: Iterable[tuple[int, int]]) -> Frames:
    """Stretches in order, those that touch or overlap made one."""
    out: list[tuple[int, int]] = []
    for first, last in sorted(frames):
        if out and first <= out[-1][1] + 1:
            out[-1] = (out[-1][0], max(last, out[-1][1]))
        else:
            out.append((first, last))
    return tuple(out)


def ranges_text(frames: Frames, most: int = 5) -> str:
    """Stretches of frames as text: ``12, 40-52 and 3 more``."""
    texts = [str(first) if first == last else f"{first}-{last}" for first, last in frames[:most]]
    text = ", ".join(texts)
    return f"{text} and {len(frames) - most} more" if len(frames) > most else text
