"""Least-squares poses of all frames: Levenberg-Marquardt, or frame by frame after Sugihara."""

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
"""Number of frames from which a fit runs in native code. The rule depends on nothing else, so that
a fit gives the same bits whatever was compiled before it."""

STEP_TOLERANCE = 1e-8
"""Length of the last step (rad, m)."""
MAX_ITERATIONS = 200
"""Steps per frame."""

BATCH_FRAMES = 500
"""Frames that are fitted between two calls of the progress callback."""
ProgressCallback = Callable[[float], None]
"""Called with the share of the work that is done; an exception that it raises ends the work."""

SUGIHARA_MIN_DAMPING = 1e-3
"""Damping that Sugihara's method adds to the objective (Felis 2015, eq. 4.17)."""


@dataclass(frozen=True)
class MarkerProblem:
    """Targets, weights and limits of a fit. Arrays have one row per frame.

    Markers that were not seen have weight zero and any finite target; fixed coordinates have zero
    in ``free``; limits are infinite where there are none.
    """

    model: Model
    targets: np.ndarray
    """(frames, markers, 3), m."""
    weights: np.ndarray
    """(frames, markers)."""
    tracking_weights: np.ndarray
    """(frames, nv): weights of tracked coordinates."""
    tracking_targets: np.ndarray
    """(frames, nv): values that they follow (rad, m)."""
    free: np.ndarray
    """(frames, nv)."""
    lower: np.ndarray
    """(nv,), rad or m."""
    upper: np.ndarray
    """(nv,), rad or m."""
    loss: str = ""
    """Name of a robust loss; empty for least squares."""
    robust_distance: float = 1.0
    """Distance (m) from which a robust loss grows slower than the square."""
    native: bool = False
    """Whether kernels run as native code."""

    @property
    def frames(self) -> int:
        """Number of frames."""
        return len(self.targets)

    def select_frames(self, rows: Any) -> MarkerProblem:
        """Some of the frames, in the order of the indices; indices may repeat."""
        parts = ("targets", "weights", "tracking_weights", "tracking_targets", "free")
        return replace(self, **{name: getattr(self, name)[rows] for name in parts})

    def with_free(self, free: np.ndarray) -> MarkerProblem:
        """The same problem with other free coordinates."""
        return replace(self, free=np.broadcast_to(free, self.free.shape))

    def clamp_to_limits(self, q: np.ndarray) -> np.ndarray:
        """Poses with the free coordinates clamped to their limits."""
        entries, positions = plain_entries(self.model)
        result = np.array(q, dtype=float)
        values = result[..., positions]
        clamped = np.clip(values, self.lower[entries], self.upper[entries])
        result[..., positions] = np.where(self.free[..., entries] > 0, clamped, values)
        return result

    @cached_property
    def mean_weight(self) -> np.ndarray:
        """(frames,): mean weight of the visible markers, the unit of the damping."""
        seen = self.weights > 0
        return self.weights.sum(-1) / np.maximum(seen.sum(-1), 1) + ~seen.any(-1)

    @cached_property
    def frame_inputs(self) -> np.ndarray:
        """(frames, ...): targets, weights and free coordinates as `step_kernel` takes them."""
        flat = self.targets.reshape(self.frames, -1)
        return np.concatenate(
            [flat, self.weights, self.tracking_weights, self.tracking_targets, self.free], axis=1
        )

    @cached_property
    def lengths(self) -> np.ndarray:
        """The lengths of the model, as its kernels take them (m)."""
        return length_parametric_model(self.model).parameter_values

    def step_function(self, gain: float = 0.0) -> Callable[..., Any]:
        """The function (q, frame inputs, control) that takes one damped step: see `step_kernel`."""
        run = self._tier(step_kernel(self.model, self.loss))
        setting = np.concatenate([self.lower, self.upper, [gain, self.robust_distance]])
        return lambda q, inputs, control: run(q, inputs, setting, control, self.lengths)

    def descend(self, rows: np.ndarray, iterations: int, tolerance: float) -> np.ndarray:
        """Iterate the states of all frames until they are done, at most ``iterations`` times."""
        limited = float(np.isfinite([self.lower, self.upper]).any())
        setting = np.concatenate(
            [self.lower, self.upper, [self.robust_distance, tolerance, limited]]
        )
        frames = np.concatenate([self.frame_inputs, self.mean_weight[:, None]], axis=1)
        if self.native:
            inputs = {"row": rows, "done": np.zeros(len(rows)), "frame": frames}
            inputs |= {"setting": setting, "lengths": self.lengths}
            return descent_loop(self.model, self.loss)(iterations, inputs).states["row"]
        run = self._tier(descent_kernel(self.model, self.loss))
        done = np.zeros(len(rows))
        for _ in range(iterations):
            rows, done = run(rows, done, frames, setting, self.lengths)
            if done.all():
                break
        return rows

    def equations(self, q: np.ndarray) -> Any:
        """Normal matrix, descent direction and objective of every frame, without limits."""
        run = self._tier(normal_kernel(self.model, self.loss))
        parts = (
            self.targets,
            self.weights,
            self.tracking_weights,
            self.tracking_targets,
            self.robust_distance,
        )
        return run(q, *parts, self.lengths)

    def distances(self, q: np.ndarray) -> np.ndarray:
        """(frames, markers), m: distance of the model markers from their targets."""
        return self._tier(distance_kernel(self.model))(q, self.targets, self.lengths)

    def _tier(self, kernel: Kernel) -> Callable[..., Any]:
        if self.native:
            return kernel.compile()
        return _INTERPRETED_KERNELS.get(self.model, kernel, kernel.as_interpreted)


