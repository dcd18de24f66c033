"""Equilibrium of fibers and tendons at given lengths of the paths, for many activations.

The paths of a movement are computed once; the forces of its muscles at other activations then need
no geometry. Muscles with the same curves share one kernel, whose inputs are their parameters: it
solves one muscle in one frame, so that each stops when it has converged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import casadi as ca
import numpy as np

from homodyn.errors import ModelError
from homodyn.model import Model
from homodyn.model.muscles import Muscle
from homodyn.muscle.equilibrium import solve_equilibrium
from homodyn.muscle.forces import FiberEquilibrium, model_of
from homodyn.muscle.geometry.tangent_rule import OPENSIM
from homodyn.muscle.models.muscle_model import HillModel, MuscleModel
from homodyn.muscle.paths import lengthening_speeds, lengths
from homodyn.symbolic import Kernel
from homodyn.symbolic.trace import trace

MUSCLE_PARAMETERS = (
    "max_isometric_force",
    "optimal_fiber_length",
    "tendon_slack_length",
    "max_contraction_velocity",
    "pennation_angle",
)
"""Numbers of a muscle that are inputs of the kernel; its curves are part of it."""
Curves = tuple[HillModel, str, tuple[tuple[str, object], ...]]
"""Model, kind and settings of a muscle."""


class PathEquilibrium:
    """Compliant tendons of some muscles on the paths of a movement.

    Args:
        model: The model.
        q: Positions, (frames, nq).
        v: Velocities, (frames, nv).
        muscles: Indices of the muscles.
        muscle_model: A muscle-tendon model for all; that of the kind of each by default.
        wrapping: ``"opensim"`` or ``"geodesic"``; see `lengths`.

    Raises:
        ModelError: A muscle has no model with a tendon.
    """

    def __init__(
        self,
        model: Model,
        q: np.ndarray,
        v: np.ndarray,
        muscles: Sequence[int],
        muscle_model: MuscleModel | None = None,
        wrapping: str = OPENSIM,
    ) -> None:
        own = model.at(model.parameter_values) if model.parameters else model
        columns = list(muscles)
        chosen = [own.muscles[k] for k in columns]
        laws = model_of(own, muscle_model)
        self._lengths = lengths(model, q, wrapping)[:, columns]
        self._speeds = lengthening_speeds(model, q, v, wrapping)[:, columns]
        self._parameters = np.array(
            [[float(getattr(m, name)) for name in MUSCLE_PARAMETERS] for m in chosen]
        )
        self.groups: dict[Curves, list[int]] = {}
        """Places of the muscles by the curves whose kernel they share."""
        for place, (muscle, k) in enumerate(zip(chosen, columns, strict=True)):
            law = laws[k]
            if not isinstance(law, HillModel):
                raise ModelError(
                    f"muscle {muscle.name!r} has a compliant tendon, for which "
                    f"{type(law).__name__} has no curve; models derived from HillModel have one"
                )
            settings = tuple(sorted(muscle.settings.items()))
            curves = (law, muscle.kind, settings)
            self.groups.setdefault(curves, []).append(place)
        self._examples = {curves: chosen[places[0]] for curves, places in self.groups.items()}

    def at(self, activations: np.ndarray, frames: np.ndarray | None = None) -> FiberEquilibrium:
        """Fibers and tendons at activations.

        Args:
            activations: (frames, muscles), 0 to 1.
            frames: Indices of the frames of the movement that the rows are of; all by default.

        Returns:
            Lengths, forces and status.
        """
        rows = slice(None) if frames is None else frames
        length, speed = self._lengths[rows], self._speeds[rows]
        found = np.empty((3, *length.shape))
        for curves, places in self.groups.items():
            kernel = _equilibrium_kernel(curves, _Example(self._examples[curves]))
            shape = (len(length), len(places))
            inputs = [np.ascontiguousarray(x[:, places]) for x in (activations, length, speed)]
            parameters = np.broadcast_to(self._parameters[places], (*shape, len(MUSCLE_PARAMETERS)))
            for row, values in zip(found, kernel(*inputs, parameters), strict=True):
                row[:, places] = values
        return FiberEquilibrium(*found)


class _Example:
    """A muscle that stands for all with the same curves; it does not distinguish kernels."""

    def __init__(self, muscle: Muscle) -> None:
        self.muscle = muscle

    def __hash__(self) -> int:
        return 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Example)


@lru_cache(maxsize=64)
def _equilibrium_kernel(curves: Curves, example: _Example) -> Kernel:
    law = curves[0]

    def solve(
        activation: ca.SX, length: ca.SX, speed: ca.SX, parameters: ca.SX
    ) -> tuple[ca.SX, ...]:
        values = {name: parameters[k] for k, name in enumerate(MUSCLE_PARAMETERS)}
        muscle = replace(example.muscle, **values)
        found = solve_equilibrium([muscle], [law], [activation], [length], [speed])
        width = muscle.optimal_fiber_length * ca.sin(muscle.pennation_angle)
        return ca.sqrt(found.along[0] ** 2 + width**2), found.forces[0], found.status[0]

    sizes: dict[str, int | tuple[int, ...]] = {
        "activation": (),
        "length": (),
        "speed": (),
        "parameters": len(MUSCLE_PARAMETERS),
    }
    outputs: dict[str, int | tuple[int, ...]] = dict.fromkeys(
        ("fiber_length", "forces", "status"), ()
    )
    return Kernel(trace(solve, sizes, outputs, f"equilibrium of a {curves[1]}"))
