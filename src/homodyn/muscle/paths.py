"""Lengths, lengthening speeds and moment arms of the paths of muscles and ligaments."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from homodyn.dynamics.tree import Tree
from homodyn.errors import ModelError
from homodyn.foundation.text import unknown_name
from homodyn.model import Model
from homodyn.model.model_parts import ModelParts
from homodyn.model.muscles import Ligament, Muscle
from homodyn.model.state_function import state_function
from homodyn.muscle.finite_states import FINITE_STATE, check_positions
from homodyn.muscle.geometry.path_lines import PathLines, moment_arm_entries
from homodyn.muscle.geometry.path_nodes import PathFrames
from homodyn.muscle.geometry.tangent_rule import OPENSIM, check_tangent_rule
from homodyn.muscle.geometry.wrapped_path import WrappedPath
from homodyn.spatial import Array, ArrayInput, ParameterValues

GROUPS = ("muscles", "ligaments")


def path_owners(model: ModelParts, group: str) -> Sequence[Muscle | Ligament]:
    """The muscles or ligaments of a model.

    Args:
        model: The model.
        group: ``"muscles"`` or ``"ligaments"``.

    Raises:
        ModelError: The group is unknown, or the model has none.
    """
    if group not in GROUPS:
        raise ModelError(unknown_name("group", group, GROUPS))
    owners: Sequence[Muscle | Ligament] = getattr(model, group)
    if not owners:
        raise ModelError(f"model {model.name!r} has no {group}; {group} are read from .osim files")
    return owners


def path_count(model: ModelParts, wrapping: str, group: str) -> int:
    """Number of muscles or ligaments; ``wrapping`` has no influence.

    Args:
        model: The model.
        wrapping: A rule of ``TANGENT_RULES``.
        group: ``"muscles"`` or ``"ligaments"``.
    """
    return len(path_owners(model, group))


def traced_paths(
    model: Model, q: Array, wrapping: str, group: str
) -> tuple[PathFrames, list[PathLines]]:
    """The paths of a group over symbols.

    Args:
        model: The model.
        q: Positions, (nq,), symbolic.
        wrapping: A rule of ``TANGENT_RULES``.
        group: ``"muscles"`` or ``"ligaments"``.

    Returns:
        The frames, and one path per muscle or ligament.
    """
    check_tangent_rule(wrapping)
    frames = PathFrames(Tree(model, q))
    return frames, [WrappedPath(frames, o, wrapping).lines() for o in path_owners(model, group)]


@state_function(
    q="nq",
    returns={"lengths": lambda *a, **k: (path_count(*a, **k),)},
    checks={"q": check_positions},
)
def lengths(
    model: Model,
    q: ArrayInput,
    wrapping: str = OPENSIM,
    group: str = "muscles",
    *,
    parameters: ParameterValues | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Lengths of all muscles, from origin to insertion, in the order of ``model.muscles``.

    Args:
        model: The model.
        q: Positions, (..., nq).
        wrapping: ``"opensim"`` places tangent points on wrap objects as OpenSim does;
            ``"geodesic"`` where the path is shortest.
        group: ``"muscles"`` or ``"ligaments"``.
        parameters: Values of the parameters of the model, as an array in their order or a mapping
            from names; their stored values by default.
        out: Contiguous float array that receives the result.

    Returns:
        (..., muscles), m.

    Raises:
        ModelError: The model has no muscles, ``wrapping`` or ``group`` is unknown, or a number is
            not finite.
        KernelError: An array has the wrong shape or type.
    """
    _, paths = traced_paths(model, q, wrapping, group)
    return ca.vertcat(*[path.length for path in paths])


@state_function(
    q="nq",
    returns={"moment_arms": lambda model, *a, **k: (path_count(model, *a, **k), model.nv)},
    checks={"q": check_positions},
)
def moment_arms(
    model: Model,
    q: ArrayInput,
    wrapping: str = OPENSIM,
    group: str = "muscles",
    *,
    parameters: ParameterValues | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Moment arms of all muscles: the generalized forces of unit tension.

    A positive arm turns its coordinate in the positive sense when the muscle pulls. Coordinates
    that follow others count with those they follow.

    Args:
        model: The model.
        q: Positions, (..., nq).
        wrapping: ``"opensim"`` places tangent points on wrap objects as OpenSim does;
            ``"geodesic"`` where the path is shortest.
        group: ``"muscles"`` or ``"ligaments"``.
        parameters: Values of the parameters of the model, as an array in their order or a mapping
            from names; their stored values by default.
        out: Contiguous float array that receives the result.

    Returns:
        (..., muscles, nv), m; without unit for coordinates that are lengths.

    Raises:
        ModelError: The model has no muscles, ``wrapping`` or ``group`` is unknown, or a number is
            not finite.
        KernelError: An array has the wrong shape or type.
    """
    frames, paths = traced_paths(model, q, wrapping, group)
    result = ca.SX(len(paths), model.nv)
    for row, path in enumerate(paths):
        for entry, arm in moment_arm_entries(frames, path).items():
            result[row, entry] = arm
    return result


@state_function(
    q="nq",
    v="nv",
    returns={"speeds": lambda model, *a, **k: (path_count(model, *a, **k),)},
    checks=FINITE_STATE,
)
def lengthening_speeds(
    model: Model,
    q: ArrayInput,
    v: ArrayInput,
    wrapping: str = OPENSIM,
    group: str = "muscles",
    *,
    parameters: ParameterValues | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Rates of change of the lengths of all muscles.

    Args:
        model: The model.
        q: Positions, (..., nq).
        v: Velocities, (..., nv).
        wrapping: ``"opensim"`` places tangent points on wrap objects as OpenSim does;
            ``"geodesic"`` where the path is shortest.
        group: ``"muscles"`` or ``"ligaments"``.
        parameters: Values of the parameters of the model, as an array in their order or a mapping
            from names; their stored values by default.
        out: Contiguous float array that receives the result.

    Returns:
        (..., muscles), m/s; positive where a muscle becomes longer.

    Raises:
        ModelError: The model has no muscles, ``wrapping`` or ``group`` is unknown, or a number is
            not finite.
        KernelError: An array has the wrong shape or type.
    """
    frames, paths = traced_paths(model, q, wrapping, group)
    rates: Array = v
    speeds = []
    for path in paths:
        arms = moment_arm_entries(frames, path)
        speeds.append(sum((-arm * rates[entry] for entry, arm in arms.items()), start=ca.SX(0)))
    return ca.vertcat(*speeds)
