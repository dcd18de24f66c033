"""A reconstructed step: torques and ground forces beside the recording and the plates."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
from scipy.interpolate import CubicSpline

from homodyn.dynamics import position
from homodyn.foundation.record import Record, record
from homodyn.gait.contact_schedule import FootContactPhase
from homodyn.gait.gait_cycles import parse_side
from homodyn.gait.reconstruction.force_errors import (
    ForceError,
    center_of_mass_forces,
    force_errors,
)
from homodyn.gait.reconstruction.friction_demand import (
    FrictionExcess,
    friction_excesses,
    plate_forces,
    required_friction,
)
from homodyn.gait.reconstruction.plate_mass import plate_mass
from homodyn.gait.reconstruction.tracking_weights import MIN_SHOWN_WEIGHT, tracking_weights
from homodyn.gait.treadmill import root_translation
from homodyn.model.configuration import difference
from homodyn.motion import STANCE_THRESHOLD, Loads, Motion, Side
from homodyn.motion.coordinate_columns import angular_coordinates
from homodyn.optimal import PhaseSolution, Solution
from homodyn.optimal.solve.phase_trajectory import join_phases, phase_trajectories

GOOD_TRACKING_RAD = 0.03
"""Largest rms of an angle of a reconstruction that is near to its recording."""
GOOD_TRACKING_M = 0.015
"""Largest rms of a translation of the root."""
GOOD_FORCE_SHARES = (0.05, 0.05, 0.08)
"""Largest rms errors of the force of a foot (forward, sideways, upward), in body weights."""
MAX_MASS_DEVIATION = 0.05
"""Largest difference of the mass on the plates from that of the model, as a fraction."""
FAR_STATUS = "solved but far from the recording"
"""Status of a solution that misses one of these limits."""
MOTION_FRAMES = 101
"""Frames of the reconstructed motion."""


@record
class Reconstruction(Record):
    """A dynamically consistent step, beside the recorded one."""

    solution: Solution
    """The solution of the tracking problem."""
    recorded: Motion
    """The recorded movement."""
    contact_phases: tuple[FootContactPhase, ...]
    """The contact schedule."""
    measured: Loads | None = None
    """Measured ground forces, whether or not they were tracked."""
    tracked: bool = False
    """Whether measured forces were a term of the objective."""
    friction: float | None = None
    """Coefficient of friction that bounds the forces of the feet; None without a bound."""
    belt_speed: float = 0.0
    """m/s: speed of the treadmill to which the step is relative (`RecordedStep`); 0 overground."""

    def headline(self) -> str:
        """Status, phases and tracking error."""
        return f"Reconstruction: {self.sentence}"

    @property
    def time(self) -> np.ndarray:
        """(controls,), s on the clock of the recording: time points of torques and forces."""
        return self.contact_phases[0].begin + self.solution.trajectory("tau")[0]

    @property
    def tau(self) -> np.ndarray:
        """(controls, nv), N m or N; zero at the root."""
        return self.solution.trajectory("tau")[1]

    @property
    def weight(self) -> float:
        """Weight of the person (N)."""
        model = self.recorded.model
        return float(model.mass * np.linalg.norm(np.asarray(model.gravity, dtype=float)))

    @property
    def per_kg(self) -> np.ndarray:
        """``tau`` over the mass of the person, N m/kg."""
        return self.tau / self.recorded.model.mass

    def ground_force(self, side: str) -> np.ndarray:
        """Force of the ground on one foot.

        Args:
            side: ``"right"`` or ``"left"``.

        Returns:
            (controls, 3), N.

        Raises:
            CaptureError: The side is neither left nor right.
        """
        suffix = parse_side(side).title
        parts = []
        for phase, contacts in zip(self.solution.phases, self.contact_phases, strict=True):
            rows = contacts.contacts.rows
            along = np.array([row.slide for row in rows]).reshape(-1, 3)
            own = np.array([float(row.frame.endswith(suffix)) for row in rows])
            parts.append((phase.force * own) @ along)
        return np.concatenate(parts)

    def center_of_pressure(self, side: str) -> np.ndarray:
        """Center of pressure of one foot.

        Args:
            side: ``"right"`` or ``"left"``.

        Returns:
            (controls, 3), m; NaN where the foot is unloaded.

        Raises:
            CaptureError: The side is neither left nor right.
        """
        suffix = parse_side(side).title
        parts = []
        for phase, contacts in zip(self.solution.phases, self.contact_phases, strict=True):
            q = _control_poses(phase)
            total, weighted = np.zeros(len(q)), np.zeros((len(q), 3))
            for k, row in enumerate(contacts.contacts.rows):
                if row.frame.endswith(suffix) and row.slide == (0.0, 0.0, 1.0):
                    point = np.asarray(position(self.recorded.model, q, row.frame))
                    total += phase.force[:, k]
                    weighted += phase.force[:, k, None] * point * (1.0, 1.0, 0.0)
            loaded = total > STANCE_THRESHOLD.center_of_pressure_n
            divisor = np.where(loaded, total, 1.0)[:, None]
            parts.append(np.where(loaded[:, None], weighted / divisor, np.nan))
        return np.concatenate(parts)

    @cached_property
    def deviation(self) -> np.ndarray:
        """(nodes, nv), rad or m: reconstructed minus recorded coordinates at the nodes."""
        time, q = self.solution.trajectory("q")
        spline = CubicSpline(self.recorded.time, self.recorded.q)
        recorded = spline(self.contact_phases[0].begin + time)
        return np.asarray(difference(self.recorded.model, recorded, q))

    @property
    def tracking_error(self) -> dict[str, float]:
        """By coordinate, the root mean square deviation (rad, m) from the recording."""
        rms = np.sqrt((self.deviation**2).mean(axis=0))
        names = self.recorded.model.coordinate_names
        return {name: float(value) for name, value in zip(names, rms, strict=True)}

    @cached_property
    def hidden_coordinates(self) -> tuple[str, ...]:
        """Names of the coordinates that the recording hardly shows (`tracking_weights`)."""
        hidden = tracking_weights(self.recorded) < MIN_SHOWN_WEIGHT
        names = zip(self.recorded.model.coordinate_names, hidden, strict=True)
        return tuple(name for name, is_hidden in names if is_hidden)

    @property
    def largest_errors(self) -> dict[str, tuple[str, float]]:
        """By unit (``"rad"``, ``"m"``), the coordinate with the largest rms error, and the error.

        `hidden_coordinates` are left out.
        """
        model, errors = self.recorded.model, self.tracking_error
        angular = dict(zip(model.coordinate_names, angular_coordinates(model), strict=True))
        seen = [name for name in model.coordinate_names if name not in self.hidden_coordinates]
        largest = {}
        for unit in ("rad", "m"):
            own = [name for name in seen if bool(angular[name]) is (unit == "rad")]
            if own:
                worst = max(own, key=lambda name: errors[name])
                largest[unit] = (worst, errors[worst])
        return largest

    @cached_property
    def motion(self) -> Motion:
        """The reconstructed movement at equally spaced times, on the clock of the recording.

        It has torques, ground forces, and foot strikes and foot offs between its contact phases;
        ``motion.result`` is this reconstruction. See `homodyn.optimal.Solution` for the frames at
        the start of a phase.
        """
        solution, begin = self.solution, self.contact_phases[0].begin
        phases = phase_trajectories(solution.transcribed, solution.phases, solution.parameters)
        span = float(solution.phases[-1].time[-1])
        motion = join_phases(self.recorded.model, phases, np.linspace(0.0, span, MOTION_FRAMES))
        return replace(
            motion,
            time=begin + motion.time,
            events=tuple(replace(event, time=begin + event.time) for event in motion.events),
            method=f"reconstructed by optimal control: {self.sentence}",
            result=self,
        )

    def force_errors(self) -> list[ForceError]:
        """Deviation of the ground forces from measured ones.

        Returns:
            One record per foot and one for both; empty where the plates do not cover the step.
        """
        forces = {side: self.ground_force(side) for side in Side}
        return force_errors(self.time, forces, self.contact_phases, self.measured)

    def plain_force_errors(self) -> list[ForceError]:
        """The same for the plain estimate (`center_of_mass_forces`) of the recorded movement.

        Returns:
            One record per foot and one for both; empty where the plates do not cover the step.
        """
        plain = center_of_mass_forces(self.recorded, self.contact_phases, self.time)
        return force_errors(self.time, plain, self.contact_phases, self.measured)

    def torque_errors(self) -> dict[str, float]:
        """Deviation of the torques from inverse dynamics of the recording with the plates.

        Returns:
            By actuated coordinate, the root mean square (N m/kg, N/kg); empty where the plates do
            not cover the step.
        """
        if self.measured is None or not self.force_errors():
            return {}
        names = self.recorded.model.coordinate_names
        known = self.measured.per_kg
        errors = {}
        for k in np.flatnonzero(np.abs(self.tau).max(axis=0) > 0):
            error = self.per_kg[:, k] - np.interp(self.time, self.measured.motion.time, known[:, k])
            errors[names[k]] = float(np.sqrt((error**2).mean()))
        return errors

    @property
    def required_friction(self) -> dict[str, float]:
        """By side, the largest ratio of tangential to normal force of the reconstruction."""
        return {str(side): required_friction(self.ground_force(side), self.weight) for side in Side}

    @cached_property
    def friction_excesses(self) -> tuple[FrictionExcess, ...]:
        """Where the plates measured more friction than `friction`; empty without a bound."""
        if self.friction is None:
            return ()
        begin, end = self.contact_phases[0].begin, self.contact_phases[-1].end
        time, forces = plate_forces(self.measured, begin, end)
        return friction_excesses(time, forces, self.friction, self.weight)

    @property
    def plate_mass(self) -> float | None:
        """kg: the mass whose recorded movement the plates carry; None where they do not cover it.

        Least squares of the vertical force over gravity plus acceleration of the center of mass.
        """
        if self.measured is None:
            return None
        time = self.measured.motion.time
        inside = (time >= self.time[0]) & (time <= self.time[-1])
        if not self.measured.covered[inside].all():
            return None
        return plate_mass([self.measured], (float(self.time[0]), float(self.time[-1])))

    @property
    def force_limits(self) -> tuple[float, float, float]:
        """Largest rms errors of the force of a foot that are good (forward, sideways, upward).

        They are fractions of the weight, and infinite where the model cannot move, as sideways in
        planar models.
        """
        rates = root_translation(self.recorded.model)[2]
        moves = np.linalg.norm(rates, axis=1) > 0
        forward, sideways, upward = np.where(moves, GOOD_FORCE_SHARES, np.inf)
        return float(forward), float(sideways), float(upward)

    @property
    def deviations(self) -> tuple[str, ...]:
        """Where the result is far from the recording or from the plates, one clause each."""
        found = []
        for unit, (name, rms) in self.largest_errors.items():
            if unit == "rad" and rms > GOOD_TRACKING_RAD:
                found.append(f"{name} is {rms:.3f} rad rms off the recording")
            if unit == "m" and rms > GOOD_TRACKING_M:
                found.append(f"{name} is {100 * rms:.1f} cm rms off the recording")
        for error in self.force_errors():
            if error.side == "both":
                continue
            shares = zip(("forward", "sideways", "vertical"), error.rms / self.weight, strict=True)
            for (axis, share), limit in zip(shares, self.force_limits, strict=True):
                if share > limit:
                    found.append(
                        f"the {error.side.lower()} {axis} force is {share:.1%} of weight off the "
                        "plates"
                    )
        if found and self.friction_excesses:
            excesses = ", ".join(map(str, self.friction_excesses))
            found.append(f"the plates need more friction than {self.friction:g}: {excesses}")
        mass, plates = float(self.recorded.model.mass), self.plate_mass
        if plates is not None and abs(plates - mass) > MAX_MASS_DEVIATION * mass:
            found.append(f"the plates carry {plates:.1f} kg, the model has {mass:.1f} kg")
        return tuple(found)

    @property
    def status(self) -> str:
        """How the solve ended, ``"solved but far from the recording"`` where it is."""
        solved = self.solution.status.success
        return FAR_STATUS if solved and self.deviations else str(self.solution.status)

    @property
    def sentence(self) -> str:
        """The result in one sentence."""
        tracked = " and ".join(f"{e:.4f} {u} ({n})" for u, (n, e) in self.largest_errors.items())
        phases = ", ".join(phase.name for phase in self.contact_phases)
        text = f"{self.solution.sentence}; {phases}; tracked within {tracked} rms"
        if self.status == FAR_STATUS:
            return f"{text}; {FAR_STATUS}: {', '.join(self.deviations)}"
        if not self.solution.status.success and self.friction_excesses:
            excesses = ", ".join(map(str, self.friction_excesses))
            return f"{text}; the plates need more friction than {self.friction:g}: {excesses}"
        return text


def _control_poses(phase: PhaseSolution) -> np.ndarray:
    """Coordinates at the time points of the controls."""
    return np.column_stack([np.interp(phase.control_time, phase.time, c) for c in phase.q.T])
