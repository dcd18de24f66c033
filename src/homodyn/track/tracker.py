"""The steps of tracking: both bodies advance from one sample of the markers to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from homodyn.capture.world_frame import world_axes
from homodyn.dynamics.tree import Tree
from homodyn.errors import ModelError
from homodyn.foundation import unknown_name
from homodyn.model import Model
from homodyn.simulate import ContactGeometry
from homodyn.simulate.rows.marker_springs import marker_values
from homodyn.spatial import Array
from homodyn.symbolic import Kernel, kernel
from homodyn.track.options import TrackingOptions
from homodyn.track.worlds import fit_world, motor_world

MAX_LEAN_RAD = 0.5
"""Rotation of the root of the driven body away from the recorded one that counts as a fall."""
MAX_HEIGHT_ERROR_M = 0.2
"""Vertical distance of the roots that counts as a fall."""


@dataclass(frozen=True, eq=False)
class TrackingStep:
    """The state at the end of a step and the forces in it; a batch adds a leading axis."""

    q: np.ndarray
    """Pose of the body that follows the markers, (nq,)."""
    v: np.ndarray
    """Its velocity, (nv,)."""
    driven_q: np.ndarray
    """Pose of the body that motors drive, (nq,)."""
    driven_v: np.ndarray
    """Its velocity, (nv,)."""
    torques: np.ndarray
    """Torques of the motors, and residual forces in the columns of the root (N m, N), (nv,)."""
    contact_forces: np.ndarray
    """Force of the ground on each contact point (N, world of the model), (points, 3)."""
    contact_points: np.ndarray
    """Places of the contact points at the start of the step (m), (points, 3)."""
    marker_error: np.ndarray
    """Distance of measured and model marker (m), (markers,); NaN where not seen."""
    fitted: np.ndarray
    """Whether the step of the body that follows the markers was solved, ()."""
    solved: np.ndarray
    """Whether the step of the driven body was solved, ()."""
    fallen: np.ndarray
    """Whether the driven body has lost its balance, ()."""


class Tracker:
    """Two bodies that follow markers step by step: one, or a batch.

    Args:
        model: A model with markers, and with contacts if its root floats.
        q: Pose at the start, (nq,), or (batch, nq) for a batch.
        dt: Usual step (s).
        markers: Markers to follow; None for all of the model.
        options: Laws and limits.

    Raises:
        ModelError: The model has no markers, or floats without contacts.
    """

    def __init__(
        self,
        model: Model,
        q: np.ndarray,
        dt: float,
        markers: Sequence[str] | None = None,
        options: TrackingOptions | None = None,
    ) -> None:
        self.model, self.dt = model, dt
        self.options = options or TrackingOptions()
        known = [marker.name for marker in model.markers]
        self.markers = tuple(known if markers is None else markers)
        if not self.markers:
            raise ModelError(f"model {model.name!r} has no markers, so nothing can be tracked")
        for name in self.markers:
            if name not in known:
                raise ModelError(f"model {model.name!r} has {unknown_name('marker', name, known)}")
        if model.root and not model.contacts:
            raise ModelError(
                f"model {model.name!r} has no contact shapes, so the ground cannot carry it; add "
                "them with homodyn.track.with_sole_contacts(model, motion)"
            )
        self._readings = readings_kernel(model, self.markers)
        self.fit = fit_world(model, q, dt, self.markers, self.options)
        self.driven = motor_world(model, q, dt, self.options)
        self._axes = world_axes(model)
        self._columns = self._row_columns()
        self._last: np.ndarray | None = None

    def _row_columns(self) -> np.ndarray:
        """The column of ``tau`` of each row of the driven body."""
        names = self.driven.row_names
        return np.array([self.model.coordinate_index(name) for name in names], dtype=int)

    def to_model_axes(self, positions: np.ndarray) -> np.ndarray:
        """Positions in the world axes of the model.

        Args:
            positions: (..., 3), m, Z up.

        Returns:
            (..., 3), m.
        """
        return positions @ self._axes

    def to_recording_axes(self, positions: np.ndarray) -> np.ndarray:
        """Positions in the axes of recordings.

        Args:
            positions: (..., 3), m, world of the model.

        Returns:
            (..., 3), m, Z up.
        """
        return positions @ self._axes.T

    @property
    def last_positions(self) -> np.ndarray:
        """Markers at the end of the last step, (..., markers, 3), m, world of the model.

        Raises:
            ModelError: ``relax`` was not called before.
        """
        if self._last is None:
            raise ModelError("call relax(q, positions) before the first step")
        return self._last

    def relax(self, q: np.ndarray, positions: np.ndarray, steps: int | None = None) -> None:
        """Start from a pose and let the body relax between still markers.

        Args:
            q: Pose, (nq,) or (batch, nq).
            positions: Markers, (..., markers, 3), m, world of the model; NaN where not seen.
            steps: Number of steps; None: those of the options.
        """
        self.fit.reset(q)
        still = marker_values(positions, np.zeros_like(positions))
        self.fit.step(targets=still, steps=self.options.relax_steps if steps is None else steps)
        self.fit.reset(self.fit.q.copy())
        self._last = positions
        self.restart()

    def restart(self, elements: np.ndarray | None = None) -> None:
        """Put the driven body into the state of the one that follows the markers.

        Args:
            elements: Which elements of a batch, (batch,) of bool; None: all.
        """
        q, v = self.fit.q.copy(), self.fit.v.copy()
        if elements is not None:
            q, v = q[elements], v[elements]
        self.driven.reset(q, v, elements)

    def advance(self, positions: np.ndarray, length: float | None = None) -> TrackingStep:
        """Advance to the next sample of the markers.

        Args:
            positions: Markers at the end of the step, (..., markers, 3), m, world of the model; NaN
                where not seen.
            length: Length of the step (s); None: the usual one.

        Returns:
            States and forces.

        Raises:
            ModelError: ``relax`` was not called before.
        """
        last = self.last_positions
        h = self.dt if length is None else length
        before = self.fit.q.copy()
        values = marker_values(last, (positions - last) / h)
        self.fit.step(targets=values, length=length)
        rate = self.model.difference(before, self.fit.q) / h
        start = self.driven.q.copy()
        self.driven.step(targets=np.concatenate([before, rate], axis=-1), length=length)
        self._last = positions
        return self._result(positions, start)

    def _result(self, positions: np.ndarray, start: np.ndarray) -> TrackingStep:
        q, driven = self.fit.q.copy(), self.driven
        torques = np.zeros((*q.shape[:-1], self.model.nv))
        torques[..., self._columns] = driven.quantities["constraint_forces"]
        read = self._readings(q=q, driven=driven.q, start=start)
        fallen = (read["lean"] > MAX_LEAN_RAD) | (np.abs(read["rise"]) > MAX_HEIGHT_ERROR_M)
        shape = q.shape[:-1]
        return TrackingStep(
            q,
            self.fit.v.copy(),
            driven.q.copy(),
            driven.v.copy(),
            torques,
            driven.quantities["forces"].copy(),
            np.asarray(read["points"]),
            np.linalg.norm(read["markers"] - positions, axis=-1),
            (self.fit.statuses == 0).reshape(shape),
            (driven.statuses == 0).reshape(shape),
            np.asarray(fallen),
        )


def readings_kernel(model: Model, markers: Sequence[str]) -> Kernel:
    """Builds a kernel of what is read from the poses of both bodies after a step.

    Args:
        model: The model.
        markers: Names of the markers.

    Returns:
        A kernel of the poses ``q`` and ``driven`` at the end and of ``start``, that of the driven
        body before: ``markers`` (markers, 3) of the first (m), ``points`` of contacts (points, 3)
        (m), and ``lean`` (rad) and ``rise`` (m) of the root of the driven body, zero without root.
    """
    geometry, up = ContactGeometry(model), world_axes(model)[2]

    def read(q: Array, driven: Array, start: Array) -> dict[str, Array]:
        first, second = Tree(model, q), Tree(model, driven)
        places = []
        for name in markers:
            body, local = model.locate(name)
            places.append(first.placements[body].point_back(local.r))
        points = [gap.point for gap in geometry.gaps(Tree(model, start))]
        lean, rise = ca.SX(0.0), ca.SX(0.0)
        if model.root:
            k = model.body_names.index(model.root.bodies[0])
            a, b = first.placements[k], second.placements[k]
            cosine = (ca.trace(a.E.T @ b.E) - 1) / 2
            lean, rise = ca.acos(ca.fmin(ca.fmax(cosine, -1), 1)), ca.dot(up, b.r - a.r)
        return {
            "markers": ca.horzcat(*places).T,
            "points": ca.horzcat(ca.SX(3, 0), *points).T,
            "lean": lean,
            "rise": rise,
        }

    shapes: dict[str, int | tuple[int, ...]] = {
        "markers": (len(markers), 3),
        "points": (len(geometry.names), 3),
        "lean": (),
        "rise": (),
    }
    return kernel(
        read,
        q=model.nq,
        driven=model.nq,
        start=model.nq,
        outputs=shapes,
        name=f"readings of {model.name}",
    )
