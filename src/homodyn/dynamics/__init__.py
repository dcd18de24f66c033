"""Laws of mechanics of a tree of bodies, each written once over symbols."""

from homodyn.dynamics.aba import forward_dynamics
from homodyn.dynamics.crba import mass_matrix
from homodyn.dynamics.derivatives import (
    ForwardDynamicsDerivatives,
    InverseDynamicsDerivatives,
    forward_dynamics_derivatives,
    inverse_dynamics_derivatives,
    inverse_dynamics_parameter_jacobian,
)
from homodyn.dynamics.kinematics import (
    acceleration,
    angular_acceleration,
    angular_jacobian,
    angular_velocity,
    jacobian,
    orientation,
    position,
    velocity,
)
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
    "ForwardDynamicsDerivatives",
    "InverseDynamicsDerivatives",
    "acceleration",
    "angular_acceleration",
    "angular_jacobian",
    "angular_velocity",
    "bias_force",
    "center_of_mass",
    "center_of_mass_jacobian",
    "center_of_mass_velocity",
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "inverse_dynamics_parameter_jacobian",
    "jacobian",
    "kinetic_energy",
    "mass_matrix",
    "momentum",
    "orientation",
    "passive_force",
    "position",
    "potential_energy",
    "velocity",
]
