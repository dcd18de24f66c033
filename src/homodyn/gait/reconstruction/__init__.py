"""Reconstruction of recorded steps by optimal control."""

from homodyn.gait.reconstruction.force_errors import (
    ForceError,
    center_of_mass_forces,
    force_errors,
)
from homodyn.gait.reconstruction.friction_demand import FrictionExcess, friction_excesses
from homodyn.gait.reconstruction.plate_mass import plate_mass
from homodyn.gait.reconstruction.pooled_problem import pooled_problem, share_body
from homodyn.gait.reconstruction.pooled_reconstruction import (
    PooledReconstruction,
    reconstruct_steps,
)
from homodyn.gait.reconstruction.problem import (
    RECONSTRUCTION_PRESETS,
    ReconstructionPreset,
    ReconstructionSettings,
    reconstruction_problem,
)
from homodyn.gait.reconstruction.reconstruction_result import Reconstruction
from homodyn.gait.reconstruction.recorded_step import RecordedStep, prepare_step
from homodyn.gait.reconstruction.step_reconstruction import (
    ReconstructionOptions,
    reconstruct,
    reconstruct_trial,
)

__all__ = [
    "RECONSTRUCTION_PRESETS",
    "ForceError",
    "FrictionExcess",
    "PooledReconstruction",
    "Reconstruction",
    "ReconstructionOptions",
    "ReconstructionPreset",
    "ReconstructionSettings",
    "RecordedStep",
    "center_of_mass_forces",
    "force_errors",
    "friction_excesses",
    "plate_mass",
    "pooled_problem",
    "prepare_step",
    "reconstruct",
    "reconstruct_steps",
    "reconstruct_trial",
    "reconstruction_problem",
    "share_body",
]
