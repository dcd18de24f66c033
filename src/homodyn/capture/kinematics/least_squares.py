"""Poses that bring a model closest to its markers: all frames at once, or one after another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from homodyn.capture.kinematics.descent_kernel import (
    INITIAL_DAMPING,
    DescentState,
    descent_kernel,
    descent_loop,
)
from homodyn.capture.kinematics.marker_step import (
    distance_kernel,
    length_parametric_model,
    normal_kernel,
    step_kernel,
)
from homodyn.model import Model
from homodyn.model.configuration import plain_entries
from homodyn.model.model_cache import ModelCache
from homodyn.symbolic import Kernel
from homodyn.symbolic.native_code import forced_tier

MIN_FRAMES_TO_COMPILE = 50
"""From so many frames on a fit runs in native code; the rule looks at nothing else, so that a
fit gives the same bits whatever was compiled before it."""

STEP_TOLERANCE = 1e-8
"""Length of the last step (rad, m)."""
MAX_ITERATIONS = 200
"""Steps after which a frame is given up."""

BATCH_FRAMES = 500
"""Frames that are fitted between two words about how far it is."""
ProgressCallback = Callable[[float], None]
"""Hears the share of the work that is done; what it raises ends the work."""

SUGIHARA_MIN_DAMPING = 1e-3
"""What Sugihara's damping adds to the objective (Felis 2015, eq. 4.17)."""


@dataclass(frozen=True)
class MarkerProblem:
    """What each frame is fitted to. Arrays have a row for each frame.

    Markers that were not seen have weight zero and any finite target; coordinates that are not to
    move have zero in ``free``; limits are infinite where there are none.
    """

    model: Model
    targets: np.ndarray
    """(frames, markers, 3), m."""
    weights: np.ndarray
    """(frames, markers)."""
    tracking_weights: np.ndarray
    """(frames, nv): weights of coordinates that are tracked."""
    tracking_targets: np.ndarray
    """(frames, nv): their values (rad, m)."""
    free: np.ndarray
    """(frames, nv)."""
    lower: np.ndarray
    """(nv,), rad or m."""
    upper: np.ndarray
    """(nv,), rad or m."""
    loss: str = ""
    scale: float = 1.0
    """Distance (m) at which a robust loss bends."""
    native: bool = False

    @property
    def frames(self) -> int:
        """Number of frames."""
        return len(self.targets)

    def select_frames(self, rows: Any) -> MarkerProblem:
        """Some of the frames, in this order; repeated where an index is."""
        parts = ("targets", "weights", "tracking_weights", "tracking_targets", "free")
        return replace(self, **{name: getattr(self, name)[rows] for name in parts})

    def with_free(self, free: np.ndarray) -> MarkerProblem:
        """The same with other coordinates free to move."""
        return replace(self, free=np.broadcast_to(free, self.free.shape))

    def clamp_to_limits(self, q: np.ndarray) -> np.ndarray:
        """Poses with the coordinates that may move brought within their limits."""
        entries, positions = plain_entries(self.model)
        result = np.array(q, dtype=float)
        there = result[..., positions]
        kept = np.clip(there, self.lower[entries], self.upper[entries])
        result[..., positions] = np.where(self.free[..., entries] > 0, kept, there)
        return result

    @cached_property
    def mean_weight(self) -> np.ndarray:
        """(frames,): the mean weight of the seen markers, in which damping is measured."""
        seen = self.weights > 0
        return self.weights.sum(-1) / np.maximum(seen.sum(-1), 1) + ~seen.any(-1)

    @cached_property
    def frame_inputs(self) -> np.ndarray:
        """(frames, ...): what is there to be fitted, as `step_kernel` takes it."""
        flat = self.targets.reshape(self.frames, -1)
        return np.concatenate(
            [flat, self.weights, self.tracking_weights, self.tracking_targets, self.free], axis=1
        )

    @cached_property
    def lengths(self) -> np.ndarray:
        """The lengths of the model, as its kernels take them."""
        return length_parametric_model(self.model).parameter_values

    def step_function(self, gain: float = 0.0) -> Callable[..., Any]:
        """(q, records, mood) -> one damped step of these frames: see `step_kernel`."""
        run = self._tier(step_kernel(self.model, self.loss))
        setting = np.concatenate([self.lower, self.upper, [gain, self.scale]])
        return lambda q, records, mood: run(q, records, setting, mood, self.lengths)

    def descend(self, rows: np.ndarray, iterations: int, tolerance: float) -> np.ndarray:
        """The rows of all frames after so many iterations, or fewer that were enough."""
        limited = float(np.isfinite([self.lower, self.upper]).any())
        setting = np.concatenate([self.lower, self.upper, [self.scale, tolerance, limited]])
        frames = np.concatenate([self.frame_inputs, self.mean_weight[:, None]], axis=1)
        if self.native:
            inputs = {"row": rows, "done": np.zeros(len(rows)), "frame": frames}
            inputs |= {"setting": setting, "lengths": self.lengths}
            course = descent_loop(self.model, self.loss)(iterations, inputs)
            return course.states["row"]
        run = self._tier(descent_kernel(self.model, self.loss))
        done = np.zeros(len(rows))
        for _ in range(iterations):
            rows, done = run(rows, done, frames, setting, self.lengths)
            if done.all():
                break
        return rows

    def equations(self, q: np.ndarray) -> Any:
        """Normal matrix, descent and objective of every frame, undamped and without limits."""
        run = self._tier(normal_kernel(self.model, self.loss))
        parts = (
            self.targets,
            self.weights,
            self.tracking_weights,
            self.tracking_targets,
            self.scale,
        )
        return run(q, *parts, self.lengths)

    def distances(self, q: np.ndarray) -> np.ndarray:
        """(frames, markers), m: how far model markers are from their targets."""
        return self._tier(distance_kernel(self.model))(q, self.targets, self.lengths)

    def _tier(self, kernel: Kernel) -> Callable[..., Any]:
        if self.native:
            return kernel.compile()
        return _INTERPRETED_KERNELS.get(self.model, kernel, kernel.as_interpreted)


