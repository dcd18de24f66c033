"""The interface of transcriptions: from continuous time to finitely many decision variables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from homodyn.optimal.statement.time_point import TimePoint
from homodyn.optimal.transcription.time_point_builder import TimePointBuilder

Symbols = Mapping[str, list[ca.SX]]
"""By quantity, its symbols at one evaluation point, or at all points of one interval."""
Equations = list[tuple[str, ca.SX]]
"""Residuals that must vanish, each with a name."""


@dataclass(frozen=True, eq=False)
class TimeSample:
    """A time point of an evaluation point, with its quadrature weight.

    Attributes:
        time_point: Symbols of the state, the controls and the time.
        fraction: Position within the evaluation point (0 at its start, 1 at its end).
        weight: Weight of the sample in an integral over the evaluation point.
    """

    time_point: TimePoint
    fraction: float
    weight: float


@dataclass(frozen=True, eq=False)
class EvaluationPoints:
    """Where costs, constraints and equations of motion are evaluated in a phase.

    An evaluation point is a whole interval, or a collocation point with its quadrature weight.

    Attributes:
        windows: For each point, the entries of each quantity that it depends on.
        begin: (points,), fraction of the phase at which each point begins.
        width: (points,), fraction of the phase that each point covers.
        nodes: (points,), position in units of nodes, for labels.
    """

    windows: tuple[Mapping[str, Sequence[int]], ...]
    begin: np.ndarray
    width: np.ndarray
    nodes: np.ndarray


@dataclass(frozen=True, eq=False)
class PointEquations:
    """Samples of one evaluation point, and the equations that hold there."""

    samples: list[TimeSample]
    rows: Equations


class Transcription(ABC):
    """A discretization of a phase into decision variables and equations.

    Derive from it to add a method, and pass an instance wherever the name of a transcription is
    accepted. All functions are traced once over symbols, so they must not branch on values.

    Attributes:
        name: Name of the method, for messages and descriptions.
        has_contact_forces: Whether accelerations ``a`` and contact forces ``force`` are decision
            variables (inverse dynamics). Phases then share one compiled function for their
            equations of motion. Otherwise forward dynamics provides both.
        samples_at_nodes: Whether samples lie on the nodes, and not between them.
        defect_order: Power of the interval length with which the integration defect of an interval
            grows. Mesh refinement extrapolates with it.
        violation_order: The same for violations of path constraints between the nodes.
    """

    name: str
    has_contact_forces: bool
    samples_at_nodes: bool = False
    defect_order: int
    violation_order: int

    @abstractmethod
    def variable_order(self, intervals: int) -> list[tuple[str, np.ndarray]]:
        """Decision variables of a phase in the order of time.

        Args:
            intervals: Number of intervals of the phase.

        Returns:
            Pairs of a quantity (``"q"``, ``"v"``, ``"a"``, ``"force"``, ``"tau"``, or a state with
            the suffix ``" inside"``) and the fractions of the phase at which it is a variable.
        """

    @abstractmethod
    def window(self, k: int) -> dict[str, list[int]]:
        """Entries of each quantity that interval ``k`` depends on.

        Args:
            k: Index of the interval.

        Returns:
            By quantity, indices into its variables.
        """

    @abstractmethod
    def samples(self, builder: TimePointBuilder, symbols: Symbols) -> list[TimeSample]:
        """Time points of one evaluation point, for objective terms and path constraints.

        Args:
            builder: Makes time points of the phase.
            symbols: The variables in the window of the evaluation point.

        Returns:
            The samples; their weights add up to one.
        """

    @abstractmethod
    def equations(self, builder: TimePointBuilder, symbols: Symbols) -> PointEquations:
        """Samples and equations of one evaluation point.

        Args:
            builder: Makes time points of the phase.
            symbols: The variables in the window of the evaluation point.

        Returns:
            The samples, and residuals that must vanish.
        """

    @abstractmethod
    def torque_function(self, tau: np.ndarray, intervals: int) -> Callable[[float], np.ndarray]:
        """Torques between the nodes, as the transcription defines them.

        Args:
            tau: (samples, nv), N m or N, the torques of a solution.
            intervals: Number of intervals of the phase.

        Returns:
            A function of the fraction of an interval (0 to 1) that returns the torques of all
            intervals there, (intervals, nv).
        """

    def points(self, intervals: int) -> EvaluationPoints:
        """Evaluation points in the order of time; by default the intervals.

        Args:
            intervals: Number of intervals of the phase.

        Returns:
            The evaluation points.
        """
        windows = tuple(self.window(k) for k in range(intervals))
        nodes, width = np.arange(intervals), np.full(intervals, 1 / intervals)
        return EvaluationPoints(windows, nodes / intervals, width, nodes + 0.5)

    def interval_equations(self, builder: TimePointBuilder, symbols: Symbols) -> Equations:
        """Equations that couple the evaluation points of one interval; by default none.

        Args:
            builder: Makes time points of the phase.
            symbols: The variables in the window of the interval.

        Returns:
            Residuals that must vanish.
        """
        return []

    def boundary_weights(self, at: float) -> np.ndarray:
        """Weights of the controls of an interval at its start (0) or end (1).

        Args:
            at: 0 for the start of the interval, 1 for its end.

        Returns:
            One weight for each control of the interval; by default the nearest control counts.
        """
        return np.ones(1)
