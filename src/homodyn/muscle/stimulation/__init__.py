"""Electrically stimulated muscles: command signal, recruitment, calcium muscle and knee muscles."""

from homodyn.muscle.stimulation.calcium_muscle import (
    CALCIUM_KIND,
    CalciumMuscle,
    CalciumState,
    Stimulus,
)
from homodyn.muscle.stimulation.command_signal import (
    CalciumPhase,
    CommandSignal,
    charge_for,
    recruitment_rate,
)
from homodyn.muscle.stimulation.impulse_train import ImpulseTrain
from homodyn.muscle.stimulation.knee_muscles import KneeGeometry, add_knee_muscles

__all__ = [
    "CALCIUM_KIND",
    "CalciumMuscle",
    "CalciumPhase",
    "CalciumState",
    "CommandSignal",
    "ImpulseTrain",
    "KneeGeometry",
    "Stimulus",
    "add_knee_muscles",
    "charge_for",
    "recruitment_rate",
]
