"""A step that is best at something, without a recording: the problem behind it.

Felis 2015, section 5.4. The right foot stands flat, rolls onto its forefoot, the left heel touches
down, the left forefoot touches down, and when the right foot is unloaded the mirror image of the
first instant is reached. Durations, step length, speed and the springs of the joints are free.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from homodyn.catalog import heiman, mirror_map
from homodyn.catalog.heiman_tables import typical_torques, walking_bounds
from homodyn.dynamics import Stabilization
from homodyn.errors import HomodynError
from homodyn.foundation.text import unknown_name
from homodyn.gait.contact_schedule import Footing, Standing
from homodyn.model import Model
from homodyn.optimal.capsules import apart
from homodyn.optimal.conditions import (
    Condition,
    Link,
    friction_cone,
    height,
    periodic,
    step_length,
    unilateral,
    velocity,
)
from homodyn.optimal.instant import Instant
from homodyn.optimal.phase import Phase
from homodyn.optimal.problem import Parameter, Problem
from homodyn.optimal.springs import Spring
from homodyn.optimal.terms import Term, angular_momentum, head_stabilisation, time
from homodyn.spatial import Array

FOOTINGS = tuple(
    Footing(0.0, 0.0, right, left)
    for right, left in (
        (Standing.FLAT, Standing.SWING),
        (Standing.FOREFOOT, Standing.SWING),
        (Standing.FOREFOOT, Standing.HEEL),
        (Standing.FOREFOOT, Standing.FLAT),
    )
)
"""How the feet stand in the four phases of a step."""

TRANSCRIPTION = "collocation"
"""Of steps: contacts that are about to leave the ground neither pull nor push between nodes, which
forces that are held over intervals cannot do."""
INTERVALS = (6, 1, 1, 1)
"""Of each phase, unless told otherwise."""
PULL = 0.04
"""Part of the weight by which contacts may pull between nodes, or still push when unloaded."""
DURATIONS = (0.32, 0.10, 0.06, 0.08)
"""s: where the search for the durations of the phases begins."""
SHORTEST, LONGEST = 0.05, 0.8
"""s: bounds of the duration of each phase; the thesis does not print its own."""
SETTLING = 40.0
"""1/s: how fast contacts that have begun to slide come to rest: within an interval or so."""
LENGTHS, SPEEDS = (0.2, 1.2), (0.3, 3.5)
"""m, m/s: bounds of step length and free speed; the thesis does not print its own."""
STANDING = 0.9938
"""m: height of the hips of the subject of the thesis, for whom the pelvis has bounds."""
STIFFNESS, DAMPING = 0.1, 0.005
"""1/rad, s/rad: largest stiffness and damping of springs, in parts of the typical torque.

