"""Marker positions as a function of the pose and of the geometry of a person.

The geometry is given by three tables: ``scales`` (bodies, 3) scale each body along its axes,
``shifts`` (markers, 3), m, offset the markers in their scaled bodies, and ``centers`` (bodies, 3),
m, offset the joint that carries each body, in the axes of its parent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import casadi as ca
import numpy as np

from homodyn.catalog import displace_centers, scale
from homodyn.catalog.scaling import KEEP_DENSITY
from homodyn.dynamics import marker_positions
from homodyn.model import Model, Parameter
from homodyn.model.configuration import integrate, rates
from homodyn.model.model import parametric
from homodyn.model.model_cache import ModelCache
from homodyn.model.shared_kernels import with_dimension_parameters
from homodyn.spatial import Array
from homodyn.symbolic import Kernel, SparseKernel, kernel, sparse_jacobian


@dataclass(frozen=True, eq=False)
class Person:
    """Geometry of a person relative to a generic model."""

    scales: np.ndarray
    """(bodies, 3): scale factors."""
    shifts: np.ndarray
    """(markers, 3), m: marker offsets."""
    centers: np.ndarray
    """(bodies, 3), m: offsets of joint centers."""

    @cached_property
    def flat(self) -> np.ndarray:
        """All numbers in one row: scales, centers, shifts."""
        return np.concatenate([self.scales.ravel(), self.centers.ravel(), self.shifts.ravel()])


class MarkerModel:
    """The recorded markers of a model, with exact derivatives by pose and geometry."""

    def __init__(self, model: Model, markers: Sequence[str]) -> None:
        self.model = strip_to_markers(model, markers)
        # Lengths are parameters, so that one kernel serves all subjects of a generic model.
        self._parametric = with_dimension_parameters(self.model)
        self.markers = tuple(markers)
        self.bodies = len(model.bodies)
        self.size = 6 * self.bodies + 3 * len(self.markers)

    @property
    def generic(self) -> Person:
        """The geometry of the model itself."""
        return Person(
            np.ones((self.bodies, 3)), np.zeros((len(self.markers), 3)), np.zeros((self.bodies, 3))
        )

    def person(self, flat: np.ndarray) -> Person:
        """The geometry of a row of numbers, the inverse of `Person.flat`."""
        scales, centers, shifts = np.split(flat, [3 * self.bodies, 6 * self.bodies])
        return Person(scales.reshape(-1, 3), shifts.reshape(-1, 3), centers.reshape(-1, 3))

    @cached_property
    def _positions(self) -> Kernel:
        """Positions by the pose, a vector of a pose step and the geometry, and the lengths."""
        model, nv = self.model, self.model.nv
        person = [Parameter(f"p{k}", value) for k, value in enumerate(self.generic.flat)]
        symbolic = parametric(self._symbolic_model, **{p.name: p.value for p in person})

        def positions(q: Array, x: Array, lengths: Array) -> Array:
            # Linear in the step, so that its derivative at zero is that along velocities.
            pose = q + rates(model, q, x[:nv])
            return marker_positions(symbolic, pose, parameters=ca.vertcat(lengths, x[nv:]))

        return kernel(
            positions,
            {"q": model.nq, "x": nv + self.size, "lengths": len(self._parametric.parameters)},
            outputs={"positions": (len(self.markers), 3)},
            name=f"markers of {model.name}",
        )

    @cached_property
    def _jacobian(self) -> SparseKernel:
        return sparse_jacobian(self._positions, wrt="x")

    def _symbolic_model(self, **numbers: ca.SX) -> Model:
        values = list(numbers.values())
        triples = [ca.vertcat(*values[k : k + 3]) for k in range(0, len(values), 3)]
        scales, centers = triples[: self.bodies], triples[self.bodies : 2 * self.bodies]
        shifts = dict(zip(self.markers, triples[2 * self.bodies :], strict=True))
        factors = [ca.vertsplit(scale) for scale in scales]
        return _scale_bodies(self._parametric, factors, centers, shifts, KEEP_DENSITY)

    def positions(
        self, q: np.ndarray, person: Person, artifacts: np.ndarray | None = None
    ) -> np.ndarray:
        """World positions (frames, markers, 3), m.

        Args:
            q: (frames, nq).
            person: The geometry.
            artifacts: (frames, markers, 3), m: displacements in the axes of the bodies.
        """
        x = self._inputs(person, artifacts)
        result: np.ndarray = self._positions(q, x, self._parametric.parameter_values)
        return result

    def jacobian(
        self, q: np.ndarray, person: Person, artifacts: np.ndarray | None = None
    ) -> np.ndarray:
        """Derivatives (frames, 3 markers, nv + size): by velocities, then by `Person.flat`."""
        x = self._inputs(person, artifacts)
        return self._jacobian.dense(self._jacobian(q, x, self._parametric.parameter_values))

    def _inputs(self, person: Person, artifacts: np.ndarray | None) -> np.ndarray:
        x = np.concatenate([np.zeros(self.model.nv), person.flat])
        if artifacts is None or not artifacts.any():
            return x
        inputs = np.tile(x, (len(artifacts), 1))
        inputs[:, len(x) - 3 * len(self.markers) :] += artifacts.reshape(len(artifacts), -1)
        return inputs

    def step(self, q: np.ndarray, dv: np.ndarray) -> np.ndarray:
        """Poses after a step along velocity directions."""
        result: np.ndarray = integrate(self.model, q, dv)
        return result


_MARKER_MODELS: ModelCache[MarkerModel] = ModelCache("marker models")


def marker_model(model: Model, markers: Sequence[str]) -> MarkerModel:
    """The marker model of a model; the same object as long as the model lives."""
    return _MARKER_MODELS.get(model, tuple(markers), lambda: MarkerModel(model, markers))


def strip_to_markers(model: Model, markers: Sequence[str]) -> Model:
    """The bodies and joints of a model with some of its markers, in the given order."""
    by_name = {marker.name: marker for marker in model.markers}
    return replace(
        model,
        markers=tuple(by_name[name] for name in markers),
        frames=(),
        contacts=(),
        contact_sets=(),
        capsules=(),
        meshes=(),
        wraps=(),
        muscles=(),
        ligaments=(),
    )


def apply_person(
    model: Model,
    person: Person,
    markers: Sequence[str],
    *,
    mass: float | str | None = None,
    keep_shares: bool = False,
) -> Model:
    """The model with the geometry of a person; ``mass`` as in `homodyn.catalog.scale`."""
    shifts = dict(zip(markers, person.shifts, strict=True))
    return _scale_bodies(
        model, list(person.scales), list(person.centers), shifts, mass, keep_shares=keep_shares
    )


def _scale_bodies(
    model: Model,
    scales: Sequence[Array],
    centers: Sequence[Array],
    shifts: Mapping[str, Array],
    mass: float | str | None,
    *,
    keep_shares: bool = False,
) -> Model:
    factors = dict(zip(model.body_names, scales, strict=True))
    names = [joint.name for joint in model.joints]
    scaled = displace_centers(
        scale(model, factors, mass, keep_shares=keep_shares),
        dict(zip(names, centers, strict=True)),
        model,
    )
    return replace(
        scaled,
        markers=tuple(
            replace(marker, position=marker.position + shifts[marker.name])
            if marker.name in shifts
            else marker
            for marker in scaled.markers
        ),
    )
