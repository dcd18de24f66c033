"""A movement of a model: coordinates over time, and how well they explain the markers."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from homodyn.model import Model


class FitStatus(StrEnum):
    """How the fit of one frame ended."""

    CONVERGED = "converged"
    """The step became smaller than the tolerance."""
    STALLED = "stalled"
    """The iterations ran out; the best pose found stands."""
    UNSEEN = "unseen"
    """Too few markers were seen to place the model; the pose lies between those around it."""


@dataclass(frozen=True, eq=False)
class Motion:
    """Coordinates, speeds and accelerations of a model at equally spaced instants.

    ``q`` has ``model.nq`` columns; ``v`` and ``a`` have ``model.nv``. The world is the model's own:
    measured markers stand here already turned into it.
    """

    model: Model
    time: np.ndarray
    """(frames,), s."""
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    markers: tuple[str, ...] = ()
    """The markers of the model that were compared."""
    measured: np.ndarray = field(default_factory=lambda: np.zeros((0, 0, 3)))
    """(frames, markers, 3), m; NaN where not seen."""
    residual: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    """(frames, markers), m: distance of measured and model marker; NaN where not seen."""
    weights: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """(markers,): how much each marker counted."""
    status: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=object))
    """(frames,): a ``FitStatus`` each."""
    iterations: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=int))
    """(frames,): steps taken."""
    held: tuple[str, ...] = ()
    """Coordinates that no marker shows; they kept their starting values."""
    at_limit: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), dtype=bool))
    """(frames, nv): True where a joint limit stopped the coordinate."""
    method: str = ""
    """One sentence: how it was obtained, filters included."""
    notes: tuple[str, ...] = ()

    @property
    def rate(self) -> float:
        """Frames per second (Hz)."""
        return float((len(self.time) - 1) / (self.time[-1] - self.time[0]))

    @property
    def rms(self) -> float:
        """Root of the mean squared marker distance (m), over what was seen."""
        return float(np.sqrt(np.nanmean(self.residual**2)))
