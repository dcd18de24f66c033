"""Quality of a result: one verdict per aspect, with a light and a sentence.

Verdicts grade a result. The findings of the health check (`homodyn.foundation.Finding`) are about
the recording; a verdict quotes the worst one, the others are listed in the report.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from homodyn.analysis.emg_verdicts import emg_verdicts
from homodyn.analysis.force_verdicts import force_verdicts
from homodyn.analysis.muscle_sentences import (
    agreement_sentence,
    contact_sentence,
    status_sentence,
)
from homodyn.analysis.physiological_ranges import (
    classify_movement,
    impossible_loads,
    impossible_measures,
)
from homodyn.analysis.pipeline import Analysis
from homodyn.analysis.verdict import QualityLight, QualityVerdict, full_sentence
from homodyn.capture.kinematics.plausibility import limit_shares
from homodyn.capture.kinematics.segment_observability import (
    MAX_UNSEEN_MASS_SHARE,
    seen_segments,
)
from homodyn.foundation import Severity, count_of, enumerate_names
from homodyn.motion import FitStatus
from homodyn.motion.clinical import coordinate_label
from homodyn.muscle import ActivationStatus

GOOD_MARKER_RMS_M, MAX_MARKER_RMS_M = 0.02, 0.04
"""Marker errors (m) of good data and of data not to use (Hicks et al. 2015, J. Biomech. Eng.)."""
MAX_MISSING_SHARE = 0.1
"""Share of marker positions that may be missing or filled in good data."""
MAX_ABSENT_MARKER_SHARE = 1 / 3
"""Share of the markers of the model that the recording may lack if coordinates stay unseen."""
MAX_STALLED_SHARE = 0.1
"""Share of frames that may not converge in a fair fit."""
MIN_LISTED_LIMIT_SHARE, MAX_LIMIT_SHARE = 0.01, 0.2
"""Shares of frames at a joint limit from which it is listed, and from which a fit is fair."""
UNSOLVED_STATUSES = (ActivationStatus.INFEASIBLE, ActivationStatus.NOT_CONVERGED)
"""Frames without activations that produce the torques."""
MAX_LISTED_RANGES = 4
"""Quantities outside of their physiological range that a verdict lists."""
MAX_LISTED_COORDINATES = 4
"""Coordinates that a verdict lists."""


def quality_verdicts(analysis: Analysis) -> tuple[QualityVerdict, ...]:
    """Grade the quality of an analysis: labels, gaps, marker fit, scaling, forces and gait cycles.

    Args:
        analysis: The result of `analyze`.

    Returns:
        The verdicts, the worst first. Aspects without data have no verdict.
    """
    found = [
        *_unseen_verdicts(analysis),
        *_file_verdicts(analysis),
        *_label_verdicts(analysis),
        *_visibility_verdicts(analysis),
        *_health_verdicts(analysis),
        *_fit_verdicts(analysis),
        *_limit_verdicts(analysis),
        *_scaling_verdicts(analysis),
        *force_verdicts(analysis),
        *_range_verdicts(analysis),
        *_cycle_verdicts(analysis),
        *emg_verdicts(analysis),
        *_muscle_verdicts(analysis),
    ]
    return tuple(sorted(found, key=lambda verdict: -verdict.light.rank))


def _file_verdicts(analysis: Analysis) -> Iterator[QualityVerdict]:
    """Files that were read in part, cut or rotated."""
    for note in analysis.trial.notes:
        if "is truncated: " in note:
            yield QualityVerdict(QualityLight.FAIR, "recording", full_sentence(note))
        if note.startswith("analyzed are frames "):
            yield QualityVerdict(QualityLight.NOTE, "recording", full_sentence(note))
        if "the recording is rotated so that" in note:
            yield QualityVerdict(QualityLight.NOTE, "axes", full_sentence(note))


def _label_verdicts(analysis: Analysis) -> Iterator[QualityVerdict]:
    matching = analysis.matching
    if matching is None:
        return
    absent = tuple(matching.absent)
    total = len(analysis.model.markers)
    if not absent:
        yield QualityVerdict(
            QualityLight.GOOD,
            "labels",
            f"All {count_of(total, 'marker')} of the model are in the recording.",
        )
        return
    # Markers of the static trial are often taken off; what counts is what the others show.
    many = len(absent) > MAX_ABSENT_MARKER_SHARE * total and bool(analysis.motion.unobserved)
    yield QualityVerdict(
        QualityLight.FAIR if many else QualityLight.NOTE,
        "labels",
        f"{total - len(absent)} of {count_of(total, 'marker')} of the model are in the recording; "
        f"without {enumerate_names(absent, 8)}. A map of labels (--map) can assign them.",
    )


def _visibility_verdicts(analysis: Analysis) -> Iterator[QualityVerdict]:
    trial = analysis.trial
    filled = float(trial.filled.mean()) if trial.filled.size else 0.0
    missing = float((~trial.seen).mean()) if trial.seen.size else 0.0
    yield QualityVerdict(
        QualityLight.GOOD if filled + missing < MAX_MISSING_SHARE else QualityLight.FAIR,
        "markers seen",
        f"{100 * (1 - filled - missing):.1f} % of the positions of the recorded markers were seen, "
        f"{100 * filled:.1f} % were filled in, {100 * missing:.1f} % are missing.",
    )


def _health_verdicts(analysis: Analysis) -> Iterator[QualityVerdict]:
    """The worst finding of the health check, and the number of the others."""
    if analysis.health is None:
        return
    errors = analysis.health.with_severity(Severity.ERROR)
    findings = (*errors, *analysis.health.with_severity(Severity.WARNING))
    if not findings:
        return
    others = len(findings) - 1
    more = f" {count_of(others, 'further finding')} under Data quality." if others else ""
    light = QualityLight.POOR if errors else QualityLight.FAIR
    yield QualityVerdict(light, "health", f"{findings[0].text}.{more}")


def _fit_verdicts(analysis: Analysis) -> Iterator[QualityVerdict]:
    """Marker errors, and frames that did not converge."""
    motion = analysis.motion
    errors = np.array([_rms(column[np.isfinite(column)]) for column in motion.residual.T])
    ignored = motion.weights <= 0 if motion.weights.any() else np.zeros(len(errors), dtype=bool)
    worst = int(np.argmax(np.where(ignored, -1.0, errors)))
    without = ""
    if ignored.any():
        names = [name for name, left_out in zip(motion.markers, ignored, strict=True) if left_out]
        without = f" Not counted, with weight zero: {enumerate_names(names, 6)}."
    light = QualityLight.POOR
    if motion.rms <= GOOD_MARKER_RMS_M:
        light = QualityLight.GOOD if errors[worst] <= MAX_MARKER_RMS_M else QualityLight.FAIR
    elif motion.rms <= MAX_MARKER_RMS_M:
        light = QualityLight.FAIR
    yield QualityVerdict(
        light,
        "fit",
        f"The model follows the markers to {1000 * motion.rms:.1f} mm (root mean square) over "
        f"{count_of(motion.frames, 'frame')}; worst is {motion.markers[worst]} with "
        f"{1000 * errors[worst]:.1f} mm.{without}",
    )
    stalled = int(np.sum(motion.status != FitStatus.CONVERGED))
    if stalled:
        share = stalled / len(motion.time)
        yield QualityVerdict(
            QualityLight.FAIR if share < MAX_STALLED_SHARE else QualityLight.POOR,
            "convergence",
            f"{stalled} of {count_of(len(motion.time), 'frame')} did not converge: too few visible "
            "markers, or a pose beyond the range of the model.",
        )


def _limit_verdicts(analysis: Analysis) -> Iterator[QualityVerdict]:
    """Coordinates at joint limits, and coordinates that no marker determines."""
    motion = analysis.motion
    if motion.at_limit.size and motion.at_limit.any():
        listed = limit_shares(motion, MIN_LISTED_LIMIT_SHARE, count=4)
        often = motion.at_limit.mean(axis=0).max() > MAX_LIMIT_SHARE
        if listed:
            yield QualityVerdict(
                QualityLight.FAIR if often else QualityLight.NOTE,
                "joint limits",
                f"Coordinates at their joint limit, share of frames: {', '.join(listed)}.",
            )
    if motion.unobserved:
        labels = [coordinate_label(motion.model, name) for name in motion.unobserved]
        listed_labels = enumerate_names(labels, MAX_LISTED_COORDINATES)
        yield QualityVerdict(
            QualityLight.NOTE,
            "unseen coordinates",
            f"No marker determines {listed_labels}; kept constant.",
        )


def _unseen_verdicts(analysis: Analysis) -> Iterator[QualityVerdict]:
    """Segments that no marker shows, and the results that are left out for it."""
    seen = seen_segments(analysis.motion)
    if not seen.unseen_bodies or seen.unseen_mass_share <= MAX_UNSEEN_MASS_SHARE:
        return
    left_out = [
        word
        for part, word in (("kinetics", "torques"), ("gait", "events and gait measures"))
        if part in analysis.missing
    ]
    without = f" There are no {' and no '.join(left_out)}." if left_out else ""
    yield QualityVerdict(
        QualityLight.FAIR,
        "unseen segments",
        f"No marker shows {enumerate_names(seen.unseen_bodies, 8)}: "
        f"{100 * seen.unseen_mass_share:.0f} % of the body mass keeps a constant pose, and what "
        f"depends on the whole body (center of mass, energy, residuals) is not known.{without}",
    )


def _range_verdicts(analysis: Analysis) -> Iterator[QualityVerdict]:
    """Gait measures, forces and torques that no person can have."""
    found = [] if analysis.gait is None else list(impossible_measures(analysis.gait))
    if analysis.loads is not None:
        movement = classify_movement(
            analysis.gait, analysis.events, searched="gait" not in analysis.missing
        )
        found += impossible_loads(analysis.loads, analysis.cycles, movement)
    if found:
        listed = "; ".join(found[:MAX_LISTED_RANGES])
        more = f"; {len(found) - MAX_LISTED_RANGES} more" if len(found) > MAX_LISTED_RANGES else ""
        yield QualityVerdict(
            QualityLight.POOR,
            "physiological range",
            f"Not possible for a person: {listed}{more}. Check units, labels, mass and events.",
        )


def _scaling_verdicts(analysis: Analysis) -> Iterator[QualityVerdict]:
    scaling = analysis.scaling
    if scaling is None:
        return
    if scaling.ok:
        before, after = (1000 * rms for rms in (scaling.rms_before, scaling.rms_after))
        text = f"Scaling reduced the marker error from {before:.1f} to {after:.1f} mm"
        if after >= before:
            text = (
                f"The generic model fits as well as the scaled one: {before:.1f} and {after:.1f} mm"
            )
        yield QualityVerdict(QualityLight.GOOD, "scaling", f"{text} (root mean square).")
        return
    first, *others = scaling.warnings or (f"Scaling ended with status {scaling.status}",)
    more = f" {count_of(len(others), 'further warning')} in the notes." if others else ""
    yield QualityVerdict(QualityLight.FAIR, "scaling", full_sentence(first) + more)


def _cycle_verdicts(analysis: Analysis) -> Iterator[QualityVerdict]:
    segmentation = analysis.cycles
    if segmentation.has_cycles:
        counts = [f"{segmentation.count(side)} {side}" for side in ("right", "left")]
        sentence = f"Complete gait cycles: {' and '.join(counts)}."
        yield QualityVerdict(QualityLight.GOOD, "cycles", sentence)
        return
    if "gait" in analysis.missing:
        # A belt that contradicts the feet is an error of the settings, not a missing leg.
        light = QualityLight.NOTE if analysis.settings.belt is None else QualityLight.FAIR
        yield QualityVerdict(light, "cycles", full_sentence(analysis.missing["gait"]))
        return
    reason = "No foot strikes twice" if analysis.events else "No foot strikes were found"
    sentence = f"{reason}: curves are shown over time, not over the gait cycle."
    yield QualityVerdict(QualityLight.NOTE, "cycles", sentence)


def _muscle_verdicts(analysis: Analysis) -> Iterator[QualityVerdict]:
    """Frames that muscles do not solve, forces in joints, and agreement with EMG."""
    if analysis.settings.muscles is None:
        return
    found = analysis.muscles
    if found is None:
        reason = analysis.missing["muscles"]
        yield QualityVerdict(QualityLight.FAIR, "muscles", full_sentence(reason))
        return
    result = found.activations
    failed = sum(result.count(one) for one in UNSOLVED_STATUSES)
    light = QualityLight.FAIR if found.unsolved.any() else QualityLight.GOOD
    if failed > MAX_STALLED_SHARE * max(int(result.valid.sum()), 1):
        light = QualityLight.POOR
    yield QualityVerdict(light, "muscles", full_sentence(status_sentence(found)))
    for subject, text in (
        ("joint forces", contact_sentence(found.contact_peaks())),
        ("EMG agreement", agreement_sentence(found)),
    ):
        if text:
            yield QualityVerdict(QualityLight.NOTE, subject, full_sentence(text))


def _rms(values: np.ndarray) -> float:
    """Root mean square; 0 without values."""
    return float(np.sqrt(np.mean(values**2))) if values.size else 0.0
