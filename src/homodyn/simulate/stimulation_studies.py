"""Studies of electrical stimulation with Human36: swinging up a knee, and standing up.

HuMAnS (INRIA, 2006) names both as applications and shows no results. What it leaves open is stated
here: attachments, poses, impulses, controllers and the strength of the muscles.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from homodyn.catalog import human36
from homodyn.dynamics import position
from homodyn.errors import ModelError
from homodyn.foundation import Record, record
from homodyn.model import Model
from homodyn.motion import BoxObstacle, PlaneObstacle
from homodyn.muscle.stimulation import (
    CommandSignal,
    ImpulseTrain,
    KneeGeometry,
    add_knee_muscles,
    charge_for,
)
from homodyn.simulate.external_forces import BodyForce
from homodyn.simulate.result import SimulationResult
from homodyn.simulate.rising_path import (
    LEAN_S,
    RAIL_BODY,
    RISE,
    SEATED_RAD,
    SIDES,
    STAND_KNEE_RAD,
    RisingPath,
    keep_coordinates,
    sagittal_human,
)
from homodyn.simulate.run import run
from homodyn.simulate.servos import PD
from homodyn.simulate.signals import ImpulseSchedule, StimulationControl
from homodyn.simulate.stimulated_muscles import (
    StimulatedMuscles,
    StimulationRecord,
    stimulation_record,
)
from homodyn.spatial import Array, stack

OPEN_LOOP, CLOSED_LOOP = "open", "closed"
MODES = (OPEN_LOOP, CLOSED_LOOP)
"""Impulses that are given, or from a controller that is called every period."""
STIMULATOR = "stimulator"
"""Name of the signal of the impulses."""
STEP_S = 1e-3
MIN_DURATION_S = 0.01
SWING_TARGET_RAD = -0.35
"""Extension of the knee that the controller of the swing holds."""
SWING_SHARE, SWING_KP, SWING_KD = 0.6, 0.3, 0.15
"""Part of the fibers that holds the leg, and its change per rad and per rad/s."""

STAND_STRENGTH = 8.0
"""Muscles of the document produce 20 N m at a knee; standing up needs more."""
POSTURE_KP, POSTURE_KD = 900.0, 90.0
"""Servos of hips, ankles and back, N m/rad and N m s/rad: the subject's own control."""
STAND_BASE, STAND_LOAD = 0.2, 0.3
"""Charge at straight knees, and what bent knees need more."""
STAND_KP, STAND_KD = 1.0, 0.2
"""Charge per rad and per rad/s."""


@record
class StimulationStudy(Record):
    """A stimulated movement and what it achieved."""

    name: str
    result: SimulationResult
    stimulation: StimulationRecord
    knees: tuple[str, ...]
    """Coordinates of the stimulated knees."""
    measures: dict[str, float]
    """Numbers about the movement, with units in their names."""
    sentence: str
    """What happened."""
    assumptions: tuple[str, ...]
    """What the source leaves open."""

    def headline(self) -> str:
        """Name and outcome."""
        return f"StimulationStudy {self.name!r}: {self.sentence}"


