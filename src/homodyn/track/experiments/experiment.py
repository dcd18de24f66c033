"""Descriptions of experiments with targets in space: blocks, trials, targets, paths and stimuli."""

from __future__ import annotations

import numpy as np

from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of

TASKS = ("reach", "trace")
QUANTITIES = ("effort", "power")
TORQUE_PREFIX = "torque:"
PROPERTIES = ("size", "color", "sound", "place")
DEFAULT_RADIUS_M = 0.05


@record
class ReachTarget(Record):
    """A sphere in space that is to be touched."""

    name: str
    position: np.ndarray
    """(3,), m, Z up."""
    radius: float = DEFAULT_RADIUS_M
    """m."""


@record
class TracePath(Record):
    """A curve in space that is to be traced with the pointer."""

    name: str
    points: np.ndarray
    """(vertices, 3), m, Z up."""
    closed: bool = False
    """Whether the last vertex is connected to the first."""

    @property
    def length(self) -> float:
        """Length of the curve (m)."""
        return float(np.linalg.norm(np.diff(self.vertices, axis=0), axis=1).sum())

    @property
    def vertices(self) -> np.ndarray:
        """(vertices, 3), m, with the first one again at the end of a closed curve."""
        points = np.asarray(self.points)
        return np.vstack([points, points[:1]]) if self.closed else points


@record
class EffortStimulus(Record):
    """A property of the target that depends on the live torque or effort.

    The property goes from its ``first`` to its ``last`` value, linearly, while the quantity goes
    from ``low`` to ``high``; it stays constant beyond.
    """

    quantity: str
    """``effort`` (N m), ``power`` (W), or ``torque:COORDINATE`` (N m, its magnitude)."""
    property: str
    """``size`` (factor), ``color`` (red, green, blue from 0 to 1), ``sound`` (frequency, Hz), or
    ``place`` (displacement, m)."""
    low: float
    high: float
    first: np.ndarray
    """Value of the property at ``low``: one number, or three for color and place."""
    last: np.ndarray
    """Value of the property at ``high``."""

    def value(self, quantity: float) -> np.ndarray:
        """Value of the property.

        Args:
            quantity: Present value of the quantity.

        Returns:
            One number or three.
        """
        share = np.clip((quantity - self.low) / (self.high - self.low), 0.0, 1.0)
        return np.asarray((1.0 - share) * self.first + share * self.last)


@record
class TrialBlock(Record):
    """Trials of one task under one condition."""

    name: str
    task: str
    """``reach`` or ``trace``."""
    trials: tuple[str, ...]
    """Names of targets or paths, one per trial."""
    repeat: int = 1
    """Number of times that the list is repeated."""
    shuffle: bool = False
    """Whether the trials are in random order."""
    speed_mean: float = 0.5
    """Speed of the target along a path (m/s): mean and standard deviation over trials."""
    speed_sd: float = 0.0
    hold: float = 0.0
    """Time (s) that a target must be touched."""
    limit: float = 20.0
    """Longest time of a trial (s)."""
    condition: str = ""
    """A word that is written into the results, such as ``weighted``."""
    random_start: bool = False
    """Whether tracing begins at a random vertex in a random direction (closed paths)."""
    stimuli: tuple[EffortStimulus, ...] = ()


@record
class Experiment(Record):
    """Blocks of trials in which a pointer reaches for targets or traces paths."""

    name: str
    pointer: str
    """Marker or body of the model that touches, such as ``RFIN``."""
    start: ReachTarget
    """Where every trial begins; reaching ends there too."""
    blocks: tuple[TrialBlock, ...]
    targets: tuple[ReachTarget, ...] = ()
    paths: tuple[TracePath, ...] = ()
    pointer_radius: float = 0.02
    """m."""
    seed: int = 0
    """Seed of random orders, speeds and starts."""

    def headline(self) -> str:
        """Number of blocks and trials."""
        trials = sum(len(block.trials) * block.repeat for block in self.blocks)
        blocks = count_of(len(self.blocks), "block")
        return f"Experiment {self.name!r}: {blocks}, {count_of(trials, 'trial')}"
