"""The state of a simulation whose steps are taken in Python."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True, eq=False)
class SimulationPoint:
    """A state of a run, with its batch parameters and the external torques that act from there."""

    t: float
    """s."""
    q: np.ndarray
    v: np.ndarray
    z: np.ndarray
    """Memory of the contact law."""
    work: np.ndarray
    """Work since the start (J), by `WORK_NAMES`."""
    batch: np.ndarray
    """Batch parameters, in the order of their names."""
    torque: np.ndarray
    """External torques (N m, N), (nv,)."""
    status: int = 0
    """Value of a `SimulationStatus`; not 0 where a step failed."""
    event_energy: float = 0.0
    """Energy that actions of events added so far (J)."""
    event_spring_energy: float = 0.0
    """The part of it that is stored in springs along coordinates (J)."""
    memory: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """Variables, signals and measures (`StepMemory`)."""
