"""Reconstruction of recorded steps by optimal control."""

from homodyn.gait.reconstruction.force_errors import (
    ForceError,
    center_of_mass_forces,
    force_errors,
)
from homodyn.gait.reconstruction.problem import (
    RECONSTRUCTION_PRESETS,
    ReconstructionPreset,
    ReconstructionSettings,
    reconstruction_problem,
)
from homodyn.gait.reconstruction.recorded_step import RecordedStep, prepare_step
from homodyn.gait.reconstruction.step_reconstruction import (
    Reconstruction,
    ReconstructionOptions,
    reconstruct,
    reconstruct_trial,
)

__all__ = [
    "RECONSTRUCTION_PRESETS",
    "ForceError",
    "Reconstruction",
    "ReconstructionOptions",
    "ReconstructionPreset",
    "ReconstructionSettings",
    "RecordedStep",
    "center_of_mass_forces",
    "force_errors",
    "prepare_step",
    "reconstruct",
    "reconstruct_trial",
    "reconstruction_problem",
]
