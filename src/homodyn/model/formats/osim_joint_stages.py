"""Joints as sequences of OpenSim's custom joints: translations in the parent, then rotations.

A custom joint of OpenSim has three translations along fixed axes of its parent frame, then three
rotations of which no two axes are parallel. A joint with another sequence of axes becomes several
custom joints with massless bodies between them, or one that goes from the child to the parent.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from homodyn.errors import FormatError
from homodyn.model.functions import Constant, Linear, ScalarFunction, ScaledFunction
from homodyn.model.joint import Coordinate, Joint, JointAxis
from homodyn.spatial import Array

MIN_SINE_BETWEEN_AXES = 1e-9
"""Axes at a smaller angle count as parallel."""
MAX_AXES = 3


@dataclass
class JointStage:
    """One custom joint of OpenSim."""

    slides: list[JointAxis] = field(default_factory=list)
    turns: list[JointAxis] = field(default_factory=list)

    @property
    def coordinates(self) -> set[int]:
        """Indices of the coordinates that drive its axes."""
        axes = [*self.slides, *self.turns]
        return {axis.coordinate for axis in axes if axis.coordinate is not None}

    def add_slide(self, axis: JointAxis) -> bool:
        """Append a translation, if the custom joint can express it."""
        if len(self.slides) == MAX_AXES or any(are_parallel(axis, s) for s in self.slides):
            return False
        if not all(are_parallel(axis, turn) for turn in self.turns):
            return False
        self.slides.append(axis)
        return True

    def add_turn(self, axis: JointAxis) -> bool:
        """Append a rotation, if the custom joint can express it."""
        if len(self.turns) == MAX_AXES or any(are_parallel(axis, turn) for turn in self.turns):
            return False
        self.turns.append(axis)
        return True


def are_parallel(a: JointAxis, b: JointAxis) -> bool:
    """Whether two axes have the same or opposite directions."""
    return bool(np.linalg.norm(np.cross(a.axis, b.axis)) < MIN_SINE_BETWEEN_AXES)


def split_into_stages(joint: Joint) -> tuple[list[JointStage], bool]:
    """The custom joints that move like a joint.

    Args:
        joint: The joint; one with a quaternion has been replaced by one with angles.

    Returns:
        The stages from the parent to the child, or from the child to the parent, and whether it is
        the latter.

    Raises:
        FormatError: A coordinate drives axes of more than one stage.
    """
    stages = _stages(joint.axes)
    if len(stages) > 1:
        inverse = [replace(axis, axis=-axis.axis) for axis in reversed(joint.axes)]
        backward = _stages(inverse)
        if len(backward) == 1:
            return backward, True
    for k, coordinate in enumerate(joint.coordinates):
        if sum(k in stage.coordinates for stage in stages) > 1:
            raise FormatError(
                f"joint {joint.name!r}: OpenSim joints are three translations, then three "
                f"rotations; {coordinate.name!r} drives axes of more than one such joint; split "
                "the joint, and couple a coordinate of its own to this one"
            )
    return stages, False


def _stages(axes: tuple[JointAxis, ...] | list[JointAxis]) -> list[JointStage]:
    stages = [JointStage()]
    for axis in axes:
        for slide, turn in (_screw_parts(axis),):
            if slide is not None and not stages[-1].add_slide(slide):
                stages.append(JointStage([slide]))
            if turn is not None and not stages[-1].add_turn(turn):
                stages.append(JointStage([], [turn]))
    return stages


def _screw_parts(axis: JointAxis) -> tuple[JointAxis | None, JointAxis | None]:
    """The translation and the rotation of an axis; a screw has both."""
    if axis.kind == "slide":
        return axis, None
    if not axis.pitch:
        return None, axis
    along = replace(axis, kind="slide", function=_times(axis.function, axis.pitch), pitch=0.0)
    return along, replace(axis, pitch=0.0)


def _times(function: ScalarFunction, factor: float) -> ScalarFunction:
    if isinstance(function, Linear):
        return Linear(factor * function.factor, factor * function.offset)
    if isinstance(function, Constant):
        return Constant(factor * function.number)
    return ScaledFunction(function, factor)


def complete_axes(axes: list[JointAxis]) -> list[Array]:
    """Directions of three axes, no two of them parallel: those given, then free ones."""
    found = [axis.axis for axis in axes]
    if len(found) == 1:
        shortest = np.eye(3)[np.argmin(np.abs(found[0]))]
        across = np.cross(found[0], shortest)
        found.append(across / np.linalg.norm(across))
    if len(found) == 2:
        across = np.cross(found[0], found[1])
        found.append(across / np.linalg.norm(across))
    return found or list(np.eye(3))


def coordinates_of_stage(stage: JointStage, joint: Joint) -> list[tuple[int, Coordinate]]:
    """The coordinates of a stage with their indices in the joint, in the order of the joint."""
    return [(k, c) for k, c in enumerate(joint.coordinates) if k in stage.coordinates]
