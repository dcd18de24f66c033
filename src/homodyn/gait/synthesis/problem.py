"""The problem of an optimal periodic step, without a recording.

Felis 2015, section 5.4. The right foot is flat, rolls onto its forefoot, the left heel touches
down, the left forefoot touches down, and when the right foot is unloaded the mirror image of the
initial state is reached. Durations, step length, speed and the springs of the joints are free.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from homodyn.catalog import heiman, mirror_map
from homodyn.catalog.heiman_tables import typical_torques, walking_bounds
from homodyn.dynamics.constraints import Stabilization
from homodyn.errors import HomodynError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import unknown_name
from homodyn.gait.contact_schedule.foot_contact_phases import FootContact, FootContactPhase
from homodyn.gait.synthesis.ground_contact import (
    GROUND_FRICTION,
    foot_cones,
    impulse_bounds,
    no_tangential_force,
)
from homodyn.model import Model
from homodyn.motion import Side
from homodyn.optimal import (
    BoundaryConstraint,
    FreeParameter,
    ObjectiveTerm,
    PathConstraint,
    Phase,
    Problem,
    Spring,
    TimePoint,
    angular_momentum,
    head_stabilization,
    height,
    min_distance,
    periodic,
    step_length,
    time,
    unilateral,
    velocity,
)
from homodyn.spatial import Array

STEP_PHASES = tuple(
    FootContactPhase(0.0, 0.0, right, left)
    for right, left in (
        (FootContact.FLAT, FootContact.SWING),
        (FootContact.FOREFOOT, FootContact.SWING),
        (FootContact.FOREFOOT, FootContact.HEEL),
        (FootContact.FOREFOOT, FootContact.FLAT),
    )
)
"""Contacts of the feet in the four phases of a step."""
IMPACT_PHASES = (1, 2)
"""Phases that end with an impact: of the left heel, and of the left forefoot."""

TRANSCRIPTION = "collocation"
"""Transcription of steps: the force of a contact that is about to leave the ground goes to zero
between nodes, which piecewise constant forces cannot follow."""
INTERVALS = (6, 1, 1, 1)
"""Default number of intervals of each phase."""
FORCE_TOLERANCE_WEIGHTS = 0.04
"""Tolerance of contact forces between nodes, as a fraction of the weight: tensile ones, and
compressive ones where a contact is unloaded."""
DURATIONS = (0.32, 0.10, 0.06, 0.08)
"""Initial guess of the durations of the phases (s)."""
MIN_PHASE_DURATION_S, MAX_PHASE_DURATION_S = 0.05, 0.8
"""Bounds of the duration of each phase; the thesis does not print its own."""
CONTACT_STABILIZATION_RATE = 40.0
"""Rate (1/s) of the contact stabilization: sliding decays within about one interval."""
STEP_LENGTH_BOUNDS_M, SPEED_BOUNDS_M_S = (0.2, 1.2), (0.3, 3.5)
"""Bounds of step length and free speed; the thesis does not print its own."""
REFERENCE_HIP_HEIGHT_M = 0.9938
"""Hip height of the subject of the thesis, to whom the bounds of the pelvis apply."""
MAX_SPRING_STIFFNESS, MAX_SPRING_DAMPING = 0.1, 0.005
"""Largest stiffness (1/rad) and damping (s/rad) of springs, as fractions of the typical torque.

