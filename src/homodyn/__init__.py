"""Homodyn: human and humanoid movement, from one text of mechanics."""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from homodyn import capture, gait

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

_ON_DEMAND = ("capture", "gait")
"""Rooms that are loaded when they are first named: what they build on takes its time."""


def __getattr__(name: str) -> ModuleType:
    if name in _ON_DEMAND:
        return import_module(f"homodyn.{name}")
    raise AttributeError(f"module 'homodyn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
