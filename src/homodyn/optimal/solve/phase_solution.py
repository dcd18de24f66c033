"""The trajectories of one phase of a solution."""

from __future__ import annotations

import numpy as np

from homodyn.foundation.record import Record, record


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
