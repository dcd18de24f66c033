"""Homodyn: human and humanoid movement, from one text of mechanics."""

from homodyn import catalog, dynamics, model, symbolic
from homodyn.errors import FormatError, HomodynError, KernelError, ModelError
from homodyn.model import Model, joints, load, parametric, save

__version__ = "0.1.0"

__all__ = [
    "FormatError",
    "HomodynError",
    "KernelError",
    "Model",
    "ModelError",
    "catalog",
    "dynamics",
    "joints",
    "load",
    "model",
    "parametric",
    "save",
    "symbolic",
]
