"""Results beside each other: angles, torques, powers and ground forces over the cycle.

Quantities have the names of the gait laboratory, so bodies of different models meet in them. A
motion with complete gait cycles is told by their mean; one without is stretched from its first
frame to its last.
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
    SIDES,
    BilateralCurve,
    CurveEnsemble,
    CycleSegmentation,
    angle_curves,
)
from homodyn.analysis.load_curves import ground_force_curves, power_curves, torque_curves
from homodyn.motion import Motion
from homodyn.studio.document import Actor, Color, StudioDocument

QUANTITIES = ("Angle", "Torque", "Power", "Ground force")
MAX_COMPARED_RESULTS = 8
"""Results that are compared at once."""


@dataclass(frozen=True, eq=False)
class ComparedCurve:
    """One side of one result over the cycle."""

    owner: str
    color: Color
    side: str
    cycles: int
    """How many cycles the mean is of; 0 where the whole motion stands for one."""
    mean: np.ndarray
    """(101,): at 0 to 100 % of the cycle."""
    sd: np.ndarray
    """(101,): standard deviation over the cycles."""


@dataclass(frozen=True)
class Difference:
    """How far a curve is from the one it is compared with, in the unit of the curves."""

    owner: str
    side: str
    least: float
    greatest: float
    rms: float
    """Root of the mean squared distance from the reference; 0 for the reference itself."""
    correlation: float | None
    """Of the two curves; None where one of them is flat."""


@dataclass(frozen=True, eq=False)
class _CachedCurves:
    """Curves by quantity, and the forces and events that they are of."""

    parts: tuple[object, object]
    curves: dict[str, list[BilateralCurve]]


_curve_cache: WeakKeyDictionary[Motion, _CachedCurves] = WeakKeyDictionary()
"""What was asked for last of each motion."""


def compared_results(document: StudioDocument) -> list[Actor]:
    """The bodies to compare: shown, with a motion, at most `MAX_COMPARED_RESULTS`."""
    moving = [actor for actor in document.actors if actor.motion is not None and actor.shown]
    return moving[:MAX_COMPARED_RESULTS]


def titles(document: StudioDocument, quantity: str) -> dict[str, str]:
    """Curves of a quantity over all results that are compared, and their units."""
    found: dict[str, str] = {}
    for actor in compared_results(document):
        for curve in curves_of(actor)[quantity]:
            found.setdefault(curve.title, curve.unit)
    return found


def compared_curves(
    document: StudioDocument, quantity: str, title: str, sides: Sequence[str] = SIDES
) -> list[ComparedCurve]:
    """The curve of that title of every result that has it, one for each side.

    A quantity of the middle of the body counts once, over the cycles of its right side.
    """
    found = []
    for actor in compared_results(document):
        assert actor.motion is not None
        segmentation = CycleSegmentation(actor.motion.time, tuple(actor.events))
        curve = next((c for c in curves_of(actor)[quantity] if c.title == title), None)
        if curve is None:
            continue
        strands = curve.ensembles[:1] if curve.midline else curve.ensembles
        for side, strand in strands:
            if side in sides or curve.midline:
                cycles = segmentation.count(side) and len(strand.values)
                mean, sd = over_cycle(strand, bool(cycles))
                word = "" if curve.midline else side
                found.append(ComparedCurve(actor.name, actor.color, word, cycles, mean, sd))
    return found


def over_cycle(strand: CurveEnsemble, cyclic: bool) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation (101,) of a strand at 0 to 100 %."""
    if cyclic:
        return strand.mean, strand.sd
    x = 100.0 * (strand.x - strand.x[0]) / max(float(strand.x[-1] - strand.x[0]), 1e-12)
    known = np.isfinite(strand.mean)
    return np.interp(CYCLE_PERCENT, x[known], strand.mean[known]), np.zeros(len(CYCLE_PERCENT))


def differences(curves: Sequence[ComparedCurve]) -> list[Difference]:
    """Extremes of each curve, and how far it is from the first result of the same side."""
    found = []
    for curve in curves:
        reference = next(other for other in curves if other.side == curve.side)
        gap = curve.mean - reference.mean
        flat = min(np.std(curve.mean), np.std(reference.mean)) < 1e-9
        alike = None if flat else float(np.corrcoef(curve.mean, reference.mean)[0, 1])
        found.append(
            Difference(
                curve.owner,
                curve.side,
                float(curve.mean.min()),
                float(curve.mean.max()),
                float(np.sqrt(np.mean(gap**2))),
                alike,
            )
        )
    return found


def table(chosen: Sequence[tuple[str, str, Sequence[ComparedCurve]]]) -> str:
    """Curves (title, unit, results) as comma-separated columns over the cycle."""
    heads, columns = ["gait cycle (%)"], [CYCLE_PERCENT]
    for title, unit, curves in chosen:
        for curve in curves:
            name = f"{curve.owner}: {title} {curve.side}".strip()
            heads += [f"{name} mean ({unit})", f"{name} sd ({unit})"]
            columns += [curve.mean, curve.sd]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows([f"{x:.9g}" for x in row] for row in np.column_stack(columns).tolist())
    return stream.getvalue()


def curves_of(actor: Actor) -> dict[str, list[BilateralCurve]]:
    """All curves of a body with a motion, by quantity; found once for each motion."""
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
