"""Verdicts on reconstructed and synthesized steps, of the same kind as those of an analysis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from homodyn.analysis.physiological_ranges import (
    MAX_LEG_TORQUE_N_M_KG,
    MEASURE_RANGES,
    WALKING_RANGES,
)
from homodyn.analysis.step_comparison import StepComparison
from homodyn.analysis.verdict import QualityLight, QualityVerdict, overall_light
from homodyn.foundation.text import enumerate_names
from homodyn.gait import Reconstruction
from homodyn.gait.reconstruction.reconstruction_result import (
    GOOD_TRACKING_M,
    GOOD_TRACKING_RAD,
    MAX_MASS_DEVIATION,
)
from homodyn.gait.synthesis import GroundLoads
from homodyn.motion.clinical import LEGS, coordinate_label, readings
from homodyn.optimal import SolveStatus

MAX_FAIR_FACTOR = 2.0
"""Multiple of the limits of good tracking, forces and mass up to which they are fair."""
GOOD_ADHESION_WEIGHTS, MAX_ADHESION_WEIGHTS = 0.01, 0.04
"""Downward contact forces in body weights: within numerical tolerance, and the most that a solved
step may have between its nodes."""
GOOD_FRICTION, MAX_FRICTION = 0.8, 1.2
"""Friction coefficients: of dry shoes on floors, and the most of rubber soles. Demands are graded
with the two decimals that are shown: a bound at the nodes is met to the tolerance of the solver."""
GOOD_IMPULSE_SHARE, MAX_IMPULSE_SHARE = 0.1, 0.25
"""Shares of the support by impulses at touchdown. A passive foot and shank that stop within
milliseconds account for the first; force plates record such heel strike transients. Above the
second the rigid impact replaces most of the loading of the leg, which then means little."""
GOOD_TORQUE_N_M_KG, MAX_TORQUE_N_M_KG = 0.15, 0.4
"""Errors of leg torques (N m/kg, root mean square) against inverse dynamics with plates: a tenth of
the peaks of walking, and a quarter."""
FORCE_AXES = ("forward", "sideways", "upward")
"""Axes of ground forces."""
MAX_NAMED_COORDINATES = 6
"""Coordinates that one verdict names."""
SOLVED_STATUSES = (str(SolveStatus.SOLVED), str(SolveStatus.ACCEPTABLE))
"""Statuses of steps that satisfy their constraints."""


def reconstruction_verdicts(result: Reconstruction) -> tuple[QualityVerdict, ...]:
    """Grade a reconstructed step: solution, tracking, ground forces and torques.

    Args:
        result: What `homodyn.gait.reconstruct` returned.

    Returns:
        The verdicts, the worst first.
    """
    solution = result.solution
    found = [
        QualityVerdict(
            QualityLight.GOOD if solution.status.success else QualityLight.POOR,
            "solution",
            solution.sentence,
        ),
        *_belt_verdicts(result),
        *_tracking_verdicts(result),
        *_force_verdicts(result),
        *_mass_verdicts(result),
        *_friction_verdicts(result),
        *_torque_verdicts(result),
    ]
    return sort_by_light(found)


def synthesis_verdicts(compared: StepComparison) -> tuple[QualityVerdict, ...]:
    """Grade synthesized steps: solution, speed, and contact forces that a ground can give.

    Args:
        compared: The steps.

    Returns:
        The verdicts, the worst first; each sentence begins with the name of the step.
    """
    weight = compared.model.mass * float(np.linalg.norm(compared.model.gravity))
    found: list[QualityVerdict] = []
    for k, step in enumerate(compared.steps):
        status = compared.statuses[k]
        solved = status in SOLVED_STATUSES
        light = QualityLight.GOOD if solved else QualityLight.POOR
        ending = compared.searches[k][-1] if compared.searches[k] else f"status: {status}."
        found.append(QualityVerdict(light, "solution", f"{step.name}: {ending}"))
        if not MEASURE_RANGES["velocity"].contains(step.speed):
            sentence = f"{step.name}: speed {step.speed:.2f} m/s is not possible for a person."
            found.append(QualityVerdict(QualityLight.POOR, "physiological range", sentence))
        found += _cadence_verdicts(step.name, step.duration)
        lowest = min(compared.min_normal_forces[k].values()) / weight
        found += _contact_verdicts(step.name, lowest, compared.ground_loads[k])
    return sort_by_light(found)


def quality_summary(verdicts: Sequence[QualityVerdict]) -> dict[str, Any]:
    """The entry ``quality`` of a summary: the overall light and all verdicts.

    Args:
        verdicts: The verdicts.

    Returns:
        Plain values for JSON.
    """
    return {
        "light": str(overall_light(tuple(verdicts))),
        "verdicts": [
            {"light": str(v.light), "subject": v.subject, "sentence": v.sentence} for v in verdicts
        ],
    }


def _belt_verdicts(result: Reconstruction) -> Iterator[QualityVerdict]:
    """The belt of a treadmill that was removed."""
    if result.belt_speed:
        yield QualityVerdict(
            QualityLight.NOTE,
            "belt",
            f"The feet stand on a belt that moves at {result.belt_speed:.2f} m/s: the step is "
            "relative to it, as if overground.",
        )


def _tracking_verdicts(result: Reconstruction) -> Iterator[QualityVerdict]:
    """The largest rms error of angles and of positions, and what the markers hardly show."""
    model, largest = result.recorded.model, result.largest_errors
    for unit, shown_unit, scale, good in (
        ("rad", "°", float(np.degrees(1.0)), GOOD_TRACKING_RAD),
        ("m", " mm", 1e3, GOOD_TRACKING_M),
    ):
        if unit not in largest:
            continue
        worst, error = largest[unit]
        most = MAX_FAIR_FACTOR * good
        yield QualityVerdict(
            _light(error, good, most),
            "tracking",
            f"The step follows the recording to {scale * error:.2g}{shown_unit} (root mean square "
            f"of the worst coordinate, {coordinate_label(model, worst)}; good up to "
            f"{scale * good:.2g}{shown_unit}, not to use above {scale * most:.2g}{shown_unit}).",
        )
    if result.hidden_coordinates:
        labels = [coordinate_label(model, name) for name in result.hidden_coordinates]
        yield QualityVerdict(
            QualityLight.NOTE,
            "tracking",
            f"Markers hardly show {enumerate_names(labels, MAX_NAMED_COORDINATES)}: the step does "
            "not follow the recording there.",
        )


def _mass_verdicts(result: Reconstruction) -> Iterator[QualityVerdict]:
    """The mass that the plates carry, beside that of the model."""
    mass, plates = float(result.recorded.model.mass), result.plate_mass
    if plates is not None:
        share = abs(plates - mass) / mass
        yield QualityVerdict(
            _light(share, MAX_MASS_DEVIATION, MAX_FAIR_FACTOR * MAX_MASS_DEVIATION),
            "mass",
            f"The plates carry {plates:.1f} kg, the model has {mass:.1f} kg (good up to "
            f"{100 * MAX_MASS_DEVIATION:g} % apart).",
        )


def _force_verdicts(result: Reconstruction) -> Iterator[QualityVerdict]:
    """Errors of the ground forces against the plates."""
    errors = result.force_errors()
    if not errors:
        yield QualityVerdict(
            QualityLight.FAIR,
            "forces",
            "No plates measured this step: forces and torques are estimates that nothing checks. "
            "Torques jump where contact passes from heel to sole to forefoot.",
        )
    use = "tracked" if result.tracked else "not used in the reconstruction"
    limits = np.array(result.force_limits)
    for error in errors:
        if error.side == "both":
            continue
        shares = np.asarray(error.rms, dtype=float) / result.weight
        parts = [
            f"{100 * share:.1f} {axis} (good up to {100 * limit:.2g})"
            for axis, share, limit in zip(FORCE_AXES, shares, limits, strict=True)
            if np.isfinite(limit)
        ]
        yield QualityVerdict(
            _light(float(np.max(shares / limits)), 1.0, MAX_FAIR_FACTOR),
            "forces",
            f"Ground force of the {error.side.lower()} foot against the plates ({use}), root mean "
            f"square in % of body weight: {', '.join(reversed(parts))}.",
        )


def _friction_verdicts(result: Reconstruction) -> Iterator[QualityVerdict]:
    """The friction that the forces need, and the bound where one was asked for."""
    needed = " and ".join(f"{mu:.2f} ({side})" for side, mu in result.required_friction.items())
    sentence = f"The forces of the feet need a friction coefficient of {needed}; "
    if result.friction is None:
        largest = round(max(result.required_friction.values(), default=0.0), 2)
        if largest > GOOD_FRICTION:
            yield QualityVerdict(
                QualityLight.NOTE if largest <= MAX_FRICTION else QualityLight.FAIR,
                "friction",
                f"{sentence}dry shoes have about {GOOD_FRICTION:g} (--friction bounds it).",
            )
        return
    sentence += f"bounded by {result.friction:g}."
    excesses = result.friction_excesses
    if not excesses:
        yield QualityVerdict(QualityLight.GOOD, "friction", sentence)
        return
    listed = ", ".join(map(str, excesses))
    yield QualityVerdict(
        QualityLight.NOTE, "friction", f"{sentence} The plates themselves needed {listed}."
    )


def _torque_verdicts(result: Reconstruction) -> Iterator[QualityVerdict]:
    """Torques of the legs beside inverse dynamics, and those that no person has."""
    model = result.recorded.model
    legs = {reading.name for reading in readings(model) if reading.joint in LEGS}
    errors = {name: error for name, error in result.torque_errors().items() if name in legs}
    if errors:
        largest = max(errors, key=lambda name: errors[name])
        yield QualityVerdict(
            _light(errors[largest], GOOD_TORQUE_N_M_KG, MAX_TORQUE_N_M_KG),
            "torques",
            "Torques of the legs against inverse dynamics with the plates: up to "
            f"{errors[largest]:.2f} N m/kg root mean square ({coordinate_label(model, largest)}; "
            f"good up to {GOOD_TORQUE_N_M_KG:g}, not to use above {MAX_TORQUE_N_M_KG:g}).",
        )
    peaks = {
        reading.name: float(np.abs(result.per_kg[:, reading.index]).max())
        for reading in readings(result.recorded.model)
        if reading.joint in LEGS
    }
    worst = max(peaks, key=lambda name: peaks[name], default=None)
    if worst is not None and peaks[worst] > MAX_LEG_TORQUE_N_M_KG:
        yield QualityVerdict(
            QualityLight.POOR,
            "physiological range",
            f"Not possible for a person: {coordinate_label(result.recorded.model, worst)} torque "
            f"{peaks[worst]:.3g} N m/kg (possible: up to {MAX_LEG_TORQUE_N_M_KG:g}).",
        )


def _cadence_verdicts(name: str, duration: float) -> Iterator[QualityVerdict]:
    """A solved step may still be quicker or slower than people walk."""
    cadence, possible = 60.0 / duration, WALKING_RANGES["cadence"]
    if not possible.contains(cadence):
        yield QualityVerdict(
            QualityLight.FAIR,
            "physiological range",
            f"{name}: {cadence:.0f} steps/min is an optimum of the model, not a walk of a person "
            f"(possible: {possible.low:g} to {possible.high:g}).",
        )


def _contact_verdicts(name: str, lowest: float, loads: GroundLoads) -> Iterator[QualityVerdict]:
    """Contacts that pull, friction that the ground would need, and impulses."""
    if lowest < -GOOD_ADHESION_WEIGHTS:
        yield QualityVerdict(
            _light(-lowest, GOOD_ADHESION_WEIGHTS, MAX_ADHESION_WEIGHTS),
            "contact",
            f"{name}: between the nodes, the ground would have to pull a contact down with "
            f"{-100 * lowest:.1f} % of the weight.",
        )
    bound = "no bound" if loads.friction is None else f"bounded by {loads.friction:g} at the nodes"
    yield QualityVerdict(
        _light(round(loads.required_friction, 2), GOOD_FRICTION, MAX_FRICTION),
        "friction",
        f"{name}: the step needs a friction coefficient of {loads.required_friction:.2f} at and "
        f"between the nodes ({bound}; good up to {GOOD_FRICTION:g}, not possible above "
        f"{MAX_FRICTION:g}).",
    )
    yield QualityVerdict(
        _light(loads.impulse_share, GOOD_IMPULSE_SHARE, MAX_IMPULSE_SHARE),
        "impulses",
        f"{name}: {100 * loads.impulse_share:.1f} % of the support comes as impulses at touchdown, "
        "which the ground forces do not contain.",
    )


def _light(value: float, good: float, most: float) -> QualityLight:
    if value <= good:
        return QualityLight.GOOD
    return QualityLight.FAIR if value <= most else QualityLight.POOR


def sort_by_light(verdicts: Sequence[QualityVerdict]) -> tuple[QualityVerdict, ...]:
    """The verdicts, the worst first."""
    return tuple(sorted(verdicts, key=lambda verdict: -verdict.light.rank))
