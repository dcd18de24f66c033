"""Jumps of paths: where a length is not continuous in the coordinates.

A path jumps where a conditional point becomes active away from the line between its neighbors, and
where it changes sides of a wrap object. In a series of states a jump shows as a change of the
length that the moment arms of both states do not explain.
"""

from __future__ import annotations

import itertools

import casadi as ca
import numpy as np

from homodyn.dynamics.tree import Tree
from homodyn.errors import ModelError
from homodyn.foundation.record import Record, record
from homodyn.model import Model
from homodyn.model.state_function import state_function
from homodyn.muscle.geometry.path_nodes import PathFrames
from homodyn.muscle.geometry.tangent_rule import OPENSIM, check_tangent_rule
from homodyn.muscle.geometry.wrapped_path import WrappedPath
from homodyn.muscle.paths import lengths, moment_arms, path_count, path_owners
from homodyn.spatial import ArrayInput, ParameterValues

JUMP_TOLERANCE_M = 1e-3
"""Unexplained changes of a length between two states that are reported."""


@record
class PathJump(Record):
    """A jump of a path between two successive states."""

    muscle: str
    frame: int
    """Index of the state after the jump."""
    change_m: float
    """Change of the length that the moment arms do not explain."""
    cause: str
    """What changed: ``"conditional point"``, ``"wrap object"``, or ``"side"`` if neither."""


@state_function(q="nq", returns={"states": lambda model, *a, **k: (path_count(model, *a, **k), 2)})
def path_states(
    model: Model,
    q: ArrayInput,
    wrapping: str = OPENSIM,
    group: str = "muscles",
    *,
    parameters: ParameterValues | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Which conditional points are active and which segments wrap, as one integer each.

    Args:
        model: The model.
        q: Positions, (..., nq).
        wrapping: ``"opensim"`` or ``"geodesic"``; see `lengths`.
        group: ``"muscles"`` or ``"ligaments"``.
        parameters: Values of the parameters of the model, as an array in their order or a mapping
            from names; their stored values by default.
        out: Contiguous float array that receives the result.

    Returns:
        (..., muscles, 2): bit k of the first is set if point k is active; in the second, to the
        base of the number of points, digit k is the number of the segment that wraps over wrap
        object k of the muscle, from 1, or 0.

    Raises:
        ModelError: The model has no muscles, or ``wrapping`` or ``group`` is unknown.
        KernelError: An array has the wrong shape or type.
    """
    check_tangent_rule(wrapping)
    frames = PathFrames(Tree(model, q))
    rows = []
    for owner in path_owners(model, group):
        path = WrappedPath(frames, owner, wrapping)
        active = sum((2.0**k * node.active for k, node in enumerate(path.nodes)), start=ca.SX(0))
        base = float(len(path.nodes))
        places = sum((base**k * place for k, place in enumerate(path.wrap_places())), ca.SX(0))
        rows.append(ca.horzcat(active, places))
    return ca.vertcat(*rows)


def find_path_jumps(
    model: Model,
    q: ArrayInput,
    *,
    wrapping: str = OPENSIM,
    tolerance_m: float = JUMP_TOLERANCE_M,
) -> tuple[PathJump, ...]:
    """Jumps of muscle paths in a series of states.

    Args:
        model: A model with muscles.
        q: Positions of successive states, (states, nq).
        wrapping: ``"opensim"`` or ``"geodesic"``; see `lengths`.
        tolerance_m: Smallest change of a length that counts, beyond what the moment arms explain.

    Returns:
        The jumps in the order of the states.

    Raises:
        ModelError: The model has no muscles, or ``q`` is not a table.
    """
    states = np.asarray(q, dtype=float)
    if states.ndim != 2:
        raise ModelError(f"q must have the shape (states, {model.nq}), got {states.shape}")
    steps = np.array([model.difference(a, b) for a, b in itertools.pairwise(states)])
    steps = steps.reshape(-1, model.nv)
    arms = moment_arms(model, states, wrapping)
    explained = -np.einsum("smc,sc->sm", (arms[:-1] + arms[1:]) / 2, steps)
    change = np.diff(lengths(model, states, wrapping), axis=0) - explained
    codes = np.diff(path_states(model, states, wrapping), axis=0) != 0
    found = []
    for step, k in np.argwhere(np.abs(change) > tolerance_m):
        points, wraps = codes[step, k]
        cause = "conditional point" if points else "wrap object" if wraps else "side"
        name = model.muscles[k].name
        found.append(PathJump(name, int(step) + 1, float(change[step, k]), cause))
    return tuple(found)
