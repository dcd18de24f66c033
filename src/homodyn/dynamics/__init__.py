"""Mechanics of trees of bodies: kinematics, dynamics, constraints, impacts and derivatives."""

from homodyn.dynamics.aba import forward_dynamics
from homodyn.dynamics.constrained import ConstrainedMotion, constrained_dynamics
from homodyn.dynamics.constraint_rows import (
    anchor_constraints,
    constraint_bias,
    constraint_error,
    constraint_jacobian,
)
from homodyn.dynamics.constraints import (
    Constraint,
    ConstraintSet,
    Stabilization,
    row_names,
)
from homodyn.dynamics.contacts import (
    PointContact,
    RollingSphere,
    SlidingSole,
    edge_contact,
    flat_contact,
    flat_foot,
)
from homodyn.dynamics.crba import mass_matrix
from homodyn.dynamics.derivatives import (
    ForwardDynamicsDerivatives,
    InverseDynamicsDerivatives,
    forward_dynamics_derivatives,
    inverse_dynamics_derivatives,
    inverse_dynamics_parameter_jacobian,
)
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
from homodyn.dynamics.rnea import bias_force, inverse_dynamics, passive_force

__all__ = [
    "ConstrainedMotion",
    "Constraint",
    "ConstraintSet",
    "ForwardDynamicsDerivatives",
    "Hinge",
    "Impact",
    "InverseDynamicsDerivatives",
    "Pin",
    "PointContact",
    "RollingSphere",
    "SlidingSole",
    "Stabilization",
    "Weld",
    "acceleration",
    "anchor_constraints",
    "angular_acceleration",
    "angular_jacobian",
    "angular_velocity",
    "bias_force",
    "center_of_mass",
    "center_of_mass_jacobian",
    "center_of_mass_velocity",
    "constrained_dynamics",
    "constraint_bias",
    "constraint_error",
    "constraint_jacobian",
    "edge_contact",
    "flat_contact",
    "flat_foot",
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "impact",
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "inverse_dynamics_parameter_jacobian",
    "jacobian",
    "kinetic_energy",
    "marker_positions",
    "mass_matrix",
    "momentum",
    "orientation",
    "passive_force",
    "position",
    "potential_energy",
    "row_names",
    "velocity",
]