The thesis does not print its own. With these the foot, the lightest segment, oscillates at less
than 4 Hz on its spring, which intervals of 30 ms can resolve.
"""


@record(eq=True)
class WalkingObjective(Record):
    """Weights of the four criteria of a step (Felis 2015, section 6.4.1)."""

    name: str
    """Name of the objective."""
    torque: float = 0.0
    """Weight of squared torques, as fractions of typical ones, over step length and their number
    (s/m)."""
    angular_momentum: float = 0.0
    """Weight of the squared angular momentum about the center of mass (kg2 m4/s)."""
    head: float = 0.0
    """Weight of the squared angular velocity of the head (rad2/s)."""
    time: float = 0.0
    """Weight of the duration (s)."""

    def headline(self) -> str:
        """Name and weights."""
        weights = ", ".join(f"{w:g} {n}" for n, w in self.weights.items() if w)
        return f"WalkingObjective {self.name!r}: {weights}"

    @property
    def weights(self) -> dict[str, float]:
        """Weights by criterion."""
        return {name: getattr(self, name.replace("-", "_")) for name in CRITERIA}


CRITERIA = ("torque", "angular-momentum", "head", "time")
WALKING_OBJECTIVES = {
    objective.name: objective
    for objective in (
        WalkingObjective("torque", torque=1.0),
        WalkingObjective("angular-momentum", torque=0.01, angular_momentum=1.0),
        WalkingObjective("head", torque=0.01, head=10.0),
        WalkingObjective("time", torque=0.01, time=10.0),
        WalkingObjective("mixed", torque=1.0, angular_momentum=1.0, head=3.0),
    )
}
"""The five objectives of the thesis, by name."""


def walking_objective(which: str | WalkingObjective) -> WalkingObjective:
    """An objective by name, or a weighted sum of criteria such as ``"torque+3*head"``.

    Args:
        which: Name in `WALKING_OBJECTIVES`, a sum of criteria, or an objective.

    Returns:
        The objective.

    Raises:
        HomodynError: A criterion is unknown, or a weight is not a number.
    """
    if isinstance(which, WalkingObjective):
        return which
    if which in WALKING_OBJECTIVES:
        return WALKING_OBJECTIVES[which]
    weights: dict[str, float] = {}
    for part in which.split("+"):
        factor, _, name = part.strip().rpartition("*")
        try:
            weight = float(factor) if factor else 1.0
        except ValueError:
            raise HomodynError(f"objective {which!r}: {factor!r} is not a weight") from None
        if name not in CRITERIA:
            known = (*WALKING_OBJECTIVES, *CRITERIA)
            raise HomodynError(
                f"there is {unknown_name('objective', name, tuple(dict.fromkeys(known)))}; "
                "weighted sums such as torque+3*head are accepted too"
            )
        weights[name.replace("-", "_")] = weight
    return WalkingObjective(which, **weights)


def walking_model(height: float = 1.79, mass: float = 76.0, sex: str = "male") -> Model:
    """HeiMan with the joint ranges of the thesis, adapted where they contradict mirror symmetry.

    Args:
        height: Stature (m).
        mass: Mass (kg).
        sex: ``"male"`` or ``"female"``.

    Returns:
        The model.
    """
    return heiman(height=height, mass=mass, sex=sex, limits="synthesis")


def synthesis_problem(
    model: Model | None = None,
    *,
    objective: WalkingObjective,
    speed: float | None = None,
    intervals: Sequence[int] = INTERVALS,
    friction: float | None = GROUND_FRICTION,
    springs: bool = True,
    extra: Sequence[ObjectiveTerm] = (),
) -> Problem:
    """The problem of a periodic, mirrored step, to inspect or change.

    Args:
        model: HeiMan, scaled to any person; `walking_model` when left out.
        objective: Weights of the criteria.
        speed: Speed (m/s); free when left out.
        intervals: Number of intervals of each of the four phases.
        friction: Coefficient of friction. Forces of each foot are within its friction cone;
            impulses are too, and compressive. None: no such bounds, as in the thesis.
        springs: Whether joints have springs, whose parameters are free.
        extra: Further objective terms of each phase.

    Returns:
        The problem.

    Raises:
        HomodynError: The model lacks coordinates of HeiMan.
    """
    model = walking_model() if model is None else model
    check_coordinates(model)
    terms = [*_terms(objective), *extra]
    bounds = _bounds(model)
    phases = []
    for k, contacts in enumerate(STEP_PHASES):
        constraints = phase_constraints(k)
        impulse_constraints: list[PathConstraint] = []
        if friction is not None:
            constraints += _friction_constraints(friction, k)
            if k and k - 1 in IMPACT_PHASES:
                impulse_constraints = impulse_bounds(model, friction, STEP_PHASES[k - 1], contacts)
        phases.append(
            Phase(
                phase_name(k),
                (MIN_PHASE_DURATION_S, MAX_PHASE_DURATION_S),
                contacts.contacts,
                terms,
                constraints,
                intervals[k],
                bounds=bounds,
                start=_start() if k == 0 else {},
                guess={"duration": DURATIONS[k]},
                transition="impact" if k in IMPACT_PHASES else "continuous",
                periodic_start=True,
                stabilization=Stabilization.oscillator(CONTACT_STABILIZATION_RATE),
                impulse_constraints=impulse_constraints,
            )
        )
    parameters = {"length": FreeParameter(*STEP_LENGTH_BOUNDS_M, guess=0.65)}
    if speed is None:
        parameters["speed"] = FreeParameter(*SPEED_BOUNDS_M_S, guess=1.4)
    joint_springs, spring_parameters = spring_set(model) if springs else ((), {})
    pace = "speed" if speed is None else speed
    return Problem(
        model,
        phases,
        parameters | spring_parameters,
        [periodic(mirrored=True, forward="Pelvis_TX", speed=pace), _mirrored_torques(model)],
        springs=joint_springs,
    )


def _mirrored_torques(model: Model) -> BoundaryConstraint:
    """Torques are periodic in the same way (eq. 5.34)."""
    image, names = mirror_map(model), tuple(typical_torques())
    entries = [model.coordinate_index(name) for name in names]

    def value(first: TimePoint, last: TimePoint, _: Array) -> Array:
        return (first.tau - image.velocity(last.tau))[entries]

    return BoundaryConstraint("torque periodicity", value, labels=names)


def hip_height(model: Model) -> float:
    """Height of the pelvis in the neutral pose (m)."""
    return float(model.neutral()[model.coordinate_index("Pelvis_TZ")])


def phase_name(k: int) -> str:
    """The name of phase ``k``, such as ``"1 right flat"``."""
    return f"{k + 1} {STEP_PHASES[k].name}"


def criterion_terms() -> dict[str, ObjectiveTerm]:
    """The four criteria of a step as objective terms, by name."""
    return {
        "torque": ObjectiveTerm("torque", effort, squared=False),
        "angular-momentum": replace(angular_momentum(), name="angular-momentum"),
        "head": head_stabilization(),
        "time": time(),
    }


def _terms(objective: WalkingObjective) -> list[ObjectiveTerm]:
    terms = criterion_terms()
    return [weight * terms[name] for name, weight in objective.weights.items() if weight]


def effort(time_point: TimePoint) -> Array:
    """Squared torques (fractions of typical ones) over step length and their number (eq. 5.23)."""
    typical = typical_torques()
    names = [name for name in time_point.model.coordinate_names if name in typical]
    parts = [time_point.tau[time_point.model.coordinate_index(n)] / typical[n] for n in names]
    return ca.sumsqr(ca.vertcat(*parts)) / (time_point.parameter("length") * len(names))


def _bounds(model: Model) -> dict[str, Any]:
    ranges = dict(walking_bounds("synthesis"))
    # A mirrored step turns the head to both sides; the printed range has only one of them.
    reach = max(map(abs, ranges["Neck_RX"]))
    ranges["Neck_RX"] = (-reach, reach)
    size = hip_height(model) / REFERENCE_HIP_HEIGHT_M
    low, high = ranges["Pelvis_TZ"]
    ranges["Pelvis_TZ"] = (low * size, high * size)
    return {"q": ranges, "tau": dict(walking_bounds("torque"))}


def _start() -> dict[str, Any]:
    """The pelvis begins above the origin, the right arm behind and the left one in front."""
    arms = {"ShoulderRight_RY": (0.03, 0.89), "ShoulderLeft_RY": (-0.51, 0.03)}
    return {"q": {"Pelvis_TX": 0.0, "Pelvis_TY": 0.0, **arms}}


def phase_constraints(k: int) -> list[PathConstraint]:
    """Constraints at the start of phase ``k``, inside it and at its end (section 5.4.3).

    The distance between the shanks is constrained where the number of rows printed in the thesis
    requires it. A touchdown is the end of the phase before it.
    """
    toes, landing = ("HalluxRight", "Meta5Right"), ("HeelLeft", "HalluxLeft", "Meta5Left")
    clear = min_distance("ShankRight", "ShankLeft")
    if k == 0:
        return [
            step_length("HalluxRight", "HalluxLeft", "length"),
            *_from_start(_compressive("HeelRight", *toes)),
            height(*landing).at("inside"),
            clear.at("inside"),
            _zero_force_at_end("HeelRight"),
        ]
    if k == 1:
        return [
            *_from_start(_compressive(*toes), height(*landing), clear),
            height("HeelRight").at("inside"),
            velocity("HeelLeft", "z", lower=-np.inf).at("end"),
            _compressive(*toes).at("end"),
            height("HalluxLeft", "HeelRight").at("end"),
            clear.at("end"),
        ]
    if k == 2:
        return [
            *_from_start(_compressive(*toes, "HeelLeft"), height("HalluxLeft", "HeelRight"), clear),
            *(velocity(toe, "z", lower=-np.inf).at("end") for toe in landing[1:]),
            _compressive(*toes, "HeelLeft").at("end"),
            height("HeelRight").at("end"),
            clear.at("end"),
        ]
    return [
        *_from_start(_compressive(*toes, *landing), height("HeelRight"), clear),
        _zero_force_at_end(*toes),
        _compressive(*landing).at("end"),
        height("HeelRight").at("end"),
        clear.at("end"),
    ]


def _friction_constraints(friction: float, k: int) -> list[PathConstraint]:
    """The friction cones of the feet in phase ``k``.

    At the end of the last phase the right foot leaves: its cone is a point there, of which the
    solver can satisfy the equations, but not the inequality.
    """
    cones = foot_cones(friction, STEP_PHASES[k])
    if k < len(STEP_PHASES) - 1:
        return [cones]
    landed = replace(STEP_PHASES[k], right=FootContact.SWING)
    ends = foot_cones(friction, landed).at("end")
    return [*_from_start(cones), ends, no_tangential_force(Side.RIGHT)]


def _from_start(*chosen: PathConstraint) -> list[PathConstraint]:
    """At the first node and inside; the last node belongs to the next phase."""
    return [constraint.at(when) for constraint in chosen for when in ("start", "inside")]


def _compressive(*points: str) -> PathConstraint:
    return unilateral(*points, tolerance=FORCE_TOLERANCE_WEIGHTS)


def _zero_force_at_end(*points: str) -> PathConstraint:
    """Contacts are unloaded at the end of the phase."""
    return replace(_compressive(*points), name="unloaded", upper=0.0, when="end")


def spring_set(model: Model) -> tuple[tuple[Spring, ...], dict[str, FreeParameter]]:
    """A spring for each actuated coordinate; both sides share its three parameters."""
    image = mirror_map(model)
    ranges, typical = walking_bounds("synthesis"), typical_torques()
    springs, parameters = [], {}
    for name, torque in typical.items():
        other = image.names.get(name, name)
        sign = image.v_sign[model.coordinate_index(name)]
        shared = name.replace("Right", "").replace("Left", "")
        stiffness, rest, damping = (f"{shared} {n}" for n in ("stiffness", "rest", "damping"))
        side = sign if "Left" in name else 1.0
        springs.append(Spring(name, stiffness, rest, damping, side))
        low, high = ranges[name]
        if other == name and sign < 0:
            # A lateral spring of the trunk is its own mirror image only around zero.
            low = high = 0.0
        if "Left" not in name:
            stiff, damp = MAX_SPRING_STIFFNESS * torque, MAX_SPRING_DAMPING * torque
            parameters[stiffness] = FreeParameter(0.0, stiff, stiff / 4)
            parameters[rest] = FreeParameter(low, high, (low + high) / 2)
            parameters[damping] = FreeParameter(0.0, damp, damp / 4)
    return tuple(springs), parameters


def check_coordinates(model: Model) -> None:
    """Refuse models without the coordinates of HeiMan.

    Args:
        model: The model.

    Raises:
        HomodynError: A coordinate is missing.
    """
    absent = [name for name in walking_bounds("synthesis") if name not in model.coordinate_names]
    if absent:
        raise HomodynError(
            f"synthesis uses the joint ranges of HeiMan, and {model.name!r} has no coordinate "
            f"{', '.join(absent[:3])}; use hd.catalog.heiman(), or write a Problem of your own"
        )


def sum_terms(solution_terms: Mapping[str, float]) -> dict[str, float]:
    """Objective terms of a solution, added up over the phases, by name."""
    total: dict[str, float] = {}
    for key, value in solution_terms.items():
        name = key.split(": ", 1)[1]
        total[name] = total.get(name, 0.0) + value
    return total
