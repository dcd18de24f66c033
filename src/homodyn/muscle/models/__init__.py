"""Muscle-tendon models: force from activation, length and speed."""

from homodyn.muscle.models.activation import activation_rate, bounded_activation_rate
from homodyn.muscle.models.degroote_fregly2016 import DeGrooteFregly2016
from homodyn.muscle.models.millard2012 import Millard2012
from homodyn.muscle.models.muscle_model import FiberForce, FiberState, HillModel, MuscleModel
from homodyn.muscle.models.thelen2003 import Thelen2003

__all__ = [
    "DeGrooteFregly2016",
    "FiberForce",
    "FiberState",
    "HillModel",
    "Millard2012",
    "MuscleModel",
    "Thelen2003",
    "activation_rate",
    "bounded_activation_rate",
]
