"""Limits: one class a file, each bounds of the displacement of a step or rows that bound it."""

from homodyn.control.limits.acceleration_limit import AccelerationLimit
from homodyn.control.limits.collision_limit import CollisionLimit
from homodyn.control.limits.configuration_limit import ConfigurationLimit
from homodyn.control.limits.limit import Limit, LimitRows
from homodyn.control.limits.torque_limit import TorqueLimit
from homodyn.control.limits.velocity_limit import VelocityLimit

__all__ = [
    "AccelerationLimit",
    "CollisionLimit",
    "ConfigurationLimit",
    "Limit",
    "LimitRows",
    "TorqueLimit",
    "VelocityLimit",
]
