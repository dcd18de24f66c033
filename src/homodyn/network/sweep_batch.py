"""Sets of parameters to run at once: which values each lane has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from homodyn.errors import NetworkError
from homodyn.foundation.text import unknown_name
from homodyn.network.system import EquationSystem

Values = Mapping[str, Sequence[float] | np.ndarray]
Columns = dict[str, np.ndarray]


def sweep_values(values: Values, grid: bool) -> tuple[tuple[int, ...], Columns, Columns]:
    """The shape of a sweep, the values along its axes, and those of every lane.

    With ``grid`` lanes are all combinations, otherwise values in step.
    """
    axes = {name: np.asarray(one, dtype=float).reshape(-1) for name, one in values.items()}
    if not axes or any(not one.size for one in axes.values()):
        raise NetworkError("a sweep needs at least one value of at least one parameter")
    if grid:
        shape = tuple(one.size for one in axes.values())
        combined = np.meshgrid(*axes.values(), indexing="ij")
        return shape, axes, dict(zip(axes, (one.reshape(-1) for one in combined), strict=True))
    lengths = {one.size for one in axes.values()}
    if len(lengths) > 1:
        told = ", ".join(f"{name} has {one.size}" for name, one in axes.items())
        raise NetworkError(f"values in step must be equally many: {told}")
    return (lengths.pop(),), axes, axes


def batch_parameters(system: EquationSystem, usual: np.ndarray, lanes: Columns) -> np.ndarray:
    """The parameters of every lane: the ``usual`` ones but for those that are swept."""
    count = len(next(iter(lanes.values())))
    p = np.repeat(usual[None], count, axis=0)
    for name, one in lanes.items():
        variable = system.variables.get(name)
        if variable is None:
            raise NetworkError(unknown_name("variable", name, system.variables))
        if variable not in system.numbers or variable in system.structural:
            known = [one.path for one in system.numbers if one not in system.structural]
            raise NetworkError(unknown_name("parameter", name, known))
        begin, size = system.slot(variable)
        if size != (1, 1):
            raise NetworkError(f"{name} is {size[0]}x{size[1]}; a sweep takes single numbers")
        p[:, begin] = one
    return p