def swing_up_knee(
    duration: float = 1.5,
    *,
    mode: str = OPEN_LOOP,
    charge: float = 1.0,
    period_s: float = 0.03,
    command: CommandSignal | None = None,
    geometry: KneeGeometry | None = None,
) -> StimulationStudy:
    """Swing up the right lower leg of a seated Human36 against its stop.

    Args:
        duration: Time to simulate, s.
        mode: ``"open"``: the same impulses all the time; ``"closed"``: a controller that is called
            every period holds the knee before its stop.
        charge: Impulses of the quadriceps (open) or the largest ones (closed), 0 to 1.
        period_s: Time between impulses, s.
        command: Levels and times of the command.
        geometry: Attachments of the muscles.

    Returns:
        The movement, histories of the muscles, and measures.

    Raises:
        ModelError: An argument is out of range.
    """
    _check(duration, mode, charge)
    command, geometry = command or CommandSignal(), geometry or KneeGeometry()
    seated = {f"{s}_hip_flexion": SEATED_RAD for s in SIDES}
    seated |= {f"{s}_knee_extension": -SEATED_RAD for s in SIDES}
    knee = "right_knee_extension"
    model = add_knee_muscles(
        keep_coordinates(human36(), (knee,), seated), ("right_knee",), geometry
    )
    if mode == OPEN_LOOP:
        train = ImpulseTrain.periodic([charge, 0.0], period_s, duration)
        source: ImpulseSchedule | StimulationControl = ImpulseSchedule(train, command)
    else:
        source = StimulationControl(_swing_law(charge), period_s, command)
    actuation = StimulatedMuscles(STIMULATOR, command)
    result = run(
        model,
        [-SEATED_RAD],
        duration=duration,
        dt=STEP_S,
        contact=None,
        actuation=actuation,
        signals={STIMULATOR: source},
        integrator="rk4",
        compiled=False,
    )
    angle = result.q[:, 0]
    hits = result.time[angle >= 0.0]
    reached = f"reaches its stop after {hits[0]:.2f} s" if hits.size else "does not reach its stop"
    measures = {
        "largest_extension_rad": float(angle.max()),
        "final_extension_rad": float(angle[-1]),
    }
    if hits.size:
        measures["stop_reached_s"] = float(hits[0])
    sentence = f"the knee {reached} and ends at {np.degrees(angle[-1]):.0f} degrees"
    return _study("knee-swing", result, actuation, (knee,), measures, sentence, ())


def stand_up(
    duration: float = 3.0,
    *,
    mode: str = CLOSED_LOOP,
    charge: float = 1.0,
    period_s: float = 0.03,
    command: CommandSignal | None = None,
    geometry: KneeGeometry | None = None,
) -> StimulationStudy:
    """Let Human36 stand up from a chair by stimulation of both knees.

    The body moves in the sagittal plane. Servos of hips, ankles and back follow the knees on a path
    on which the center of mass stays above the feet, and rails give a horizontal force. Nothing but
    the stimulated muscles acts at the knees.

    Args:
        duration: Time to simulate, s.
        mode: ``"closed"``: a controller that is called every period; ``"open"``: impulses of the
            quadriceps from the start of rising on.
        charge: The largest impulse, 0 to 1.
        period_s: Time between impulses, s.
        command: Levels and times of the command.
        geometry: Attachments and strength of the muscles.

    Returns:
        The movement, histories of the muscles, and measures.

    Raises:
        ModelError: An argument is out of range.
    """
    _check(duration, mode, charge)
    command = command or CommandSignal()
    geometry = geometry or KneeGeometry(strength=STAND_STRENGTH)
    model = add_knee_muscles(sagittal_human(), geometry=geometry)
    knees = tuple(f"{side}_knee_extension" for side in SIDES)
    path = RisingPath(model)
    if mode == OPEN_LOOP:
        times = np.arange(LEAN_S, max(duration, LEAN_S + period_s), period_s)
        row = [charge, 0.0, charge, 0.0]
        source: ImpulseSchedule | StimulationControl = ImpulseSchedule(
            ImpulseTrain(times, np.tile(row, (len(times), 1))), command
        )
    else:
        source = StimulationControl(_stand_law(model, path, charge), period_s, command)
    names = [f"{s}_{joint}" for s in SIDES for joint in ("hip_flexion", "ankle_dorsiflexion")]
    servos = PD(
        dict.fromkeys([*names, "back_extension"], POSTURE_KP),
        dict.fromkeys([*names, "back_extension"], POSTURE_KD),
        target=lambda t, batch: path.pose(t, batch[RISE]),
        stable=True,
    )
    seat = path.seat_height
    place = (path.seat_x - 0.1, 0.0, seat / 2)
    chair = BoxObstacle(size=(0.3, 0.5, seat), position=place)
    muscles = StimulatedMuscles(STIMULATOR, command)
    result = run(
        model,
        np.asarray(ca.evalf(path.pose(ca.SX(0.0), ca.SX(0.0)))).ravel(),
        duration=duration,
        dt=STEP_S,
        scene=[PlaneObstacle(), chair],
        actuation=(servos, muscles),
        signals={RISE: path.measured_part, STIMULATOR: source},
        external_forces=(BodyForce(RAIL_BODY, path.rail_force),),
        record_interval=5 * STEP_S,
    )
    hips = position(model, result.q, "lower_trunk")[:, 2]
    standing = bool(hips[-1] > path.standing_height - 0.1)
    measures = {
        "hip_height_start_m": float(hips[0]),
        "hip_height_end_m": float(hips[-1]),
        "hip_height_standing_m": path.standing_height,
        "final_knee_flexion_rad": float(-result.q[-1, model.coordinate_index(knees[0])]),
        "largest_knee_torque_n_m": float(
            max(np.abs(result.torques[:, model.coordinate_index(k)]).max() for k in knees)
        ),
    }
    verb = "stands up" if standing else "does not stand up"
    sentence = f"the body {verb}: the hips rise from {hips[0]:.2f} to {hips[-1]:.2f} m"
    assumptions = (
        f"The muscles are {geometry.strength:g} times as strong as in the source.",
        "Servos move hips, ankles and back; arms, head and the frontal plane are fixed.",
        "Rails hold the thorax horizontally, as the hands of the subject would; nothing but the "
        "ground and the chair carries weight.",
    )
    return _study("sit-to-stand", result, muscles, knees, measures, sentence, assumptions)


