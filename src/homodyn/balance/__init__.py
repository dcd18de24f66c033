"""Balance: supports, the wrenches they can give, and how far a motion is from asking for more."""

from homodyn.balance.balls import (
    EnclosingBall,
    Insphere,
    enclosing_ball,
    insphere,
    residual_ball,
    smallest_ball,
)
from homodyn.balance.contacts import Grasp, Patch, Pyramid, point, sole
from homodyn.balance.linear_program import Infeasible, Unbounded
from homodyn.balance.margins import (
    Difficulty,
    Margins,
    difficulty,
    facet_distances,
    margins,
)
from homodyn.balance.polytope import Polytope
from homodyn.balance.projection import Projection, project, shoot
from homodyn.balance.sets import Inclusion, included, intersection, minkowski, volume
from homodyn.balance.stance import Forces, Stance, SupportForce
from homodyn.balance.wrenches import WrenchSet, wrench_set

__all__ = [
    "Difficulty",
    "EnclosingBall",
    "Forces",
    "Grasp",
    "Inclusion",
    "Infeasible",
    "Insphere",
    "Margins",
    "Patch",
    "Polytope",
    "Projection",
    "Pyramid",
    "Stance",
    "SupportForce",
    "Unbounded",
    "WrenchSet",
    "difficulty",
    "enclosing_ball",
    "facet_distances",
    "included",
    "insphere",
    "intersection",
    "margins",
    "minkowski",
    "point",
    "project",
    "residual_ball",
    "shoot",
    "smallest_ball",
    "sole",
    "volume",
    "wrench_set",
]