The thesis does not print its own. With these the foot, the lightest segment, swings slower than
4 Hz on its spring, which intervals of 30 ms can follow.
"""


@dataclass(frozen=True)
class Objective:
    """What a step is to be good at: weights of the four criteria (Felis 2015, section 6.4.1)."""

    name: str
    torque: float = 0.0
    """Of squared torques in parts of typical ones, over step length and their number (s/m)."""
    angular_momentum: float = 0.0
    """Of the squared angular momentum about the centre of mass (kg2 m4/s)."""
    head: float = 0.0
    """Of the squared angular velocity of the head (rad2/s)."""
    time: float = 0.0
    """Of the duration (s)."""

    @property
    def weights(self) -> dict[str, float]:
        """By criterion."""
        return {name: getattr(self, name.replace("-", "_")) for name in CRITERIA}


CRITERIA = ("torque", "angular-momentum", "head", "time")
OBJECTIVES = {
    objective.name: objective
    for objective in (
        Objective("torque", torque=1.0),
        Objective("angular-momentum", torque=0.01, angular_momentum=1.0),
        Objective("head", torque=0.01, head=10.0),
        Objective("time", torque=0.01, time=10.0),
        Objective("mixed", torque=1.0, angular_momentum=1.0, head=3.0),
    )
}
"""The five variants of the thesis, by name."""


def objective(which: str | Objective) -> Objective:
    """A variant by name, or a sum such as ``"torque+3*head"`` of weighted criteria."""
    if isinstance(which, Objective):
        return which
    if which in OBJECTIVES:
        return OBJECTIVES[which]
    weights: dict[str, float] = {}
    for part in which.split("+"):
        factor, _, name = part.strip().rpartition("*")
        try:
            weight = float(factor) if factor else 1.0
        except ValueError:
            raise HomodynError(f"objective {which!r}: {factor!r} is not a weight") from None
        if name not in CRITERIA:
            known = (*OBJECTIVES, *CRITERIA)
            raise HomodynError(
                f"there is {unknown_name('objective', name, tuple(dict.fromkeys(known)))}; "
                "sums such as torque+3*head are objectives too"
            )
        weights[name.replace("-", "_")] = weight
    return Objective(which, **weights)


def walker(height: float = 1.79, mass: float = 76.0, sex: str = "male") -> Model:
    """HeiMan with the ranges of the thesis, as far as a mirrored step can keep them."""
    return heiman(height=height, mass=mass, sex=sex, limits="synthesis")


def synthesis_problem(
    model: Model | None = None,
    *,
    objective: Objective,
    speed: float | None = None,
    intervals: Sequence[int] = INTERVALS,
    friction: float | None = None,
    springs: bool = True,
    extra: Sequence[Term] = (),
) -> Problem:
    """The periodic, mirrored step of a person as `walker` makes them, to be looked at or changed.

    ``speed`` (m/s) is free when it is None. ``friction`` bounds sliding forces, which the thesis
    does not do. ``extra`` terms are added to each phase.
    """
    model = walker() if model is None else model
    _check(model)
    terms = [*_terms(objective), *extra]
    bounds = _bounds(model)
    phases = []
    for k, footing in enumerate(FOOTINGS):
        obeyed = conditions(k)
        if friction is not None:
            obeyed.append(friction_cone(friction, *footing.points))
        phases.append(
            Phase(
                phase_name(k),
                (SHORTEST, LONGEST),
                footing.contacts,
                terms,
                obeyed,
                intervals[k],
                bounds=bounds,
                start=_start() if k == 0 else {},
                guess={"duration": DURATIONS[k]},
                then="impact" if k in (1, 2) else "continuous",
                inherits=True,
                stabilization=Stabilization.oscillator(SETTLING),
            )
        )
    parameters = {"length": Parameter(*LENGTHS, guess=0.65)}
    if speed is None:
        parameters["speed"] = Parameter(*SPEEDS, guess=1.4)
    made, unknown = spring_set(model) if springs else ((), {})
    pace = "speed" if speed is None else speed
    return Problem(
        model,
        phases,
        parameters | unknown,
        [periodic(mirrored=True, forward="Pelvis_TX", speed=pace), _mirrored_torques(model)],
        springs=made,
    )


def _mirrored_torques(model: Model) -> Link:
    """Torques, too, begin as the mirror image of those at the end (eq. 5.34)."""
    image, names = mirror_map(model), tuple(typical_torques())
    places = [model.coordinate_index(name) for name in names]

    def value(first: Instant, last: Instant, _: Array) -> Array:
        return (first.tau - image.velocity(last.tau))[places]

    return Link("torque periodicity", value, labels=names)


def phase_name(k: int) -> str:
    """The name of phase ``k``, such as ``"1 right flat"``."""
    return f"{k + 1} {FOOTINGS[k].name}"


def _terms(wanted: Objective) -> list[Term]:
    made = {
        "torque": Term("torque", effort, squared=False),
        "angular-momentum": replace(angular_momentum(), name="angular-momentum"),
        "head": head_stabilisation(),
        "time": time(),
    }
    return [weight * made[name] for name, weight in wanted.weights.items() if weight]


def effort(instant: Instant) -> Array:
    """Squared torques in parts of typical ones, over step length and their number (eq. 5.23)."""
    typical = typical_torques()
    names = [name for name in instant.model.coordinate_names if name in typical]
    parts = [instant.tau[instant.model.coordinate_index(n)] / typical[n] for n in names]
    return ca.sumsqr(ca.vertcat(*parts)) / (instant.parameter("length") * len(names))


def _bounds(model: Model) -> dict[str, Any]:
    ranges = dict(walking_bounds("synthesis"))
    # A mirrored step turns the head to both sides; the range that is printed has one of them only.
    reach = max(map(abs, ranges["Neck_RX"]))
    ranges["Neck_RX"] = (-reach, reach)
    size = float(model.neutral()[model.coordinate_index("Pelvis_TZ")]) / STANDING
    low, high = ranges["Pelvis_TZ"]
    ranges["Pelvis_TZ"] = (low * size, high * size)
    return {"q": ranges, "tau": dict(walking_bounds("torque"))}


def _start() -> dict[str, Any]:
    """The pelvis begins above the origin, the right arm behind and the left one in front."""
    arms = {"ShoulderRight_RY": (0.03, 0.89), "ShoulderLeft_RY": (-0.51, 0.03)}
    return {"q": {"Pelvis_TX": 0.0, "Pelvis_TY": 0.0, **arms}}


def conditions(k: int) -> list[Condition]:
    """What holds at the start of phase ``k``, inside it and at its end (section 5.4.3).

    The distance of the shanks stands where the number of rows that the thesis prints has it. A
    touchdown is the end of the phase before it.
    """
    toes, landing = ("HalluxRight", "Meta5Right"), ("HeelLeft", "HalluxLeft", "Meta5Left")
    clear = apart("ShankRight", "ShankLeft")
    if k == 0:
        return [
            step_length("HalluxRight", "HalluxLeft", "length"),
            *_from_start(_pushing("HeelRight", *toes)),
            height(*landing).at("inside"),
            clear.at("inside"),
            _unloaded("HeelRight"),
        ]
    if k == 1:
        return [
            *_from_start(_pushing(*toes), height(*landing), clear),
            height("HeelRight").at("inside"),
            velocity("HeelLeft", "z", lower=-np.inf).at("end"),
            _pushing(*toes).at("end"),
            height("HalluxLeft", "HeelRight").at("end"),
            clear.at("end"),
        ]
    if k == 2:
        return [
            *_from_start(_pushing(*toes, "HeelLeft"), height("HalluxLeft", "HeelRight"), clear),
            *(velocity(toe, "z", lower=-np.inf).at("end") for toe in landing[1:]),
            _pushing(*toes, "HeelLeft").at("end"),
            height("HeelRight").at("end"),
            clear.at("end"),
        ]
    return [
        *_from_start(_pushing(*toes, *landing), height("HeelRight"), clear),
        _unloaded(*toes),
        _pushing(*landing).at("end"),
        height("HeelRight").at("end"),
        clear.at("end"),
    ]


def _from_start(*chosen: Condition) -> list[Condition]:
    """At the first node and inside; the last node belongs to what follows."""
    return [condition.at(when) for condition in chosen for when in ("start", "inside")]


def _pushing(*points: str) -> Condition:
    return unilateral(*points, pull=PULL)


def _unloaded(*points: str) -> Condition:
    """Contacts carry nothing any more at the end of the phase."""
    off = _pushing(*points)
    return replace(off, name="unloaded", upper=0.0, when="end")


def spring_set(model: Model) -> tuple[tuple[Spring, ...], dict[str, Parameter]]:
    """A spring for each actuated coordinate; both sides share its three numbers."""
    image = mirror_map(model)
    ranges, typical = walking_bounds("synthesis"), typical_torques()
    springs, unknown = [], {}
    for name, torque in typical.items():
        other = image.names.get(name, name)
        sign = image.v_sign[model.coordinate_index(name)]
        shared = name.replace("Right", "").replace("Left", "")
        stiffness, rest, damping = (f"{shared} {n}" for n in ("stiffness", "rest", "damping"))
        side = sign if "Left" in name else 1.0
        springs.append(Spring(name, stiffness, rest, damping, side))
        low, high = ranges[name]
        if other == name and sign < 0:
            # A spring of the trunk that pulls to one side is not its own mirror image.
            low = high = 0.0
        if "Left" not in name:
            unknown[stiffness] = Parameter(0.0, STIFFNESS * torque, STIFFNESS * torque / 4)
            unknown[rest] = Parameter(low, high, (low + high) / 2)
            unknown[damping] = Parameter(0.0, DAMPING * torque, DAMPING * torque / 4)
    return tuple(springs), unknown


def _check(model: Model) -> None:
    absent = [name for name in walking_bounds("synthesis") if name not in model.coordinate_names]
    if absent:
        raise HomodynError(
            f"synthesis knows the ranges of HeiMan's coordinates, and {model.name!r} has no "
            f"{', '.join(absent[:3])}; use oc.walker(), or write a Problem of your own"
        )


def criteria(solution_terms: Mapping[str, float]) -> dict[str, float]:
    """Terms of a solution added up over phases, by name."""
    total: dict[str, float] = {}
    for key, value in solution_terms.items():
        name = key.split(": ", 1)[1]
        total[name] = total.get(name, 0.0) + value
    return total