_INTERPRETED_KERNELS: ModelCache[Kernel] = ModelCache("interpreted kernels")


def runs_natively(frames: int) -> bool:
    """Whether a fit of so many frames runs in native code."""
    tier = forced_tier()
    return tier == "compiled" or (frames >= MIN_FRAMES_TO_COMPILE and tier != "interpreted")


@dataclass(frozen=True)
class PoseEstimate:
    """Poses with the objective there, steps taken, and whether the last was short enough."""

    q: np.ndarray
    cost: np.ndarray
    iterations: np.ndarray
    converged: np.ndarray
    blocked: np.ndarray
    """(frames, nv): True where a limit holds the coordinate against the descent."""


def levenberg_marquardt(
    problem: MarkerProblem,
    start: np.ndarray,
    *,
    tolerance: float = STEP_TOLERANCE,
    iterations: int = MAX_ITERATIONS,
    damping: float = INITIAL_DAMPING,
) -> PoseEstimate:
    """Fit all frames at once, each with its own damping (see the module ``descent_kernel``).

    ``damping`` is the initial damping, as a share of the mean marker weight.
    """
    places = DescentState(problem.model)
    begun = places.initial_rows(problem.clamp_to_limits(start), damping * problem.mean_weight)
    ways = problem.descend(begun, iterations, tolerance)
    started = places.values(ways, "started") > 0
    return PoseEstimate(
        places.values(ways, "q"),
        np.where(started, places.values(ways, "cost"), np.inf),
        places.values(ways, "taken").astype(int),
        places.values(ways, "converged") > 0,
        places.values(ways, "blocked") > 0,
    )


def fit_in_batches(
    problem: MarkerProblem, start: np.ndarray, progress: ProgressCallback | None, **options: Any
) -> PoseEstimate:
    """`levenberg_marquardt` over `BATCH_FRAMES` frames at a time where somebody hears of each.

    No frame knows of another, so the numbers are the same.
    """
    if progress is None or problem.frames <= BATCH_FRAMES:
        return levenberg_marquardt(problem, start, **options)
    parts = []
    for first in range(0, problem.frames, BATCH_FRAMES):
        rows = np.arange(first, min(first + BATCH_FRAMES, problem.frames))
        progress(first / problem.frames)
        parts.append(levenberg_marquardt(problem.select_frames(rows), start[rows], **options))
    names = ("q", "cost", "iterations", "converged", "blocked")
    return PoseEstimate(
        **{name: np.concatenate([getattr(p, name) for p in parts]) for name in names}
    )


def sugihara(
    problem: MarkerProblem,
    start: np.ndarray,
    *,
    tolerance: float = STEP_TOLERANCE,
    iterations: int = MAX_ITERATIONS,
    progress: ProgressCallback | None = None,
) -> PoseEstimate:
    """One frame after another, each from the pose before, damped by the objective plus 1e-3.

    (J^T W J + E I + 1e-3 I) dq = J^T W r until |dq| is below the tolerance (Sugihara 2011; Felis
    2015, section 4.4.4). Frames without any seen marker keep the pose before them.
    """
    frames, size = problem.frames, problem.model.nv
    q = np.empty((frames, problem.model.nq))
    cost, taken = np.zeros(frames), np.zeros(frames, dtype=int)
    converged = np.zeros(frames, dtype=bool)
    blocked = np.zeros((frames, size), dtype=bool)
    mood = np.array([[SUGIHARA_MIN_DAMPING, 0.0, 0.0]])
    take_step, records = problem.step_function(gain=1.0), problem.frame_inputs
    here = np.array(start, dtype=float).reshape(1, -1)
    for frame in range(frames):
        if progress is not None and frame % BATCH_FRAMES == 0:
            progress(frame / frames)
        record = records[frame : frame + 1]
        here = problem.select_frames([frame]).clamp_to_limits(here)
        for _ in range(iterations):
            here, step, found, _, stopped = take_step(here, record, mood)
            taken[frame] += 1
            if np.linalg.norm(step) < tolerance:
                converged[frame] = True
                break
        cost[frame], blocked[frame] = found[0], stopped[0] == 1
        q[frame] = here[0]
    return PoseEstimate(q, cost, taken, converged, blocked)
