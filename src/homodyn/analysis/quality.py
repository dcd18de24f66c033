"""How far a result can be trusted: verdicts with a light and a sentence each."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from homodyn import dynamics
from homodyn.analysis.pipeline import Analysis
from homodyn.capture.quality import TrialFinding
from homodyn.foundation import Record, record
from homodyn.motion import Loads
from homodyn.motion.anatomical_axes import Axes

GOOD, FAIR, POOR, NOTE = "good", "fair", "poor", "note"
LIGHT_ORDER = (NOTE, GOOD, FAIR, POOR)
GOOD_MARKER_RMS_M, MAX_MARKER_RMS_M = 0.02, 0.04
"""Marker errors (m) of good data and of data not to use (Hicks et al. 2015, J. Biomech. Eng.)."""
MAX_RESIDUAL_FORCE_SHARE, MAX_RESIDUAL_MOMENT_SHARE = 0.05, 0.01
"""Largest root residuals: of the net force, and of leg height times net force (same source)."""
MAX_MISSING_SHARE = 0.1
"""Part of the marker positions that may be missing before it is worth a look."""
MAX_WEIGHT_DEVIATION = 0.05
"""Part by which the plates may carry more or less than the subject weighs."""


@record(eq=True)
class QualityVerdict(Record):
    """One aspect of the quality of a result: its light and a sentence."""

    light: str
    subject: str
    sentence: str

    def headline(self) -> str:
        """Light, subject and sentence."""
        return f"{self.light}: {self.subject}: {self.sentence}"


def quality_verdicts(analysis: Analysis) -> tuple[QualityVerdict, ...]:
    """Judge the quality of an analysis: labels, gaps, marker fit, scaling, forces and gait cycles.

    Args:
        analysis: The result of `analyze`.

    Returns:
        The verdicts, the worst first. Aspects without data have no verdict.
    """
    found = [
        *_labels(analysis),
        *_visibility(analysis),
        *_fit(analysis),
        *_scaling(analysis),
        *_forces(analysis),
        *_cycles(analysis),
    ]
    return tuple(sorted(found, key=lambda verdict: -LIGHT_ORDER.index(verdict.light)))


def overall_light(found: tuple[QualityVerdict, ...]) -> str:
    """The worst light of several verdicts; notes do not count.

    Args:
        found: The verdicts, in any order.

    Returns:
        ``"good"``, ``"fair"`` or ``"poor"``; ``"good"`` if there are no verdicts.
    """
    return max((v.light for v in found if v.light != NOTE), key=LIGHT_ORDER.index, default=GOOD)


def _labels(analysis: Analysis) -> Iterator[QualityVerdict]:
    matching = analysis.matching
    if matching is None:
        return
    absent = tuple(matching.absent)
    total = len(analysis.model.markers)
    if not absent:
        yield QualityVerdict(
            GOOD, "labels", f"All {total} markers of the model are in the recording."
        )
        return
    light = FAIR if len(absent) > total / 3 else NOTE
    names = ", ".join(absent[:8]) + (" ..." if len(absent) > 8 else "")
    yield QualityVerdict(
        light,
        "labels",
        f"{total - len(absent)} of {total} markers of the model are in the recording; without "
        f"{names}. A map of labels (--map) can tell which marker is which.",
    )


def _visibility(analysis: Analysis) -> Iterator[QualityVerdict]:
    trial = analysis.trial
    filled = float(trial.filled.mean()) if trial.filled.size else 0.0
    lost = float((~trial.seen).mean()) if trial.seen.size else 0.0
    light = GOOD if filled + lost < MAX_MISSING_SHARE else FAIR
    yield QualityVerdict(
        light,
        "markers seen",
        f"{100 * (1 - filled - lost):.1f} % of the marker positions were seen, "
        f"{100 * filled:.1f} % were filled in, {100 * lost:.1f} % are missing.",
    )
    health = analysis.health
    if health is None:
        return
    severe = [f for f in health.findings if str(f.severity).lower() == "error"]
    warned = [f for f in health.findings if str(f.severity).lower() == "warning"]
    if severe or warned:
        first = finding_text((severe or warned)[0])
        others = len(severe) + len(warned) - 1
        more = f" And {others} more under Data quality." if others else ""
        yield QualityVerdict(POOR if severe else FAIR, "health", f"{first}.{more}")


def finding_text(finding: TrialFinding) -> str:
    """A finding of the health check with what it is about."""
    about = finding.marker or (f"plate {finding.plate}" if finding.plate else "")
    return f"{about}: {finding.sentence}" if about else finding.sentence


def _fit(analysis: Analysis) -> Iterator[QualityVerdict]:
    motion = analysis.motion
    rms = motion.rms
    worst = np.array(
        [
            np.sqrt(np.mean(column[np.isfinite(column)] ** 2)) if np.isfinite(column).any() else 0.0
            for column in motion.residual.T
        ]
    )
    place = int(np.argmax(worst))
    light = GOOD if rms <= GOOD_MARKER_RMS_M else FAIR if rms <= MAX_MARKER_RMS_M else POOR
    if light == GOOD and worst[place] > MAX_MARKER_RMS_M:
        light = FAIR
    yield QualityVerdict(
        light,
        "fit",
        f"The model follows the markers to {1000 * rms:.1f} mm (root mean square); worst is "
        f"{motion.markers[place]} with {1000 * worst[place]:.1f} mm.",
    )
    stalled = int(sum(str(status) != "converged" for status in motion.status))
    if stalled:
        share = stalled / len(motion.time)
        yield QualityVerdict(
            FAIR if share < 0.1 else POOR,
            "convergence",
            f"{stalled} of {len(motion.time)} frames were not fitted to the end: too few markers "
            "seen, or a pose that the model cannot take.",
        )
    limits = motion.at_limit
    if limits.size and limits.any():
        often = limits.mean(axis=0)
        names = [
            f"{motion.model.coordinate_names[k]} ({100 * often[k]:.0f} %)"
            for k in np.argsort(-often)[:4]
            if often[k] > 0.01
        ]
        if names:
            yield QualityVerdict(
                FAIR if often.max() > 0.2 else NOTE,
                "joint limits",
                f"Joint limits held coordinates in part of the frames: {', '.join(names)}.",
            )
    if motion.unobserved:
        yield QualityVerdict(
            NOTE,
            "unseen coordinates",
            f"No marker shows {', '.join(motion.unobserved)}; kept constant.",
        )


def _scaling(analysis: Analysis) -> Iterator[QualityVerdict]:
    scaled = analysis.scaling
    if scaled is None:
        return
    if not scaled.ok:
        more = f" And {len(scaled.warnings) - 1} more." if len(scaled.warnings) > 1 else ""
        first = (scaled.warnings or (f"Scaling ended {scaled.status}.",))[0]
        yield QualityVerdict(FAIR, "scaling", _sentence(first) + more)
    else:
        yield QualityVerdict(
            GOOD,
            "scaling",
            f"Scaling brought the marker error from {1000 * scaled.rms_before:.1f} to "
            f"{1000 * scaled.rms_after:.1f} mm (root mean square).",
        )


def _forces(analysis: Analysis) -> Iterator[QualityVerdict]:
    loads = analysis.loads
    if loads is None:
        yield QualityVerdict(
            NOTE, "forces", analysis.missing.get("kinetics", "There are no torques.")
        )
        return
    if loads.predicted:
        yield QualityVerdict(
            NOTE,
            "forces",
            "Ground forces were computed from the motion, not measured: torques of the legs in "
            "double support are estimates.",
        )
        return
    force = np.linalg.norm(loads.residual_force, axis=1)
    moment = np.linalg.norm(loads.residual_moment, axis=1)
    limits = residual_limits(loads)
    on = measured_frames(analysis)
    if not on.any():
        yield QualityVerdict(
            FAIR, "forces", "No frame has all its ground contact on plates; torques are unsure."
        )
        return
    rms = (_rms(force[on]), _rms(moment[on]))
    over = max(rms[0] / limits[0], rms[1] / limits[1])
    part = "" if on.all() else f" in the {100 * on.mean():.0f} % of frames carried by plates"
    yield QualityVerdict(
        GOOD if over <= 1 else FAIR if over <= 3 else POOR,
        "residuals",
        f"Root residuals{part}, root mean square: {rms[0]:.0f} N (limit {limits[0]:.0f}) and "
        f"{rms[1]:.0f} N m (limit {limits[1]:.0f}). Peaks: {force[on].max():.0f} N and "
        f"{moment[on].max():.0f} N m.",
    )
    yield from _weight(analysis)


def _weight(analysis: Analysis) -> Iterator[QualityVerdict]:
    """Whether the plates carry what the subject weighs, over the span between equal states."""
    loads = analysis.loads
    on = measured_frames(analysis)
    if loads is None or on.mean() < 0.3:
        return
    motion = loads.motion
    axes = Axes.of(motion.model)
    gravity = float(np.linalg.norm(motion.model.gravity))
    carried = loads.ground_force @ axes.up
    speed = dynamics.center_of_mass_velocity(motion.model, motion.q, motion.v) @ axes.up
    rise = np.gradient(speed, motion.time)
    mass = float(np.mean(carried[on]) / (gravity + np.mean(rise[on])))
    off = mass / motion.model.mass - 1
    light = (
        GOOD
        if abs(off) <= MAX_WEIGHT_DEVIATION
        else FAIR
        if abs(off) <= 3 * MAX_WEIGHT_DEVIATION
        else POOR
    )
    remedy = "" if light == GOOD else " Check --mass, and that all contact is on the plates."
    yield QualityVerdict(
        light,
        "body weight",
        f"The plates carry {mass:.1f} kg while the feet are on them; the model has "
        f"{motion.model.mass:.1f} kg.{remedy}",
    )


def net_force_and_height(loads: Loads) -> tuple[float, float]:
    """Largest net ground force (N), body weight where there is none, and mean height (m)."""
    model = loads.motion.model
    axes = Axes.of(model)
    weight = model.mass * float(np.linalg.norm(model.gravity))
    total = sum((foot.force for foot in loads.feet), np.zeros((1, 3)))
    net = max(float(np.linalg.norm(total, axis=1).max()), weight)
    height = dynamics.center_of_mass(model, loads.motion.q) @ axes.up
    return net, float(np.mean(height))


def residual_limits(loads: Loads) -> tuple[float, float]:
    """Limits of the residual force (N) and moment (N m) after Hicks et al. (2015).

    The verdict compares them with the root mean square over measured frames; `capture.residuals`
    compares them with the peaks.
    """
    net, height = net_force_and_height(loads)
    return MAX_RESIDUAL_FORCE_SHARE * net, MAX_RESIDUAL_MOMENT_SHARE * net * height


def measured_frames(analysis: Analysis) -> np.ndarray:
    """Frames in which the ground forces are known: all contact is on plates."""
    loads = analysis.loads
    assert loads is not None
    return loads.covered


def _cycles(analysis: Analysis) -> Iterator[QualityVerdict]:
    segmentation = analysis.cycles
    counts = [f"{segmentation.count(side)} {side}" for side in ("right", "left")]
    if segmentation.has_cycles:
        yield QualityVerdict(GOOD, "cycles", f"Complete gait cycles: {' and '.join(counts)}.")
    elif analysis.events:
        yield QualityVerdict(
            NOTE, "cycles", "No foot strikes twice: curves are shown over time, not over a cycle."
        )
    else:
        yield QualityVerdict(
            NOTE, "cycles", "No foot strikes were found: curves are shown over time, not a cycle."
        )


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _sentence(words: str) -> str:
    end = "" if words.endswith((".", "?", "!")) else "."
    return f"{words[:1].upper()}{words[1:]}{end}"
