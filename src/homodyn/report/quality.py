"""How far a result can be trusted: verdicts with a light and a sentence each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from homodyn.capture import Finding
from homodyn.motion.anatomical_axes import Axes
from homodyn.report.fit_figures import (
    BAD_RMS,
    FORCE_SHARE,
    GOOD_RMS,
    MOMENT_SHARE,
    net_force_and_height,
)

if TYPE_CHECKING:
    from homodyn.analysis.pipeline import Analysis

GOOD, FAIR, POOR, NOTE = "good", "fair", "poor", "note"
RANK = (NOTE, GOOD, FAIR, POOR)
UNSEEN = 0.1
"""Part of the marker positions that may be missing before it is worth a look."""
WEIGHT = 0.05
"""Part by which the plates may carry more or less than the subject weighs."""


@dataclass(frozen=True)
class Verdict:
    """One aspect of the quality of a result: its light and a sentence."""

    light: str
    subject: str
    sentence: str


def verdicts(analysis: Analysis) -> tuple[Verdict, ...]:
    """Everything that is judged, the worst first."""
    found = [
        *_labels(analysis),
        *_seen(analysis),
        *_fit(analysis),
        *_scaling(analysis),
        *_forces(analysis),
        *_cycles(analysis),
    ]
    return tuple(sorted(found, key=lambda verdict: -RANK.index(verdict.light)))


def overall(found: tuple[Verdict, ...]) -> str:
    """The worst light; notes do not count."""
    return max((v.light for v in found if v.light != NOTE), key=RANK.index, default=GOOD)


def _labels(analysis: Analysis) -> Iterator[Verdict]:
    matching = analysis.matching
    if matching is None:
        return
    absent = tuple(matching.absent)
    total = len(analysis.model.markers)
    if not absent:
        yield Verdict(GOOD, "labels", f"All {total} markers of the model are in the recording.")
        return
    light = FAIR if len(absent) > total / 3 else NOTE
    names = ", ".join(absent[:8]) + (" ..." if len(absent) > 8 else "")
    yield Verdict(
        light,
        "labels",
        f"{total - len(absent)} of {total} markers of the model are in the recording; without "
        f"{names}. A map of labels (--map) can tell which marker is which.",
    )


def _seen(analysis: Analysis) -> Iterator[Verdict]:
    trial = analysis.trial
    filled = float(trial.filled.mean()) if trial.filled.size else 0.0
    lost = float((~trial.seen).mean()) if trial.seen.size else 0.0
    light = GOOD if filled + lost < UNSEEN else FAIR
    yield Verdict(
        light,
        "markers seen",
        f"{100 * (1 - filled - lost):.1f} % of the marker positions were seen, "
        f"{100 * filled:.1f} % were filled in, {100 * lost:.1f} % are missing.",
    )
    health = analysis.health
    if health is None:
        return
    severe = [f for f in health.findings if str(f.severity).lower() == "serious"]
    warned = [f for f in health.findings if str(f.severity).lower() == "warning"]
    if severe or warned:
        first = finding_text((severe or warned)[0])
        others = len(severe) + len(warned) - 1
        more = f" And {others} more under Data quality." if others else ""
        yield Verdict(POOR if severe else FAIR, "health", f"{first}.{more}")


def finding_text(finding: Finding) -> str:
    """A finding of the health check with what it is about."""
    about = finding.marker or (f"plate {finding.plate}" if finding.plate else "")
    return f"{about}: {finding.sentence}" if about else finding.sentence


def _fit(analysis: Analysis) -> Iterator[Verdict]:
    motion = analysis.motion
    rms = motion.rms
    worst = np.array(
        [
            np.sqrt(np.mean(column[np.isfinite(column)] ** 2)) if np.isfinite(column).any() else 0.0
            for column in motion.residual.T
        ]
    )
    place = int(np.argmax(worst))
    light = GOOD if rms <= GOOD_RMS else FAIR if rms <= BAD_RMS else POOR
    if light == GOOD and worst[place] > BAD_RMS:
        light = FAIR
    yield Verdict(
        light,
        "fit",
        f"The model follows the markers to {1000 * rms:.1f} mm (root mean square); worst is "
        f"{motion.markers[place]} with {1000 * worst[place]:.1f} mm.",
    )
    stalled = int(sum(str(status) != "converged" for status in motion.status))
    if stalled:
        share = stalled / len(motion.time)
        yield Verdict(
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
            yield Verdict(
                FAIR if often.max() > 0.2 else NOTE,
                "joint limits",
                f"Joint limits held coordinates in part of the frames: {', '.join(names)}.",
            )
    if motion.unobserved:
        yield Verdict(
            NOTE,
            "unseen coordinates",
            f"No marker shows {', '.join(motion.unobserved)}; held still.",
        )


def _scaling(analysis: Analysis) -> Iterator[Verdict]:
    scaled = analysis.scaled
    if scaled is None:
        return
    if not scaled.ok:
        more = f" And {len(scaled.warnings) - 1} more." if len(scaled.warnings) > 1 else ""
        first = (scaled.warnings or (f"Scaling ended {scaled.status}.",))[0]
        yield Verdict(FAIR, "scaling", _sentence(first) + more)
    else:
        yield Verdict(
            GOOD,
            "scaling",
            f"Scaling brought the marker error from {1000 * scaled.rms_before:.1f} to "
            f"{1000 * scaled.rms_after:.1f} mm (root mean square).",
        )


def _forces(analysis: Analysis) -> Iterator[Verdict]:
    loads = analysis.loads
    if loads is None:
        yield Verdict(NOTE, "forces", analysis.missing.get("kinetics", "There are no torques."))
        return
    if loads.predicted:
        yield Verdict(
            NOTE,
            "forces",
            "Ground forces were computed from the motion, not measured: torques of the legs in "
            "double support are estimates.",
        )
        return
    net, height = net_force_and_height(loads)
    force = np.linalg.norm(loads.residual_force, axis=1)
    moment = np.linalg.norm(loads.residual_moment, axis=1)
    limits = (FORCE_SHARE * net, MOMENT_SHARE * net * height)
    on = covered(analysis)
    if not on.any():
        yield Verdict(
            FAIR, "forces", "No frame has all its ground contact on plates; torques are unsure."
        )
        return
    rms = (_rms(force[on]), _rms(moment[on]))
    over = max(rms[0] / limits[0], rms[1] / limits[1])
    part = "" if on.all() else f" in the {100 * on.mean():.0f} % of frames carried by plates"
    yield Verdict(
        GOOD if over <= 1 else FAIR if over <= 3 else POOR,
        "residuals",
        f"Root residuals{part}: {rms[0]:.0f} N (threshold {limits[0]:.0f}) and {rms[1]:.0f} N m "
        f"(threshold {limits[1]:.0f}), root mean square.",
    )
    yield from _weight(analysis)


def _weight(analysis: Analysis) -> Iterator[Verdict]:
    """Whether the plates carry what the subject weighs, over the span between equal states."""
    loads = analysis.loads
    on = covered(analysis)
    if loads is None or on.mean() < 0.3:
        return
    motion = loads.motion
    axes = Axes.of(motion.model)
    gravity = float(np.linalg.norm(motion.model.gravity))
    carried = loads.ground_force @ axes.up
    from homodyn import dynamics

    speed = dynamics.center_of_mass_velocity(motion.model, motion.q, motion.v) @ axes.up
    rise = np.gradient(speed, motion.time)
    mass = float(np.mean(carried[on]) / (gravity + np.mean(rise[on])))
    off = mass / motion.model.mass - 1
    light = GOOD if abs(off) <= WEIGHT else FAIR if abs(off) <= 3 * WEIGHT else POOR
    remedy = "" if light == GOOD else " Check --mass, and that all contact is on the plates."
    yield Verdict(
        light,
        "body weight",
        f"The plates carry {mass:.1f} kg while the feet are on them; the model has "
        f"{motion.model.mass:.1f} kg.{remedy}",
    )


def covered(analysis: Analysis) -> np.ndarray:
    """Frames in which the ground forces are known: all contact is on plates."""
    loads = analysis.loads
    assert loads is not None
    return loads.covered


def _cycles(analysis: Analysis) -> Iterator[Verdict]:
    rhythm = analysis.rhythm
    counts = [f"{rhythm.count(side)} {side}" for side in ("right", "left")]
    if rhythm.cyclic:
        yield Verdict(GOOD, "cycles", f"Complete gait cycles: {' and '.join(counts)}.")
    elif analysis.events:
        yield Verdict(
            NOTE, "cycles", "No foot strikes twice: curves are shown over time, not over a cycle."
        )
    else:
        yield Verdict(
            NOTE, "cycles", "No foot strikes were found: curves are shown over time, not a cycle."
        )


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _sentence(words: str) -> str:
    end = "" if words.endswith((".", "?", "!")) else "."
    return f"{words[:1].upper()}{words[1:]}{end}"
