"""The trajectories of one phase of a solution."""

from __future__ import annotations

from dataclasses import field

import numpy as np

from homodyn.foundation.record import Record, record


def _no_entries() -> np.ndarray:
    return np.zeros((0, 0))


@record
class MuscleSolution(Record):
    """The muscles in one phase of a solution."""

    activation: np.ndarray
    """(nodes, muscles with activation dynamics), 0 to 1."""
    tendon_force: np.ndarray
    """(nodes, muscles with compliant tendons), in maximal isometric forces."""
    excitation: np.ndarray
    """(controls, muscles), 0 to 1."""
    tendon_force_rate: np.ndarray
    """(controls, muscles with compliant tendons), 1/s."""
    control_activation: np.ndarray = field(default_factory=_no_entries)
    """(controls, muscles with activation dynamics): activations at the times of the controls."""
    control_tendon_force: np.ndarray = field(default_factory=_no_entries)
    """(controls, muscles with compliant tendons)."""

    def headline(self) -> str:
        """Sizes."""
        return f"MuscleSolution: {self.excitation.shape[1]} muscles, {len(self.activation)} nodes"


@record
class PhaseSolution(Record):
    """One phase of a solution: states at the nodes, controls at their own time points."""

    name: str
    """Name of the phase."""
    time: np.ndarray
    """(nodes,), s, from the start of the movement."""
    q: np.ndarray
    """(nodes, nq), rad or m."""
    v: np.ndarray
    """(nodes, nv), rad/s or m/s."""
    control_time: np.ndarray
    """(controls,), s."""
    a: np.ndarray
    """(controls, nv), rad/s2 or m/s2; empty where forward dynamics provides them."""
    tau: np.ndarray
    """(controls, nv), N m or N."""
    force: np.ndarray
    """(controls, contact rows), N or N m; empty where forward dynamics provides them."""
    force_names: tuple[str, ...]
    """Names of the contact rows."""
    impulse: np.ndarray
    """(contact rows,), N s, of the impact at the start of the phase; empty without one."""
    muscles: MuscleSolution | None = None
    """Activations, excitations and tendon forces, where muscles act."""

    def headline(self) -> str:
        """Name, time and mesh."""
        return (
            f"PhaseSolution {self.name!r}: {self.time[0]:.3f} to {self.time[-1]:.3f} s, "
            f"{len(self.time) - 1} intervals"
        )

    @property
    def duration(self) -> float:
        """Duration of the phase (s)."""
        return float(self.time[-1] - self.time[0])

    @property
    def intervals(self) -> int:
        """Number of intervals."""
        return len(self.time) - 1
