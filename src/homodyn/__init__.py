"""Homodyn: human and humanoid movement, from one text of mechanics."""

from homodyn import capture, catalog, dynamics, gait, model, simulate, symbolic
from homodyn.errors import (
    CaptureError,
    FormatError,
    HomodynError,
    KernelError,
    ModelError,
    NoSolution,
)
from homodyn.model import Model, joints, load, parametric, save

__version__ = "0.1.0"

__all__ = [
    "CaptureError",
    "FormatError",
    "HomodynError",
    "KernelError",
    "Model",
    "ModelError",
    "NoSolution",
    "capture",
    "catalog",
    "dynamics",
    "gait",
    "joints",
    "load",
    "model",
    "parametric",
    "save",
    "simulate",
    "symbolic",
]
