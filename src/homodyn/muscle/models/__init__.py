"""Muscle-tendon models: force from activation, length and speed."""

from homodyn.muscle.models.activation import activation_rate
from homodyn.muscle.models.degroote_fregly2016 import DeGrooteFregly2016
from homodyn.muscle.models.muscle_model import FiberState, MuscleModel, RigidTendon

__all__ = [
    "DeGrooteFregly2016",
    "FiberState",
    "MuscleModel",
    "RigidTendon",
    "activation_rate",
]
