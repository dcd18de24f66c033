"""Bodies, joints and what is attached to them: the ``Model`` and the files it comes from."""

from homodyn.model.functions import Constant, Linear, Polynomial, Scaled, Spline
from homodyn.model.joint import Coordinate, Joint, Motion
from homodyn.model.model import WORLD, Body, Coupler, Model, parametric
from homodyn.model.numbers import Parameter
from homodyn.model.shapes import Capsule, ContactShape, Frame, Marker

__all__ = [
    "WORLD",
    "Body",
    "Capsule",
    "Constant",
    "ContactShape",
    "Coordinate",
    "Coupler",
    "Frame",
    "Joint",
    "Linear",
    "Marker",
    "Model",
    "Motion",
    "Parameter",
    "Polynomial",
    "Scaled",
    "Spline",
    "parametric",
]
