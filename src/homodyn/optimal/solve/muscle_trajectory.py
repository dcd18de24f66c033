"""Torques and activations of the muscles of a solved phase at any time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from homodyn.optimal.solve.phase_solution import MuscleSolution, PhaseSolution
from homodyn.optimal.transcription.muscle_dynamics import MuscleDynamics, MuscleTorques


@dataclass(frozen=True, eq=False)
class MuscleTrajectory:
    """The muscles of a solved phase: states and excitations, linear between their time points."""

    dynamics: MuscleDynamics
    phase: PhaseSolution

    @property
    def solution(self) -> MuscleSolution:
        """States and controls."""
        assert self.phase.muscles is not None
        return self.phase.muscles

    def __call__(self, time: np.ndarray, q: np.ndarray, v: np.ndarray) -> MuscleTorques:
        """Torques, activations and forces at times of the movement.

        Args:
            time: (frames,), s.
            q: (frames, nq), rad or m.
            v: (frames, nv), rad/s or m/s.
        """
        own = self.solution
        states = (
            self._state(time, own.activation, own.control_activation),
            self._state(time, own.tendon_force, own.control_tendon_force),
        )
        excitation = _interpolate(time, self.phase.control_time, own.excitation)
        return self.dynamics.torques(q, v, states, excitation)

    def _state(self, time: np.ndarray, nodes: np.ndarray, between: np.ndarray) -> np.ndarray:
        """A state at nodes and at the times of controls."""
        times = np.concatenate([self.phase.time, self.phase.control_time])
        order = np.argsort(times, kind="stable")
        return _interpolate(time, times[order], np.concatenate([nodes, between])[order])


def _interpolate(time: np.ndarray, known: np.ndarray, values: np.ndarray) -> np.ndarray:
    columns = [np.interp(time, known, column) for column in values.T]
    return np.column_stack(columns) if columns else np.zeros((len(time), 0))
