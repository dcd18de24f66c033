"""Reconstruction of recorded steps by optimal control."""

from homodyn.gait.reconstruction.problem import (
    RECONSTRUCTION_PRESETS,
    ReconstructionPreset,
    ReconstructionSettings,
    reconstruction_problem,
)
from homodyn.gait.reconstruction.step_reconstruction import (
    ForceError,
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
    "reconstruct",
    "reconstruct_trial",
    "reconstruction_problem",
]
