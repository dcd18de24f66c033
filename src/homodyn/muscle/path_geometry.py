"""Lengths and moment arms of all muscles over symbols, by their paths or by fitted polynomials."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from homodyn.errors import ModelError
from homodyn.model import Model
from homodyn.muscle.geometry.path_lines import moment_arm_entries
from homodyn.muscle.path_polynomials import PathPolynomials
from homodyn.muscle.paths import traced_paths
from homodyn.spatial import Array


@dataclass(frozen=True)
class PathGeometry:
    """Lengths and moment arms of all muscles, as symbols."""

    lengths: list[Array]
    """Of the paths, m."""
    arms: list[dict[int, Array]]
    """By muscle: moment arms (m) by entry of v; entries that it does not move are left out."""

    def speeds(self, v: Array) -> list[Array]:
        """Rates of the lengths, m/s.

        Args:
            v: Velocities, (nv,).
        """
        return [
            sum((-arm * v[entry] for entry, arm in arms.items()), start=ca.SX(0))
            for arms in self.arms
        ]


def traced_geometry(
    model: Model, q: Array, wrapping: str, fitted: PathPolynomials | None = None
) -> PathGeometry:
    """Lengths and moment arms of all muscles over symbols.

    Args:
        model: The model.
        q: Positions, (nq,), symbolic.
        wrapping: A rule of ``TANGENT_RULES``, where nothing is fitted.
        fitted: Polynomials instead of the paths.

    Returns:
        Lengths and moment arms.

    Raises:
        ModelError: The polynomials belong to another model.
    """
    if fitted is None:
        frames, paths = traced_paths(model, q, wrapping, "muscles")
        arms = [moment_arm_entries(frames, path) for path in paths]
        return PathGeometry([path.length for path in paths], arms)
    check_polynomials(model, fitted)
    matrix = ca.sparsify(fitted.moment_arms(ca.SX(q)))
    found: list[dict[int, Array]] = [{} for _ in model.muscles]
    for row, column in zip(*matrix.sparsity().get_triplet(), strict=True):
        found[row][column] = matrix[row, column]
    return PathGeometry(ca.vertsplit(fitted.lengths(ca.SX(q))), found)


def check_polynomials(model: Model, fitted: PathPolynomials) -> None:
    """Refuse polynomials of other muscles or coordinates.

    Args:
        model: The model.
        fitted: The polynomials.

    Raises:
        ModelError: They were fitted to another model.
    """
    names = tuple(one.muscle for one in fitted.polynomials)
    own = tuple(one.name for one in model.muscles)
    if names != own or fitted.coordinates != model.coordinate_names:
        raise ModelError(
            f"the polynomials were fitted to {len(names)} muscles of {fitted.model!r}; model "
            f"{model.name!r} has {len(own)} muscles or other coordinates: fit them again"
        )
