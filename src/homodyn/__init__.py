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
    from homodyn import (
        analysis,
        balance,
        capture,
        codesign,
        control,
        gait,
        motion,
        muscle,
        network,
        optimal,
        plan,
        report,
        search,
        simulate,
        studio,
        synthetic,
        track,
    )

__version__ = "0.2.0"

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
    "analysis",
    "balance",
    "capture",
    "catalog",
    "codesign",
    "control",
    "dynamics",
    "gait",
    "joints",
    "load",
    "model",
    "motion",
    "muscle",
    "network",
    "optimal",
    "parametric",
    "plan",
    "report",
    "save",
    "search",
    "simulate",
    "studio",
    "symbolic",
    "synthetic",
    "track",
]

_ON_DEMAND = (
    "analysis",
    "balance",
    "capture",
    "codesign",
    "control",
    "gait",
    "motion",
    "muscle",
    "network",
    "optimal",
    "plan",
    "report",
    "search",
    "simulate",
    "studio",
    "synthetic",
    "track",
)
"""Packages that are imported on first use, because their dependencies take time to import."""


def __getattr__(name: str) -> ModuleType:
    if name in _ON_DEMAND:
        return import_module(f"homodyn.{name}")
    raise AttributeError(f"module 'homodyn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
