"""What every study of tracking yields: a table, the panels of a figure, and sentences."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace

import numpy as np

from homodyn.capture.world_frame import world_axes
from homodyn.foundation import Record, record
from homodyn.track.options import TrackingOptions
from homodyn.track.result import TrackingResult


@record
class StudyCurve(Record):
    """A curve or a row of bars of a panel."""

    label: str
    x: np.ndarray
    """(points,)."""
    y: np.ndarray
    """(points,)."""
    error: np.ndarray | None = None
    """(points,): half length of the error bars, in the unit of ``y``."""


@record
class StudyPanel(Record):
    """One panel of the figure of a study."""

    title: str
    x_label: str
    unit: str
    """Unit of the vertical axis."""
    curves: tuple[StudyCurve, ...]
    bars: bool = False
    """Whether curves are bars over the numbers of ``ticks``."""
    logarithmic: bool = False
    """Whether the horizontal axis is logarithmic."""
    ticks: tuple[str, ...] = ()
    """Names of the points 0, 1, ... of the horizontal axis."""


class TrackingStudy(ABC):
    """A study that can be written as a page with a figure and a table."""

    @property
    @abstractmethod
    def title(self) -> str:
        """One line: what was varied and measured."""

    @property
    @abstractmethod
    def paper(self) -> str:
        """What the paper reports, with the number of its figure."""

    @abstractmethod
    def columns(self) -> dict[str, list[float | str]]:
        """The table: values by heading with unit."""

    @abstractmethod
    def panels(self) -> tuple[StudyPanel, ...]:
        """The panels of the figure."""

    @abstractmethod
    def findings(self) -> tuple[str, ...]:
        """What the numbers say, one sentence each."""


def measured_positions(reference: TrackingResult) -> np.ndarray:
    """The markers that a tracked body followed.

    Args:
        reference: A tracked trial.

    Returns:
        (frames, markers, 3), m, Z up; filtered as the options of the trial say.
    """
    axes = world_axes(reference.motion.model)
    return np.asarray(reference.motion.measured) @ axes.T


def without_filter(reference: TrackingResult) -> TrackingOptions:
    """The options of a tracked trial for markers that have been filtered already.

    Args:
        reference: A tracked trial.

    Returns:
        The options without a filter.
    """
    return replace(reference.options, filter=None)