_INTERPRETED_KERNELS: ModelCache[Kernel] = ModelCache("interpreted kernels")


def runs_natively(frames: int) -> bool:
    """Whether a fit of this number of frames runs in native code."""
    tier = forced_tier()
    return tier == "compiled" or (frames >= MIN_FRAMES_TO_COMPILE and tier != "interpreted")


@dataclass(frozen=True)
class PoseEstimate:
    """Fitted poses with their objective and convergence."""

    q: np.ndarray
    """(frames, nq)."""
    cost: np.ndarray
    """(frames,): the objective at ``q``."""
    iterations: np.ndarray
    """(frames,): steps."""
    converged: np.ndarray
    """(frames,): True where the last step was below the tolerance."""
    blocked: np.ndarray
    """(frames, nv): True where a limit blocks the coordinate against the descent direction."""


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
    state = DescentState(problem.model)
    rows = state.initial_rows(problem.clamp_to_limits(start), damping * problem.mean_weight)
    rows = problem.descend(rows, iterations, tolerance)
    started = state.values(rows, "started") > 0
    return PoseEstimate(
        state.values(rows, "q"),
        np.where(started, state.values(rows, "cost"), np.inf),
        state.values(rows, "steps").astype(int),
        state.values(rows, "converged") > 0,
        state.values(rows, "blocked") > 0,
    )


def fit_in_batches(
    problem: MarkerProblem, start: np.ndarray, progress: ProgressCallback | None, **options: Any
) -> PoseEstimate:
    """`levenberg_marquardt` in batches of `BATCH_FRAMES` frames if there is a progress callback.

    Frames are independent, so the result does not depend on the batches.
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
    """Fit frame after frame, each from the pose before it, damped by the objective plus 1e-3.

    (J^T W J + E I + 1e-3 I) dq = J^T W r until |dq| is below the tolerance (Sugihara 2011; Felis
    2015, section 4.4.4). Frames without visible markers keep the pose before them.
    """
    frames, size = problem.frames, problem.model.nv
    q = np.empty((frames, problem.model.nq))
    cost, steps = np.zeros(frames), np.zeros(frames, dtype=int)
    converged = np.zeros(frames, dtype=bool)
    blocked = np.zeros((frames, size), dtype=bool)
    control = np.array([[SUGIHARA_MIN_DAMPING, 0.0, 0.0]])
    take_step, inputs = problem.step_function(gain=1.0), problem.frame_inputs
    pose = np.array(start, dtype=float).reshape(1, -1)
    for frame in range(frames):
        if progress is not None and frame % BATCH_FRAMES == 0:
            progress(frame / frames)
        own = inputs[frame : frame + 1]
        pose = problem.select_frames([frame]).clamp_to_limits(pose)
        for _ in range(iterations):
            pose, step, objective, _, stopped = take_step(pose, own, control)
            steps[frame] += 1
            if np.linalg.norm(step) < tolerance:
                converged[frame] = True
                break
        cost[frame], blocked[frame] = objective[0], stopped[0] == 1
        q[frame] = pose[0]
    return PoseEstimate(q, cost, steps, converged, blocked)
