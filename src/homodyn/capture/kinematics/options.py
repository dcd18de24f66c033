"""Options of inverse kinematics: weights, limits, robustness, smoothing and the solver."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

import numpy as np
from numpy.typing import ArrayLike

from homodyn.capture.kinematics.least_squares import MAX_ITERATIONS, STEP_TOLERANCE
from homodyn.capture.kinematics.marker_step import LOSSES
from homodyn.errors import CaptureError
from homodyn.foundation.record import Record, record
from homodyn.motion.motion import Motion

SOLVER_METHODS = ("levenberg-marquardt", "sugihara")
DEFAULT_ROBUST_DISTANCE_M = 0.02
"""Marker error (m) from which a robust loss grows slower than the square, unless given."""
DEFAULT_MAX_RMS_M = 0.15
"""Marker error (m, rms) above which a fit is refused, unless given."""

TrackedCoordinates = Mapping[str, tuple[float, ArrayLike]]
"""By coordinate, a weight and the values to follow."""


class InverseKinematicsKeywords(TypedDict, total=False):
    """The fields of `InverseKinematicsOptions` as keywords of `inverse_kinematics`."""

    weights: Mapping[str, float] | None
    track: TrackedCoordinates | None
    limits: bool
    robust: str | tuple[str, float] | None
    smooth: float | None
    start: Motion | np.ndarray | None
    method: str
    tolerance: float
    max_iterations: int
    max_rms: float


@record
class InverseKinematicsOptions(Record):
    """How `inverse_kinematics` fits a model to the markers of a trial.

    Raises:
        CaptureError: A value is out of range, or two options contradict each other.
    """

    weights: Mapping[str, float] | None = None
    """Marker weights by name; 1 for markers that are not listed, 0 excludes a marker."""
    track: TrackedCoordinates | None = None
    """Coordinates that also follow values, with a weight, such as
    ``{"right knee flexion": (0.1, values)}``. Names of the model, clinical names and OpenSim names
    are accepted; values (rad, m) have the sign of the name: one, or one per frame, NaN where there
    is none."""
    limits: bool = True
    """Whether joint limits apply."""
    robust: str | tuple[str, float] | None = None
    """``"huber"`` or ``"cauchy"`` reduces the influence of markers with errors above 0.02 m; a pair
    such as ``("huber", 0.01)`` sets that distance (m)."""
    smooth: float | None = None
    """Cutoff frequency (Hz) of a jerk penalty over the whole trajectory; None fits each frame
    separately."""
    start: Motion | np.ndarray | None = None
    """A pose, one pose per frame, or a motion to start from; None searches for a pose."""
    method: str = "levenberg-marquardt"
    """``"levenberg-marquardt"``, all frames at once, or ``"sugihara"``, frame by frame as in Felis
    2015."""
    tolerance: float = STEP_TOLERANCE
    """Length of the last step (rad, m) at which a frame has converged."""
    max_iterations: int = MAX_ITERATIONS
    """Iterations per frame."""
    max_rms: float = DEFAULT_MAX_RMS_M
    """Largest rms marker error (m) that is accepted."""

    def __post_init__(self) -> None:
        if self.method not in SOLVER_METHODS:
            raise CaptureError(
                f"there is no method {self.method!r}; accepted: {' or '.join(SOLVER_METHODS)}"
            )
        if self.method == "sugihara" and self.smooth is not None:
            raise CaptureError(
                "method 'sugihara' fits frame by frame and cannot smooth; leave smooth out, or use "
                "'levenberg-marquardt'"
            )
        loss, distance = self.robust_loss
        if loss not in LOSSES:
            raise CaptureError(f"there is no robust loss {loss!r}; accepted: 'huber' or 'cauchy'")
        if not (np.isfinite(distance) and distance > 0):
            raise CaptureError(f"the distance of a robust loss is above zero (m); got {distance}")
        if self.weights is not None and not isinstance(self.weights, Mapping):
            raise CaptureError(
                "weights are given by marker name, such as weights={'LASI': 2.0}; "
                f"got {type(self.weights).__name__}"
            )
        for name, weight in (self.weights or {}).items():
            _check_weight(f"marker {name!r}", weight)
        for name, (weight, _) in (self.track or {}).items():
            _check_weight(f"coordinate {name!r}", weight)

    @property
    def robust_loss(self) -> tuple[str, float]:
        """Name of the robust loss, empty for least squares, and its distance (m)."""
        if self.robust is None:
            return "", 1.0
        if isinstance(self.robust, str):
            return self.robust, DEFAULT_ROBUST_DISTANCE_M
        loss, distance = self.robust
        return loss, float(distance)

    @property
    def sentence(self) -> str:
        """Solver, limits, loss and smoothing in words."""
        limits = "on" if self.limits else "off"
        text = f"{self.method} to a last step of {self.tolerance:g}, limits {limits}"
        loss, distance = self.robust_loss
        if loss:
            text += f", {loss} loss from {distance:g} m"
        if self.smooth is not None:
            text += f", jerk penalized from {self.smooth:g} Hz"
        return text


def _check_weight(what: str, weight: float) -> None:
    if not (np.isfinite(weight) and weight >= 0):
        raise CaptureError(f"the weight of {what} is {weight}; it must be 0 or more")
