"""What files of other programs can hold: plain numbers, and joints of simple turns and slides."""

from __future__ import annotations

from pathlib import Path

from homodyn.errors import FormatError
from homodyn.model.functions import Linear
from homodyn.model.joint import Joint, JointAxis
from homodyn.model.model import Model


def refuse_parameters(model: Model, path: Path) -> None:
    """Refuse a model with numbers that are not known yet."""
    if model.parameters:
        told = ", ".join(model.parameter_names[:5]) + (", ..." if model.parameters[5:] else "")
        raise FormatError(
            f"the model has the parameters {told}; give them values first: model.at(...)", str(path)
        )


def simple_motions(joint: Joint, path: Path, format: str) -> tuple[JointAxis, ...]:
    """The motions of a joint, each by one coordinate of its own, in order; or a refusal."""
    for k, motion in enumerate(joint.axes):
        function = motion.function
        if motion.coordinate is None:
            why = f"motion {k} is a fixed displacement; put it into the placement of the joint"
        elif not isinstance(function, Linear) or (function.factor, function.offset) != (1, 0):
            why = (
                f"motion {k} is a {type(function).__name__} function of "
                f"{joint.coordinates[motion.coordinate].name!r}"
            )
        elif motion.coordinate != k:
            owner = joint.coordinates[motion.coordinate].name
            why = f"motion {k} is moved by {owner!r}, which does not come in order or moves two"
        else:
            continue
        raise FormatError(
            f"joint {joint.name!r}: {why}; {format} has no such joint, .toml has", str(path)
        )
    return joint.axes