STUDIES: dict[str, Callable[..., StimulationStudy]] = {
    "knee-swing": swing_up_knee,
    "sit-to-stand": stand_up,
}
"""Studies by the names of the command line."""


def _swing_law(largest: float) -> Any:
    """A controller that holds the knee at its target."""

    def law(t: Array, q: Array, v: Array, batch: Any) -> Array:
        share = SWING_SHARE + SWING_KP * (SWING_TARGET_RAD - q[0]) - SWING_KD * v[0]
        charges = [charge_for(share), charge_for(-share)]
        return stack(*[ca.fmin(charge, largest) for charge in charges])

    return law


def _stand_law(model: Model, path: RisingPath, largest: float) -> Any:
    """A controller that extends both knees along the path."""
    entries = [model.coordinate_index(f"{side}_knee_extension") for side in SIDES]

    def law(t: Array, q: Array, v: Array, batch: Any) -> Array:
        charges: list[Array] = []
        ahead = path.knee(t + 0.1)
        begun = t > LEAN_S - 0.05
        for k in entries:
            load = STAND_BASE - STAND_LOAD * q[k] / STAND_KNEE_RAD
            drive = load + STAND_KP * (ahead - q[k]) + STAND_KD * (path.knee_rate(t) - v[k])
            charges += [
                begun * ca.fmin(drive, largest), begun * ca.fmin(-0.3 - drive, largest)
            ]  # fmt: skip
        return stack(*charges)

    return law


def _check(duration: float, mode: str, charge: float) -> None:
    if mode not in MODES:
        raise ModelError(f"no mode {mode!r}; accepted: {', '.join(MODES)}")
    if not duration >= MIN_DURATION_S:
        raise ModelError(f"a duration of at least {MIN_DURATION_S:g} s is needed, got {duration:g}")
    if not 0 <= charge <= 1:
        raise ModelError(f"a charge from 0 to 1 is needed, got {charge:g}")


def _study(
    name: str,
    result: SimulationResult,
    actuation: StimulatedMuscles,
    knees: tuple[str, ...],
    measures: dict[str, float],
    sentence: str,
    assumptions: tuple[str, ...],
) -> StimulationStudy:
    history = stimulation_record(result, actuation)
    measures = {
        **measures,
        "largest_muscle_force_n": float(history.forces.max()),
        "smallest_uniqueness_margin_n": float(history.uniqueness_margins.min()),
        "energy_error_j": float(np.abs(result.energy.error).max()),
    }
    shared = (
        "Attachments, pulley and friction of the knees are assumed; the source gives none.",
        f"The command falls from stimulation to relaxation by a {actuation.command.profile}.",
    )
    return StimulationStudy(
        name, result, history, knees, measures, sentence, (*shared, *assumptions)
    )
