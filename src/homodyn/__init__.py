"""Homodyn: human and humanoid movement, from one text of mechanics."""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from homodyn import catalog, dynamics, model, symbolic
from homodyn.errors import (
    CaptureError,
    FormatError,
    HomodynError,
    KernelError,
    ModelError,
    NetworkError,
    NoSolution,
    SearchError,
)
from homodyn.model import Model, joints, load, parametric, save

if TYPE_CHECKING:
    from homodyn import balance, capture, gait, network, optimal, search, simulate, studio

__version__ = "0.1.0"

__all__ = [
    "CaptureError",
    "FormatError",
    "HomodynError",
    "KernelError",
    "Model",
    "ModelError",
    "NetworkError",
    "NoSolution",
    "SearchError",
    "balance",
    "capture",
    "catalog",
    "dynamics",
    "gait",
    "joints",
    "load",
    "model",
    "network",
    "optimal",
    "parametric",
    "save",
    "search",
    "simulate",
    "studio",
    "symbolic",
]

_ON_DEMAND = ("balance", "capture", "gait", "network", "optimal", "search", "simulate", "studio")
"""Rooms that are loaded when they are first named: what they build on takes its time."""


def __getattr__(name: str) -> ModuleType:
    if name in _ON_DEMAND:
        return import_module(f"homodyn.{name}")
    raise AttributeError(f"module 'homodyn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
