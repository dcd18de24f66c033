"""Limits of file formats without parameters and without functions of coordinates."""

from __future__ import annotations

from pathlib import Path

from homodyn.errors import FormatError
from homodyn.foundation.text import enumerate_names
from homodyn.model.functions import Linear
from homodyn.model.joint import Joint, JointAxis
from homodyn.model.model import Model


def refuse_parameters(model: Model, path: Path) -> None:
    """Refuse a model with parameters.

    Raises:
        FormatError: The model has parameters.
    """
    if model.parameters:
        raise FormatError(
            f"the model has the parameters {enumerate_names(model.parameter_names)}; set them to "
            "values first: model.at(...)",
            str(path),
        )


def simple_axes(joint: Joint, path: Path, format: str) -> tuple[JointAxis, ...]:
    """The axes of a joint if each is driven by one coordinate of its own, in order.

    Raises:
        FormatError: An axis is a fixed displacement, or has a function or an order of its own.
    """
    for k, axis in enumerate(joint.axes):
        function = axis.function
        if axis.coordinate is None:
            why = f"axis {k} is a fixed displacement; make it part of the joint placement"
        elif not isinstance(function, Linear) or (function.factor, function.offset) != (1, 0):
            why = (
                f"axis {k} is a {type(function).__name__} function of "
                f"{joint.coordinates[axis.coordinate].name!r}"
            )
        elif axis.coordinate != k:
            driver = joint.coordinates[axis.coordinate].name
            why = f"axis {k} is driven by {driver!r}, which is out of order or drives two axes"
        else:
            continue
        raise FormatError(
            f"joint {joint.name!r}: {why}; {format} cannot express it, .toml can", str(path)
        )
    return joint.axes
