"""Parameters of sweeps: the values of every lane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from homodyn.errors import NetworkError
from homodyn.foundation.text import unknown_name
from homodyn.network.system import EquationSystem

Values = Mapping[str, Sequence[float] | np.ndarray]
Columns = dict[str, np.ndarray]


def sweep_values(values: Values, grid: bool) -> tuple[tuple[int, ...], Columns, Columns]:
    """Values of the parameters of a sweep.

    Args:
        values: Numbers by name of the parameter.
        grid: Whether lanes are all combinations; else the values are taken in step.

    Returns:
        The shape of the sweep, the values along its axes, and the values of every lane.

    Raises:
        NetworkError: There are no values, or the numbers of values in step differ.
    """
    axes = {name: np.asarray(given, dtype=float).reshape(-1) for name, given in values.items()}
    if not axes or any(not axis.size for axis in axes.values()):
        raise NetworkError("a sweep needs at least one value of at least one parameter")
    if grid:
        shape = tuple(axis.size for axis in axes.values())
        combined = np.meshgrid(*axes.values(), indexing="ij")
        return shape, axes, dict(zip(axes, (part.reshape(-1) for part in combined), strict=True))
    lengths = {axis.size for axis in axes.values()}
    if len(lengths) > 1:
        listed = ", ".join(f"{name} has {axis.size}" for name, axis in axes.items())
        raise NetworkError(f"parameters in step need equal numbers of values: {listed}")
    return (lengths.pop(),), axes, axes


def batch_parameters(system: EquationSystem, default: np.ndarray, lanes: Columns) -> np.ndarray:
    """The parameters of every lane.

    Args:
        system: Equations of the network.
        default: Values of parameters that are not swept.
        lanes: (lanes,), values of the swept parameters by name.

    Returns:
        (lanes, parameters).

    Raises:
        NetworkError: A parameter is unknown, not a single number, or determines sizes.
    """
    count = len(next(iter(lanes.values())))
    p = np.repeat(default[None], count, axis=0)
    for name, column in lanes.items():
        variable = system.variables.get(name)
        if variable is None:
            raise NetworkError(unknown_name("variable", name, system.variables))
        if variable not in system.numbers or variable in system.structural:
            known = [each.path for each in system.numbers if each not in system.structural]
            raise NetworkError(unknown_name("parameter", name, known))
        begin, size = system.slot(variable)
        if size != (1, 1):
            raise NetworkError(f"{name} is {size[0]}x{size[1]}; a sweep takes single numbers")
        p[:, begin] = column
    return p
