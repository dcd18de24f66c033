"""Bodies, joints and what is attached to them: the ``Model`` and the files it comes from."""

from homodyn.model import joints
from homodyn.model.assembly import Assembly
from homodyn.model.body import Body, box, capsule, cylinder, rod, sphere
from homodyn.model.configuration import (
    clamp,
    difference,
    integrate,
    neutral,
    normalize,
    pose,
    random,
    rates,
    within_limits,
)
from homodyn.model.formats import load, save
from homodyn.model.functions import Constant, Linear, Polyline, Polynomial, Scaled, Spline
from homodyn.model.joint import WORLD, Coordinate, Coupler, Joint, Motion
from homodyn.model.model import Model, parametric
from homodyn.model.muscles import (
    Ligament,
    Muscle,
    PathPoint,
    PathWrap,
    PointLaw,
    PointRange,
    WrapObject,
)
from homodyn.model.numbers import Parameter
from homodyn.model.root import Root
from homodyn.model.shapes import Capsule, ContactSet, ContactShape, Frame, Marker, Mesh

__all__ = [
    "WORLD",
    "Assembly",
    "Body",
    "Capsule",
    "Constant",
    "ContactSet",
    "ContactShape",
    "Coordinate",
    "Coupler",
    "Frame",
    "Joint",
    "Ligament",
    "Linear",
    "Marker",
    "Mesh",
    "Model",
    "Motion",
    "Muscle",
    "Parameter",
    "PathPoint",
    "PathWrap",
    "PointLaw",
    "PointRange",
    "Polyline",
    "Polynomial",
    "Root",
    "Scaled",
    "Spline",
    "WrapObject",
    "box",
    "capsule",
    "clamp",
    "cylinder",
    "difference",
    "integrate",
    "joints",
    "load",
    "neutral",
    "normalize",
    "parametric",
    "pose",
    "random",
    "rates",
    "rod",
    "save",
    "sphere",
    "within_limits",
]
