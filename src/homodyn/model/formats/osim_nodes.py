"""Elements of OpenSim files to write: values, sets, offset frames and functions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from homodyn.errors import FormatError
from homodyn.model.formats.osim_frames import GROUND
from homodyn.model.formats.xml_write import XmlNode, numbers
from homodyn.model.functions import (
    Constant,
    Linear,
    Polyline,
    Polynomial,
    ScalarFunction,
    ScaledFunction,
    Spline,
)
from homodyn.model.joint import WORLD
from homodyn.spatial import Array, Transform

FORBIDDEN_LETTERS = "/\\*+ \t\n"
"""Characters that OpenSim does not accept in names of components."""


def value(tag: str, content: Any) -> XmlNode:
    """An element with a value: a text, a flag, a number or several.

    Args:
        tag: The tag.
        content: What it holds.
    """
    if isinstance(content, str):
        return XmlNode(tag, text=content)
    if isinstance(content, (bool, np.bool_)):
        return XmlNode(tag, text=str(bool(content)).lower())
    return XmlNode(tag, text=" ".join(map(_number, numbers(content).split())))


def _number(word: str) -> str:
    return word.replace("inf", "Inf").replace("nan", "NaN")


def component(tag: str, name: str, *children: XmlNode | None) -> XmlNode:
    """A named object; children that are None are left out.

    Raises:
        FormatError: OpenSim does not accept the name.
    """
    if not name or any(letter in name for letter in FORBIDDEN_LETTERS):
        raise FormatError(
            f"the name {name!r} of a {tag} is not accepted by OpenSim; names have one letter or "
            "more and no blanks and none of / \\ * +"
        )
    return XmlNode(tag, {"name": name}, [child for child in children if child is not None])


def object_set(tag: str, objects: Iterable[XmlNode]) -> XmlNode:
    """A set such as ``<BodySet>`` with its objects."""
    return XmlNode(tag, {"name": tag.lower()}, [XmlNode("objects", {}, list(objects))])


def socket(tag: str, body: str) -> XmlNode:
    """A reference to the frame of a body, or to the ground."""
    return value(f"socket_{tag}", f"/{GROUND}" if body == WORLD else f"/bodyset/{body}")


def offset_frame(name: str, body: str, placement: Transform, *children: XmlNode) -> XmlNode:
    """A frame placed in a body."""
    return component(
        "PhysicalOffsetFrame",
        name,
        socket("parent", body),
        *children,
        value("translation", placement.r),
        value("orientation", body_fixed_angles(placement.E)),
    )


def body_fixed_angles(E: Array) -> np.ndarray:
    """Body-fixed x, y, z angles (rad), (3,), of a coordinate rotation E = Rz^T Ry^T Rx^T, (3, 3).

    Where the second angle is 90 degrees, only sum or difference of the others is determined.
    """
    E = np.asarray(E, dtype=float)
    x = np.arctan2(-E[2, 1], E[2, 2])
    c, s = np.cos(x), np.sin(x)
    y = np.arctan2(E[2, 0], c * E[2, 2] - s * E[2, 1])
    z = np.arctan2(c * E[0, 1] + s * E[0, 2], c * E[1, 1] + s * E[1, 2])
    return np.array([x, y, z]) + 0.0


def function_node(function: ScalarFunction, name: str = "") -> XmlNode:
    """The element of a function.

    Args:
        function: The function.
        name: Name of the property that it is the value of; empty: none.

    Raises:
        FormatError: OpenSim has no such function.
    """
    attributes = {"name": name} if name else {}
    if isinstance(function, Constant):
        return XmlNode("Constant", attributes, [value("value", function.number)])
    if isinstance(function, Linear):
        coefficients = value("coefficients", [function.factor, function.offset])
        return XmlNode("LinearFunction", attributes, [coefficients])
    if isinstance(function, Polynomial):
        highest_first = value("coefficients", list(reversed(function.coefficients)))
        return XmlNode("PolynomialFunction", attributes, [highest_first])
    if isinstance(function, ScaledFunction):
        inner = XmlNode("function", {}, [function_node(function.function)])
        return XmlNode("MultiplierFunction", attributes, [inner, value("scale", function.factor)])
    if isinstance(function, Polyline) or (isinstance(function, Spline) and function.end == "simm"):
        tag = "PiecewiseLinearFunction" if isinstance(function, Polyline) else "SimmSpline"
        return XmlNode(tag, attributes, [value("x", function.x), value("y", function.y)])
    what = "natural Spline" if isinstance(function, Spline) else type(function).__name__
    raise FormatError(
        f"OpenSim has no {what} function; accepted: Constant, Linear, Polynomial, Polyline, "
        "ScaledFunction, Spline with end='simm'"
    )
