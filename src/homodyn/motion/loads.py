"""Loads of a movement: joint torques, ground forces, residuals and power."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property

import numpy as np

from homodyn.errors import HomodynError
from homodyn.foundation.record import record
from homodyn.foundation.text import count_of
from homodyn.foundation.time_series import Curve, TimeSeries
from homodyn.motion.clinical import resolve_coordinate
from homodyn.motion.contact_force import ContactForce
from homodyn.motion.coordinate_columns import angular_coordinates
from homodyn.motion.motion import Motion


@record
class Loads(TimeSeries):
    """Generalized forces of a motion under its ground forces.

    ``tau`` has ``model.nv`` columns in the order of the coordinates (N m, N): net values, muscles
    and passive tissue together. The columns of the root are the residual: no muscle produces them.
    """

    motion: Motion
    """The movement."""
    tau: np.ndarray
    """(frames, nv), N m or N."""
    root: tuple[int, ...]
    """Columns of ``tau`` that belong to the root joint."""
    residual_force: np.ndarray
    """(frames, 3), N: residual force at the root, world axes."""
    residual_moment: np.ndarray
    """(frames, 3), N m: residual moment about the center of mass, world axes."""
    feet: tuple[ContactForce, ...] = ()
    """Forces of the ground on bodies."""
    power: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    """(frames, nv), W: torque times velocity; zero in the columns of the root."""
    method: str = ""
    """Filters, assignment, prediction and redistribution, in one sentence."""
    notes: tuple[str, ...] = ()
    """Decisions and doubts, one sentence each."""
    usable: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=bool))
    """(frames,): False where the ground forces are not known well enough for torques."""
    edge: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=bool))
    """(frames,): True near the ends of the recording, where the low-pass filter has no data on one
    side and accelerations are not reliable; empty without a filter."""
    ground_power: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """(frames,), W: power of the ground forces on the feet."""
    center_of_mass: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    """(frames, 3), m."""

    @staticmethod
    def from_torques(
        motion: Motion,
        tau: np.ndarray,
        feet: tuple[ContactForce, ...] = (),
        *,
        residual_force: np.ndarray | None = None,
        residual_moment: np.ndarray | None = None,
        method: str = "",
    ) -> Loads:
        """Loads from known torques and ground forces; the power of the joints is computed.

        Args:
            motion: The movement.
            tau: (frames, nv), N m or N.
            feet: Forces of the ground on bodies.
            residual_force: (frames, 3), N, at the root; zero when left out.
            residual_moment: (frames, 3), N m, about the center of mass; zero when left out.
            method: How they were obtained.

        Returns:
            The loads.
        """
        root = tuple(motion.model.root.v)
        power = tau * motion.v
        power[:, root] = 0.0
        zero = np.zeros((motion.frames, 3))
        return Loads(
            motion,
            tau,
            root,
            zero if residual_force is None else residual_force,
            zero if residual_moment is None else residual_moment,
            feet,
            power,
            method,
        )

    @staticmethod
    def from_motion(motion: Motion) -> Loads:
        """The torques and contact forces that a motion carries.

        Args:
            motion: A motion with torques: simulated, optimized, or of a body in a network.

        Returns:
            Its loads, without a residual.

        Raises:
            HomodynError: The motion has no torques.
        """
        if not motion.tau.size:
            raise HomodynError(
                f"the motion of model {motion.model.name!r} has no torques; use "
                "hd.capture.inverse_dynamics(motion, plates)"
            )
        return Loads.from_torques(motion, motion.tau, motion.contact_forces, method=motion.method)

    @property
    def per_kg(self) -> np.ndarray:
        """``tau`` divided by the mass of the person, N m/kg or N/kg."""
        return self.tau / self.motion.model.mass

    @property
    def joints(self) -> tuple[int, ...]:
        """Columns of ``tau`` that muscles or motors can drive: all but those of the root."""
        return tuple(k for k in range(self.tau.shape[1]) if k not in self.root)

    @property
    def ground_force(self) -> np.ndarray:
        """(frames, 3), N: the sum over the feet."""
        return sum((foot.force for foot in self.feet), np.zeros((len(self.tau), 3)))

    @property
    def per_weight(self) -> dict[str, np.ndarray]:
        """By body of each foot, its ground force (frames, 3) divided by the weight."""
        gravity = np.asarray(self.motion.model.gravity, dtype=float)
        weight = self.motion.model.mass * float(np.linalg.norm(gravity))
        return {foot.body: foot.force / weight for foot in self.feet}

    @property
    def covered(self) -> np.ndarray:
        """(frames,): ``usable``, or True for all frames where that is not known."""
        return self.usable if self.usable.size else np.ones(len(self.tau), dtype=bool)

    @property
    def valid(self) -> np.ndarray:
        """(frames,): ``covered`` without ``edge``: ground forces and accelerations are known."""
        return self.covered & ~self.edge if self.edge.size else self.covered

    @property
    def predicted(self) -> bool:
        """True when ground forces were estimated from recorded kinematics, not measured."""
        return any(foot.predicted for foot in self.feet)

    @property
    def time(self) -> np.ndarray:
        """(frames,), s."""
        return self.motion.time

    def torque(self, coordinate: str) -> np.ndarray:
        """(frames,), N m or N: the generalized force along one coordinate.

        Args:
            coordinate: Name of a coordinate of the model.

        Returns:
            One column of ``tau``.

        Raises:
            ModelError: The model has no such coordinate.
        """
        return self.tau[:, self.motion.model.coordinate_index(coordinate)]

    def headline(self) -> str:
        """Model, length and feet."""
        feet = ", ".join(foot.body for foot in self.feet)
        text = f"Loads of {self.motion.model.name!r}: {count_of(len(self.tau), 'frame')}"
        return f"{text}, ground forces on {feet}" if feet else f"{text}, no ground forces"

    @cached_property
    def _columns(self) -> dict[str, Curve]:
        model, time = self.motion.model, self.time
        angular = angular_coordinates(model)
        found = {
            name: Curve(name, "N m" if angular[k] else "N", time, self.tau[:, k])
            for k, name in enumerate(model.coordinate_names)
        }
        for foot in self.feet:
            found[f"{foot.body} force"] = Curve(f"{foot.body} force", "N", time, foot.force)
            name = f"{foot.body} center of pressure"
            found[name] = Curve(name, "m", time, foot.point)
            found[f"{foot.body} moment"] = Curve(f"{foot.body} moment", "N m", time, foot.torque)
        return found

    def columns(self) -> Mapping[str, Curve]:
        """Generalized forces by coordinate (N m, N), then ground forces by body.

        ``<body> force``, ``<body> center of pressure`` and ``<body> moment`` have three components.

        Returns:
            Curves by name.
        """
        return self._columns

    def __getitem__(self, name: str) -> Curve:
        """A torque by the name of its coordinate, or by a clinical or OpenSim name of it.

        Clinical names give the moment that is positive in the direction that the name states, as
        for `Motion`: ``loads["right knee flexion"]`` is the internal knee flexion moment.
        """
        if name in self._columns:
            return self._columns[name]
        found = resolve_coordinate(self.motion.model, name, also=tuple(self._columns))
        column = self._columns[found.coordinate]
        return Curve(f"{found.title} moment", column.unit, self.time, found.sign * column.values)

    def resolve_column(self, name: str) -> str:
        """The column that a name, a clinical name or an OpenSim name refers to.

        Args:
            name: A coordinate, a clinical name of one, or ``<body> force`` and the like.

        Returns:
            The name of the column.

        Raises:
            HomodynError: There is no such column; the message lists what is accepted.
        """
        if name in self._columns:
            return name
        return resolve_coordinate(self.motion.model, name, also=tuple(self._columns)).coordinate
