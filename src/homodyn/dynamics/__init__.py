"""Mechanics of trees of bodies: kinematics, dynamics, constraints, impacts and derivatives.

More is grouped: ``constraints`` and ``contacts`` define constraint sets, ``constraint_rows`` has
their Jacobian, bias and errors, and ``derivatives`` those of inverse and forward dynamics.
"""

from homodyn.dynamics import constraint_rows, constraints, contacts, derivatives
from homodyn.dynamics.aba import forward_dynamics
from homodyn.dynamics.constrained import ConstrainedMotion, constrained_dynamics
from homodyn.dynamics.constraints import ConstraintSet
from homodyn.dynamics.contacts import PointContact, RollingSphere
from homodyn.dynamics.crba import mass_matrix
from homodyn.dynamics.impact import Impact, impact
from homodyn.dynamics.kinematics import (
    acceleration,
    angular_acceleration,
    angular_jacobian,
    angular_velocity,
    jacobian,
    marker_positions,
    orientation,
    position,
    velocity,
)
from homodyn.dynamics.loops import Hinge, Pin, Weld
from homodyn.dynamics.momentum import (
    center_of_mass,
    center_of_mass_jacobian,
    center_of_mass_velocity,
    kinetic_energy,
    momentum,
    potential_energy,
)
from homodyn.dynamics.reach import FrameTarget, ReachResult, ReachStatus, reach
from homodyn.dynamics.rnea import bias_force, inverse_dynamics, passive_force

__all__ = [
    "ConstrainedMotion",
    "ConstraintSet",
    "FrameTarget",
    "Hinge",
    "Impact",
    "Pin",
    "PointContact",
    "ReachResult",
    "ReachStatus",
    "RollingSphere",
    "Weld",
    "acceleration",
    "angular_acceleration",
    "angular_jacobian",
    "angular_velocity",
    "bias_force",
    "center_of_mass",
    "center_of_mass_jacobian",
    "center_of_mass_velocity",
    "constrained_dynamics",
    "constraint_rows",
    "constraints",
    "contacts",
    "derivatives",
    "forward_dynamics",
    "impact",
    "inverse_dynamics",
    "jacobian",
    "kinetic_energy",
    "marker_positions",
    "mass_matrix",
    "momentum",
    "orientation",
    "passive_force",
    "position",
    "potential_energy",
    "reach",
    "velocity",
]
