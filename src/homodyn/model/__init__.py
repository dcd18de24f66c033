"""Bodies, joints and what is attached to them: the ``Model`` and the files it comes from.

More is grouped: ``joints``, ``functions`` of coordinates, ``muscles`` as data, ``configuration``
(poses, limits, integration) and file ``formats``.
"""

from homodyn.model import configuration, formats, functions, joints, muscles
from homodyn.model.assembly import Assembly
from homodyn.model.body import Body, box, capsule, cylinder, rod, sphere
from homodyn.model.checks import check
from homodyn.model.formats import load, save
from homodyn.model.joint import WORLD, Coordinate, Coupler, Joint, JointAxis
from homodyn.model.model import Model, parametric
from homodyn.model.model_parts import ModelParts
from homodyn.model.parameters import Parameter
from homodyn.model.root import Root
from homodyn.model.shapes import Capsule, ContactSet, ContactShape, Frame, Marker, Mesh

__all__ = [
    "WORLD",
    "Assembly",
    "Body",
    "Capsule",
    "ContactSet",
    "ContactShape",
    "Coordinate",
    "Coupler",
    "Frame",
    "Joint",
    "JointAxis",
    "Marker",
    "Mesh",
    "Model",
    "ModelParts",
    "Parameter",
    "Root",
    "box",
    "capsule",
    "check",
    "configuration",
    "cylinder",
    "formats",
    "functions",
    "joints",
    "load",
    "muscles",
    "parametric",
    "rod",
    "save",
    "sphere",
]
