"""Where markers are, as a function of the pose and of the person: sizes, attachments, centers.

The person is told by three tables: ``scales`` (bodies, 3) stretch each body along its axes,
``shifts`` (markers, 3), m, move markers in their stretched bodies, and ``centers`` (bodies, 3), m,
move the joint that carries each body, in the axes of its parent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import casadi as ca
import numpy as np

from homodyn.catalog import scale
from homodyn.catalog.scaling import KEEP_DENSITY
from homodyn.dynamics import marker_positions
from homodyn.model import Model, Parameter, integrate, rates
from homodyn.model.model import parametric
from homodyn.model.model_cache import ModelCache
from homodyn.model.shared_kernels import with_dimension_parameters
from homodyn.spatial import Array, Transform
from homodyn.symbolic import Kernel, SparseKernel, kernel, sparse_jacobian


@dataclass(frozen=True, eq=False)
class Person:
    """Sizes and attachments that make one person out of a generic model."""

    scales: np.ndarray
    """(bodies, 3)."""
    shifts: np.ndarray
    """(markers, 3), m."""
    centers: np.ndarray
    """(bodies, 3), m."""

    @cached_property
    def flat(self) -> np.ndarray:
        """All numbers in one row: scales, centers, shifts."""
        return np.concatenate([self.scales.ravel(), self.centers.ravel(), self.shifts.ravel()])


class MarkerModel:
    """The markers of a model that were recorded, with exact derivatives by pose and person."""

    def __init__(self, model: Model, markers: Sequence[str]) -> None:
        self.model = strip_to_markers(model, markers)
        # Lengths are parameters, so that one kernel does for all people of a build.
        self._measured = with_dimension_parameters(self.model)
        self.markers = tuple(markers)
        self.bodies = len(model.bodies)
        self.size = 6 * self.bodies + 3 * len(self.markers)

    @property
    def generic(self) -> Person:
        """The person that the model itself is."""
        return Person(
            np.ones((self.bodies, 3)), np.zeros((len(self.markers), 3)), np.zeros((self.bodies, 3))
        )

    def person(self, flat: np.ndarray) -> Person:
        """The person of a row of numbers."""
        scales, centers, shifts = np.split(flat, [3 * self.bodies, 6 * self.bodies])
        return Person(scales.reshape(-1, 3), shifts.reshape(-1, 3), centers.reshape(-1, 3))

    @cached_property
    def _positions(self) -> Kernel:
        """Positions by pose, one vector (a step away from it, then the person) and lengths."""
        model, nv = self.model, self.model.nv
        person = [Parameter(f"p{k}", value) for k, value in enumerate(self.generic.flat)]
        symbolic = parametric(self._symbolic_model, **{p.name: p.value for p in person})

        def positions(q: Array, x: Array, lengths: Array) -> Array:
            # Linear in the step, so its derivative at no step is the one along velocities.
            moved = q + rates(model, q, x[:nv])
            return marker_positions(symbolic, moved, parameters=ca.vertcat(lengths, x[nv:]))

        return kernel(
            positions,
            {"q": model.nq, "x": nv + self.size, "lengths": len(self._measured.parameters)},
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
        return _scale_bodies(self._measured, factors, centers, shifts, KEEP_DENSITY)

    def positions(self, q: np.ndarray, person: Person) -> np.ndarray:
        """World positions (frames, markers, 3), m."""
        x = np.concatenate([np.zeros(self.model.nv), person.flat])
        result: np.ndarray = self._positions(q, x, self._measured.parameter_values)
        return result

    def jacobian(self, q: np.ndarray, person: Person) -> np.ndarray:
        """Derivatives (frames, 3 markers, nv + person): by velocity directions, then the person.

        Columns of the person are those of ``Person.flat``.
        """
        x = np.concatenate([np.zeros(self.model.nv), person.flat])
        return self._jacobian.dense(self._jacobian(q, x, self._measured.parameter_values))

    def step(self, q: np.ndarray, dv: np.ndarray) -> np.ndarray:
        """Poses moved along velocity directions."""
        result: np.ndarray = integrate(self.model, q, dv)
        return result


_MARKER_MODELS: ModelCache[MarkerModel] = ModelCache("marker models")


def marker_model(model: Model, markers: Sequence[str]) -> MarkerModel:
    """The marker model of a model; the same one as long as the model lives."""
    return _MARKER_MODELS.get(model, tuple(markers), lambda: MarkerModel(model, markers))


def strip_to_markers(model: Model, markers: Sequence[str]) -> Model:
    """The bodies and joints of a model with some of its markers, in this order."""
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
    """The whole model made into a person; ``mass`` as for `homodyn.catalog.scale`."""
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
    made = scale(model, factors, mass, keep_shares=keep_shares)
    return replace(
        made,
        joints=tuple(
            replace(joint, placement=Transform(joint.placement.E, joint.placement.r + center))
            for joint, center in zip(made.joints, centers, strict=True)
        ),
        markers=tuple(
            replace(marker, position=marker.position + shifts[marker.name])
            if marker.name in shifts
            else marker
            for marker in made.markers
        ),
    )
