"""Problems of recorded movements with muscles: which excitations produced them.

In an inverse problem the movement is given and the muscles with their dynamics are solved for; in a
tracking problem the movement may deviate. Both begin from static optimization.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field

import numpy as np
from scipy.interpolate import make_interp_spline

from homodyn.errors import HomodynError
from homodyn.foundation.arguments import require_type
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of, unknown_name
from homodyn.motion import Loads, Motion
from homodyn.muscle import MuscleActivations, static_optimization
from homodyn.optimal.problem import Problem
from homodyn.optimal.statement.external_loads import ExternalLoad, wrench_of_force
from homodyn.optimal.statement.muscle_drive import (
    ACTIVATION,
    EXCITATION,
    TENDON_FORCE,
    TENDON_FORCE_RATE,
    MuscleDrive,
)
from homodyn.optimal.statement.objective_terms import (
    ObjectiveTerm,
    excitation,
    torque,
    track_coordinates,
)
from homodyn.optimal.statement.path_constraints import muscle_equilibrium
from homodyn.optimal.statement.phase import Phase

SPLINE_DEGREE = 5
"""Of the curves through recorded coordinates, so that accelerations are smooth."""
MIN_GUESSED_ACTIVATION, MAX_GUESSED_ACTIVATION = 0.02, 0.98
"""Guesses keep this distance from the bounds, near which an interior-point method is slow."""
TRACKING_EFFORT = 1e-3

Series = Callable[[np.ndarray], np.ndarray]


@record
class MuscleProblemOptions(Record):
    """How the muscles of a recorded movement are found.

    Raises:
        HomodynError: A number is out of range.
    """

    drive: MuscleDrive = field(default_factory=MuscleDrive)
    """Tendons, muscle models and paths."""
    span: tuple[float, float] | None = None
    """Begin and end (s) of the part of the movement; None: all of it."""
    intervals: int = 50
    """Number of intervals of the mesh."""
    effort: float = TRACKING_EFFORT
    """Weight of squared excitations and reserves beside squared deviations of coordinates (rad,
    m); without meaning in an inverse problem."""
    power: float = 2.0
    """Power of excitations in the effort."""
    reserves: float | Mapping[str, float] = 10.0
    """Torque or force (N m, N) whose square costs as much as full excitation of one muscle: of
    all coordinates that are not of the root, or by coordinate."""
    residuals: float = 100.0
    """The same for the coordinates of the root."""
    terms: tuple[ObjectiveTerm, ...] = ()
    """More terms, such as `track_activations`."""

    def __post_init__(self) -> None:
        given = self.reserves
        named = given.items() if isinstance(given, Mapping) else [("all coordinates", given)]
        strengths = [*named, ("the root", self.residuals)]
        for name, strength in (*strengths, ("excitations", self.effort)):
            if not (np.isfinite(strength) and strength > 0):
                raise HomodynError(
                    f"the weight or strength of {name} is {strength:g}; it must be above zero"
                )
        if self.span is not None and not self.span[0] < self.span[1]:
            raise HomodynError(f"the span {self.span} is empty")

    def strengths(self, motion: Motion) -> np.ndarray:
        """Strengths of the reserves of all coordinates, (nv,), N m or N.

        Args:
            motion: The movement.

        Raises:
            HomodynError: A coordinate is unknown.
        """
        names, root = motion.model.coordinate_names, set(motion.model.root.v)
        given = self.reserves
        default = MuscleProblemOptions().reserves
        assert isinstance(default, float)
        for name in given if isinstance(given, Mapping) else ():
            if name not in names:
                raise HomodynError(f"reserves: {unknown_name('coordinate', name, names)}")
        found = []
        for k, name in enumerate(names):
            own = given.get(name) if isinstance(given, Mapping) else given
            found.append(self.residuals if own is None and k in root else own or default)
            if not isinstance(given, Mapping) and k in root:
                found[-1] = self.residuals
        return np.array(found)


def muscle_inverse_problem(
    motion: Motion, loads: Loads, options: MuscleProblemOptions | None = None
) -> Problem:
    """The problem of the least excitations that produce a movement as it is.

    Positions, velocities and accelerations are given; activations, tendon forces and reserves obey
    the equations of motion at every point of the mesh.

    Args:
        motion: The movement, smooth enough to be differentiated twice.
        loads: Its torques and ground forces, as from `homodyn.capture.inverse_dynamics`.
        options: Muscles, mesh and reserves.

    Returns:
        The problem, to be solved by ``"midpoint"`` or ``"collocation"``.

    Raises:
        HomodynError: The movement has unknown coordinates or loads, does not cover the span, or has
            no muscles.
    """
    options = options or MuscleProblemOptions()
    recording = _Recording(motion, loads, options)
    return recording.problem("inverse", prescribed=recording.kinematics)


def muscle_tracking_problem(
    motion: Motion, loads: Loads, options: MuscleProblemOptions | None = None
) -> Problem:
    """The problem of the movement near to a recorded one that muscles produce with little effort.

    The objective is the integral of the squared deviations of all coordinates (rad, m), plus
    ``options.effort`` times that of the squared excitations and reserves. Ground forces are given.

    Args:
        motion: The movement.
        loads: Its torques and ground forces, as from `homodyn.capture.inverse_dynamics`.
        options: Muscles, mesh, weights and reserves.

    Returns:
        The problem.

    Raises:
        HomodynError: The movement has unknown coordinates or loads, does not cover the span, or has
            no muscles.
    """
    options = options or MuscleProblemOptions()
    recording = _Recording(motion, loads, options)
    tracking = track_coordinates(recording.kinematics["q"])
    return recording.problem("tracking", tracking)


class _Recording:
    """A movement with its loads as functions of the fraction of the span."""

    def __init__(self, motion: Motion, loads: Loads, options: MuscleProblemOptions) -> None:
        require_type("motion", motion, Motion)
        require_type("loads", loads, Loads)
        self.motion, self.loads, self.options = motion, loads, options
        model = motion.model
        options.drive.laws(model)
        if model.nq != model.nv:
            raise HomodynError(
                f"model {model.name!r} has quaternions, through which no curves are put; use euler "
                "joints"
            )
        time = motion.time
        begin, end = options.span or (float(time[0]), float(time[-1]))
        if begin < time[0] - 1e-9 or end > time[-1] + 1e-9 or motion.frames <= SPLINE_DEGREE:
            raise HomodynError(
                f"the span from {begin:g} to {end:g} s is not within the movement, which has "
                f"{count_of(motion.frames, 'frame')} from {time[0]:g} to {time[-1]:g} s"
            )
        self.begin, self.duration = begin, end - begin
        self._check()
        curve = make_interp_spline(time, motion.q, k=SPLINE_DEGREE)
        self.kinematics: dict[str, Series] = {
            key: self._at(curve.derivative(order) if order else curve)
            for order, key in enumerate(("q", "v", "a"))
        }

    def problem(
        self,
        name: str,
        tracking: ObjectiveTerm | None = None,
        prescribed: Mapping[str, Series] | None = None,
    ) -> Problem:
        """One phase with all forces of the recording."""
        model, options = self.motion.model, self.options
        strengths = options.strengths(self.motion)
        effort = [excitation(options.power), torque(1 / strengths**2)]
        if tracking is not None:
            effort = [tracking, *(options.effort * term for term in effort)]
        phase = Phase(
            name,
            self.duration,
            terms=[*effort, *options.terms],
            constraints=[muscle_equilibrium()],
            intervals=options.intervals,
            bounds={"tau": (-np.inf, np.inf), "v": (-np.inf, np.inf)},
            guess={**self.kinematics, **self._muscle_guess()},
            external_loads=self._external_loads(),
            prescribed=prescribed or {},
        )
        return Problem(model, [phase], actuated=model.coordinate_names, muscles=options.drive)

    def _check(self) -> None:
        """Refuse coordinates and loads that are not known within the span."""
        inside = (self.motion.time >= self.begin) & (self.motion.time <= self.begin + self.duration)
        for what, values in (("coordinate", self.motion.q), ("torque of", self.loads.tau)):
            bad = np.argwhere(inside[:, None] & ~np.isfinite(values))
            if len(bad):
                frame, k = bad[0]
                raise HomodynError(
                    f"the {what} {self.motion.model.coordinate_names[k]} is not known at "
                    f"{self.motion.time[frame]:.3f} s; choose a span of frames that are complete"
                )

    def _at(self, curve: Callable[[np.ndarray], np.ndarray]) -> Series:
        return lambda part: np.asarray(curve(self.begin + self.duration * np.asarray(part)))

    def _linear(self, values: np.ndarray) -> Series:
        time = self.motion.time
        return self._at(lambda at: np.column_stack([np.interp(at, time, x) for x in values.T]))

    def _external_loads(self) -> list[ExternalLoad]:
        found = []
        for foot in self.loads.feet:
            parts = (np.nan_to_num(x) for x in (foot.force, foot.point, foot.torque))
            found.append(ExternalLoad(foot.body, self._linear(wrench_of_force(*parts))))
        return found

    def _muscle_guess(self) -> dict[str, Series]:
        """Activations, tendon forces and reserves of static optimization."""
        model, drive = self.motion.model, self.options.drive
        law = drive.muscle_model
        # One strength for all: it is a guess.
        strength = float(np.median(self.options.strengths(self.motion)))
        found = static_optimization(
            self.motion, self.loads, muscle_model=law, reserves=strength, wrapping=drive.wrapping
        )
        levels = _of_all_muscles(self.motion, found, found.activations)
        levels = np.clip(levels, MIN_GUESSED_ACTIVATION, MAX_GUESSED_ACTIVATION)
        scale = np.array([float(muscle.max_isometric_force) for muscle in model.muscles])
        pulls = np.maximum(_of_all_muscles(self.motion, found, found.forces) / scale, 0.01)
        rates = np.gradient(pulls, self.motion.time, axis=0)
        tau = np.array(self.loads.tau)
        for k, name in enumerate(found.coordinates):
            tau[:, model.coordinate_names.index(name)] = found.reserves[:, k]
        guess = {"tau": self._linear(np.nan_to_num(tau))}
        known = ((ACTIVATION, levels), (EXCITATION, levels), (TENDON_FORCE, pulls))
        names = [muscle.name for muscle in model.muscles]
        for quantity, values in (*known, (TENDON_FORCE_RATE, rates)):
            columns = [names.index(one) for one in drive.variable_names(model, quantity)]
            if columns:
                guess[quantity] = self._linear(values[:, columns])
        return guess


def _of_all_muscles(motion: Motion, found: MuscleActivations, values: np.ndarray) -> np.ndarray:
    """Columns of all muscles of the model; small values where there is no result."""
    names = [muscle.name for muscle in motion.model.muscles]
    full = np.full((motion.frames, len(names)), MIN_GUESSED_ACTIVATION)
    full[:, [names.index(name) for name in found.muscles]] = values
    return np.where(np.isfinite(full), full, MIN_GUESSED_ACTIVATION)
