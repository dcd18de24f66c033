"""What muscles can do in given states: moment arms, active and passive forces, fiber lengths."""

from __future__ import annotations

import casadi as ca
import numpy as np

from homodyn.foundation.record import Record, record
from homodyn.model import Model
from homodyn.model.muscles import Muscle
from homodyn.model.state_function import state_function
from homodyn.muscle.geometry.path_lines import moment_arm_entries
from homodyn.muscle.geometry.tangent_rule import OPENSIM
from homodyn.muscle.models.muscle_model import FiberState, HillModel, MuscleModel
from homodyn.muscle.paths import traced_paths
from homodyn.spatial import Array, ArrayInput, ParameterValues


@record
class MuscleCapacities(Record):
    """Forces that muscles with rigid tendons can produce, by state.

    The force of a muscle is ``passive + activation * active``. Fibers pull and do not push; damping
    is not part of it.
    """

    moment_arms: np.ndarray
    """(..., muscles, nv), m."""
    active: np.ndarray
    """(..., muscles), N: force of full activation along the tendon."""
    passive: np.ndarray
    """(..., muscles), N: force without activation."""
    norm_lengths: np.ndarray
    """(..., muscles): fiber lengths in optimal fiber lengths."""
    norm_speeds: np.ndarray
    """(..., muscles): speeds of fibers in largest contraction speeds, positive where they
    lengthen."""


def _muscle_count(model: Model, *_: object, **__: object) -> tuple[int]:
    return (len(model.muscles),)


@state_function(
    q="nq",
    v="nv",
    returns={
        "moment_arms": lambda model, *a, **k: (len(model.muscles), model.nv),
        "active": _muscle_count,
        "passive": _muscle_count,
        "norm_lengths": _muscle_count,
        "norm_speeds": _muscle_count,
    },
    record=MuscleCapacities,
)
def muscle_capacities(
    model: Model,
    q: ArrayInput,
    v: ArrayInput,
    laws: tuple[MuscleModel, ...],
    wrapping: str = OPENSIM,
    *,
    parameters: ParameterValues | None = None,
    out: np.ndarray | None = None,
) -> MuscleCapacities:
    """Moment arms, active and passive forces and fiber lengths of all muscles.

    Args:
        model: The model.
        q: Positions, (..., nq).
        v: Velocities, (..., nv).
        laws: The muscle-tendon model of every muscle; the active force of
            full activation is scaled by activation.
        wrapping: ``"opensim"`` or ``"geodesic"``; see `lengths`.
        parameters: Values of the parameters of the model, as an array in their order or a mapping
            from names; their stored values by default.
        out: Contiguous float arrays that receive the results.

    Returns:
        Arms, forces and fiber states.

    Raises:
        ModelError: The model has no muscles.
        KernelError: An array has the wrong shape or type.
    """
    frames, paths = traced_paths(model, q, wrapping, "muscles")
    rates: Array = v
    arms = ca.SX(len(paths), model.nv)
    rows: list[tuple[Array, ...]] = []
    for k, (muscle, law, path) in enumerate(zip(model.muscles, laws, paths, strict=True)):
        speed: Array = 0.0
        for entry, arm in moment_arm_entries(frames, path).items():
            arms[k, entry] = arm
            speed = speed - arm * rates[entry]
        fiber = _fibers(muscle, law, path.length, speed)
        rows.append((*_forces(muscle, law, path.length, speed), *fiber))
    columns = [ca.vertcat(*column) for column in zip(*rows, strict=True)]
    return MuscleCapacities(arms, *columns)


def _forces(muscle: Muscle, law: MuscleModel, length: Array, speed: Array) -> tuple[Array, Array]:
    """Active force at full activation, and passive force; fibers do not push."""
    if not isinstance(law, HillModel):
        passive = law.tendon_force(muscle, ca.SX(0), length, speed)
        return law.tendon_force(muscle, ca.SX(1), length, speed) - passive, passive
    parts = law.rigid_tendon_forces(muscle, ca.SX(1), length, speed)
    return ca.fmax(parts.active, 0.0), ca.fmax(parts.passive, 0.0)


def _fibers(muscle: Muscle, law: MuscleModel, length: Array, speed: Array) -> tuple[Array, Array]:
    """Normalized length and speed."""
    shortest = law.shortest_fiber_along(muscle) if isinstance(law, HillModel) else 0.0
    fiber = FiberState.of(muscle, length - muscle.tendon_slack_length, speed, shortest)
    return fiber.norm_length, fiber.norm_speed
