"""Bodies, joints and what is attached to them: the ``Model`` and the files it comes from."""

from homodyn.model import joints
from homodyn.model.assembly import Assembly
from homodyn.model.body import Body, box, capsule, cylinder, rod, sphere
from homodyn.model.checks import check
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
from homodyn.model.functions import Constant, Linear, Polyline, Polynomial, ScaledFunction, Spline
from homodyn.model.joint import WORLD, Coordinate, Coupler, Joint, JointAxis
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
from homodyn.model.parameters import Parameter
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
    "JointAxis",
    "Ligament",
    "Linear",
    "Marker",
    "Mesh",
    "Model",
    "Muscle",
    "Parameter",
    "PathPoint",
    "PathWrap",
    "PointLaw",
    "PointRange",
    "Polyline",
    "Polynomial",
    "Root",
    "ScaledFunction",
    "Spline",
    "WrapObject",
    "box",
    "capsule",
    "check",
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
