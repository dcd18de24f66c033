"""Comparison of results: angles, torques, powers and ground forces over the gait cycle.

Quantities have clinical names, so bodies of different models can be compared. A motion with
complete gait cycles is averaged over them; a motion without cycles is scaled from its first frame
to its last.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from homodyn.analysis.curves import (
    CYCLE_PERCENT,
    BilateralCurve,
    CurveEnsemble,
    CycleSegmentation,
    angle_curves,
)
from homodyn.analysis.load_curves import ground_force_curves, power_curves, torque_curves
from homodyn.motion import Motion, Side
from homodyn.report.colors import Rgb
from homodyn.studio.document import Actor, StudioDocument

QUANTITIES = ("Angle", "Torque", "Power", "Ground force")
MAX_COMPARED_RESULTS = 8
"""Results in one comparison."""


@dataclass(frozen=True, eq=False)
class ComparedCurve:
    """One side of one result over the gait cycle."""

    owner: str
    color: Rgb
    """Color of the body."""
    side: str
    """``"right"``, ``"left"``, or empty for the middle of the body."""
    cycles: int
    """Cycles of the mean; 0 if the whole motion is used instead."""
    mean: np.ndarray
    """(101,): at 0 to 100 % of the cycle."""
    sd: np.ndarray
    """(101,): standard deviation of the cycles."""


@dataclass(frozen=True)
class Difference:
    """Range of a curve and its difference from the reference, in the unit of the curves."""

    owner: str
    side: str
    minimum: float
    maximum: float
    rms: float
    """Root mean square difference from the reference; 0 for the reference itself."""
    correlation: float | None
    """Correlation with the reference; None if one of the curves is constant."""


@dataclass(frozen=True, eq=False)
class _CachedCurves:
    """Curves by quantity, and the loads and events they were computed from."""

    parts: tuple[object, object]
    curves: dict[str, list[BilateralCurve]]


_curve_cache: WeakKeyDictionary[Motion, _CachedCurves] = WeakKeyDictionary()
"""The curves that were last computed for each motion."""


def compared_results(document: StudioDocument) -> list[Actor]:
    """The visible bodies with a motion, at most `MAX_COMPARED_RESULTS`."""
    moving = [actor for actor in document.actors if actor.motion is not None and actor.shown]
    return moving[:MAX_COMPARED_RESULTS]


def titles(document: StudioDocument, quantity: str) -> dict[str, str]:
    """Titles and units of the curves of a quantity over all compared results."""
    found: dict[str, str] = {}
    for actor in compared_results(document):
        for curve in curves_of(actor)[quantity]:
            found.setdefault(curve.title, curve.unit)
    return found


def compared_curves(
    document: StudioDocument, quantity: str, title: str, sides: Sequence[str] = tuple(Side)
) -> list[ComparedCurve]:
    """The curves of a title, one per result and side.

    A quantity of the middle of the body has one curve, over the cycles of the right side.
    """
    found = []
    for actor in compared_results(document):
        assert actor.motion is not None
        segmentation = CycleSegmentation(actor.motion.time, tuple(actor.events))
        curve = next((c for c in curves_of(actor)[quantity] if c.title == title), None)
        if curve is None:
            continue
        ensembles = curve.ensembles[:1] if curve.midline else curve.ensembles
        for side, ensemble in ensembles:
            if side in sides or curve.midline:
                cycles = segmentation.count(side) and len(ensemble.values)
                mean, sd = over_cycle(ensemble, bool(cycles))
                own = "" if curve.midline else side
                found.append(ComparedCurve(actor.name, actor.color, own, cycles, mean, sd))
    return found


def over_cycle(ensemble: CurveEnsemble, cyclic: bool) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation (101,) at 0 to 100 % of the cycle, or of the whole motion."""
    if cyclic:
        return ensemble.mean, ensemble.sd
    length = max(float(ensemble.x[-1] - ensemble.x[0]), 1e-12)
    percent = 100.0 * (ensemble.x - ensemble.x[0]) / length
    known = np.isfinite(ensemble.mean)
    mean = np.interp(CYCLE_PERCENT, percent[known], ensemble.mean[known])
    return mean, np.zeros(len(CYCLE_PERCENT))


def differences(curves: Sequence[ComparedCurve]) -> list[Difference]:
    """Range of each curve, and its difference from the first result of the same side."""
    found = []
    for curve in curves:
        reference = next(other for other in curves if other.side == curve.side)
        difference = curve.mean - reference.mean
        constant = min(np.std(curve.mean), np.std(reference.mean)) < 1e-9
        correlation = None if constant else float(np.corrcoef(curve.mean, reference.mean)[0, 1])
        found.append(
            Difference(
                curve.owner,
                curve.side,
                float(curve.mean.min()),
                float(curve.mean.max()),
                float(np.sqrt(np.mean(difference**2))),
                correlation,
            )
        )
    return found


def curves_csv(selection: Sequence[tuple[str, str, Sequence[ComparedCurve]]]) -> str:
    """Curves (title, unit, results) as CSV text, one row per percent of the cycle."""
    header, columns = ["gait cycle (%)"], [CYCLE_PERCENT]
    for title, unit, curves in selection:
        for curve in curves:
            name = f"{curve.owner}: {title} {curve.side}".strip()
            header += [f"{name} mean ({unit})", f"{name} sd ({unit})"]
            columns += [curve.mean, curve.sd]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([f"{x:.9g}" for x in row] for row in np.column_stack(columns).tolist())
    return stream.getvalue()


def curves_of(actor: Actor) -> dict[str, list[BilateralCurve]]:
    """All curves of a body with a motion, by quantity; computed once per motion."""
    assert actor.motion is not None
    parts = (actor.loads, actor.events)
    known = _curve_cache.get(actor.motion)
    if known is None or any(a is not b for a, b in zip(known.parts, parts, strict=True)):
        segmentation = CycleSegmentation(actor.motion.time, tuple(actor.events))
        loads = actor.loads
        curves = {
            "Angle": angle_curves(actor.motion, segmentation),
            "Torque": [] if loads is None else torque_curves(loads, segmentation),
            "Power": [] if loads is None else power_curves(loads, segmentation),
            "Ground force": [] if loads is None else ground_force_curves(loads, segmentation),
        }
        known = _curve_cache[actor.motion] = _CachedCurves(parts, curves)
    return known.curves
