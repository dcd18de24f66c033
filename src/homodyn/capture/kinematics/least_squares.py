"""Poses that bring a model closest to its markers: all frames at once, or one after another."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from homodyn.capture.kinematics.marker_step import (
    distance_kernel,
    measured,
    normal_kernel,
    step_kernel,
)
from homodyn.model import Model
from homodyn.model.configuration import plain_entries
from homodyn.symbolic import Kernel

FRAMES_WORTH_COMPILING = 50
"""From so many frames on a fit runs in native code; the rule looks at nothing else, so that a
fit gives the same bits whatever was compiled before it."""

TOLERANCE = 1e-8
"""Length of the last step (rad, m)."""
ITERATIONS = 200
"""Steps after which a frame is given up."""

CLOSE = 0.1
"""Steps shorter than this (rad, m) are followed by steps that know the curvature of the paths."""

RELEASES = 8
"""How often the pins of a frame are let go."""

SUGIHARA_FLOOR = 1e-3
"""What Sugihara's damping adds to the objective (Felis 2015, eq. 4.17)."""
DAMPING = 1e-3
"""First damping, as a share of the mean weight of a marker."""
LEAST_DAMPING = 1e-9
"""Least damping, as the same share."""


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
    pull: np.ndarray
    """(frames, nv): weights of coordinates that are tracked."""
    goal: np.ndarray
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

    def rows(self, rows: Any) -> MarkerProblem:
        """Some of the frames, in this order; repeated where an index is."""
        parts = ("targets", "weights", "pull", "goal", "free")
        return replace(self, **{name: getattr(self, name)[rows] for name in parts})

    def freeing(self, free: np.ndarray) -> MarkerProblem:
        """The same with other coordinates free to move."""
        return replace(self, free=np.broadcast_to(free, self.free.shape))

    def inside(self, q: np.ndarray) -> np.ndarray:
        """Poses with the coordinates that may move brought within their limits."""
        entries, positions = plain_entries(self.model)
        result = np.array(q, dtype=float)
        there = result[..., positions]
        kept = np.clip(there, self.lower[entries], self.upper[entries])
        result[..., positions] = np.where(self.free[..., entries] > 0, kept, there)
        return result

    @cached_property
    def unit(self) -> np.ndarray:
        """(frames,): the mean weight of the seen markers, in which damping is measured."""
        seen = self.weights > 0
        return self.weights.sum(-1) / np.maximum(seen.sum(-1), 1) + ~seen.any(-1)

    @cached_property
    def records(self) -> np.ndarray:
        """(frames, ...): what is there to be fitted, as `step_kernel` takes it."""
        flat = self.targets.reshape(self.frames, -1)
        return np.concatenate([flat, self.weights, self.pull, self.goal, self.free], axis=1)

    @cached_property
    def lengths(self) -> np.ndarray:
        """The lengths of the model, as its kernels take them."""
        return measured(self.model).parameter_values

    def steps(self, gain: float = 0.0) -> Callable[..., Any]:
        """(q, records, mood) -> one damped step of these frames: see `step_kernel`."""
        run = self._tier(step_kernel(self.model, self.loss))
        setting = np.concatenate([self.lower, self.upper, [gain, self.scale]])
        return lambda q, records, mood: run(q, records, setting, mood, self.lengths)

    def equations(self, q: np.ndarray) -> Any:
        """Normal matrix, descent and objective of every frame, undamped and without limits."""
        run = self._tier(normal_kernel(self.model, self.loss))
        parts = (self.targets, self.weights, self.pull, self.goal, self.scale)
        return run(q, *parts, self.lengths)

    def distances(self, q: np.ndarray) -> np.ndarray:
        """(frames, markers), m: how far model markers are from their targets."""
        return self._tier(distance_kernel(self.model))(q, self.targets, self.lengths)

    def _tier(self, kernel: Kernel) -> Callable[..., Any]:
        if self.native:
            return kernel.compile()
        key = ("interpreted", kernel)
        if key not in self.model.kernels:
            self.model.kernels[key] = kernel.interpreted()
        return self.model.kernels[key]


def native(frames: int) -> bool:
    """Whether a fit of so many frames runs in native code."""
    tier = os.environ.get("HOMODYN_TIER", "")
    return tier == "compiled" or (frames >= FRAMES_WORTH_COMPILING and tier != "interpreted")


@dataclass(frozen=True)
class Fitted:
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
    tolerance: float = TOLERANCE,
    iterations: int = ITERATIONS,
    damping: float = DAMPING,
) -> Fitted:
    """All frames at once, each with its own damping, which follows how well it was foreseen.

    The damping shrinks while the objective falls as promised and grows when it does not (Nielsen
    1999). Long steps are those of Gauss and Newton, which never lead uphill; short ones those of
    Newton, which end soon even where the markers cannot be reached. ``damping`` is the first, as a
    share of the mean weight.
    """
    frames, size = problem.frames, problem.model.nv
    q = problem.inside(start)
    tried = q.copy()
    cost, promised = np.full((2, frames), np.inf)
    unit = problem.unit
    mood = np.zeros((frames, 3))
    damped, bend, halt = mood.T
    curved = np.zeros(frames, dtype=bool)
    pinned = np.zeros((frames, size), dtype=bool)
    released = np.zeros(frames, dtype=int)
    limited = bool(np.isfinite([problem.lower, problem.upper]).any())
    damped[:] = damping * unit
    growth = np.full(frames, 2.0)
    blocked = np.zeros((frames, size), dtype=bool)
    again = np.zeros(frames, dtype=bool)
    taken = np.zeros(frames, dtype=int)
    converged = np.zeros(frames, dtype=bool)
    rows = np.arange(frames)
    take_step, records = problem.steps(), problem.records.copy()
    for _ in range(iterations):
        before = cost[rows]
        moved, step, found, hoped, stopped = take_step(tried[rows], records, mood[rows])
        repeated = again[rows]
        taken[rows] += ~repeated
        better = found <= before + 1e-14 * np.where(np.isfinite(before), before, 0.0)
        every = bool(better.all())
        up = rows if every else rows[better]
        kept = slice(None) if every else better

        fresh = np.isfinite(before[kept]) & ~repeated[kept]
        ratio = np.ones(len(up))
        promise = promised[up]
        np.divide(before[kept] - found[kept], promise, out=ratio, where=fresh & (promise > 0))
        factor = np.where(fresh, np.clip(1 - (2 * ratio - 1) ** 3, 0.1, 3.0), 1.0)
        damped[up] = np.maximum(damped[up] * factor, LEAST_DAMPING * unit[up])
        growth[up] = 2.0
        q[up], cost[up], promised[up] = tried[up], found[kept], hoped[kept]
        tried[up] = moved[kept]
        blocked[up] = stopped[kept] == 1
        length = np.sqrt(np.einsum("ij,ij->i", step[kept], step[kept]))
        short = np.maximum(1.0, damped[up] / (DAMPING * unit[up])) * length < tolerance
        curved[up] = bend[up] > 0
        bend[up] = length < CLOSE
        halt[up[fresh]] = 0.0
        again[up] = False
        converged[up[short]] = True
        if limited:
            # What the step alone pushes against a limit is pinned there and the step taken anew;
            # at the end it is let go if the descent leads away from the limit.
            pushed = stopped[kept] == 2
            loose = short & (pinned[up] & ~blocked[up]).any(-1) & (released[up] < RELEASES)
            pinned[up] = np.where(loose[:, None], False, pinned[up] | pushed)
            released[up] += loose
            anew = up[loose | pushed.any(-1)]
            converged[anew] = False
            tried[anew] = q[anew]
            again[anew] = True
        if not every:
            down = rows[~better]
            # A rejected step that was promised less than rounding takes away ends the road.
            converged[down[promised[down] <= 1e-13 * cost[down]]] = True
            # Without the curvature first, then shorter, and never again beyond a limit.
            damped[down] *= np.where(curved[down], 1.0, growth[down])
            growth[down] *= np.where(curved[down], 1.0, 2.0)
            bend[down] = 0.0
            halt[down] = limited
            tried[down] = q[down]
            again[down] = True
        going = ~converged[rows] & np.isfinite(cost[rows])
        if not going.all():
            rows, records = rows[going], records[going]
            if not len(rows):
                break
        if limited:
            records[:, -size:] = problem.free[rows] * ~pinned[rows]
    return Fitted(q, cost, taken, converged, blocked)


def sugihara(
    problem: MarkerProblem,
    start: np.ndarray,
    *,
    tolerance: float = TOLERANCE,
    iterations: int = ITERATIONS,
) -> Fitted:
    """One frame after another, each from the pose before, damped by the objective plus 1e-3.

    (J^T W J + E I + 1e-3 I) dq = J^T W r until |dq| is below the tolerance (Sugihara 2011; Felis
    2015, section 4.4.4). Frames without any seen marker keep the pose before them.
    """
    frames, size = problem.frames, problem.model.nv
    q = np.empty((frames, problem.model.nq))
    cost, taken = np.zeros(frames), np.zeros(frames, dtype=int)
    converged = np.zeros(frames, dtype=bool)
    blocked = np.zeros((frames, size), dtype=bool)
    mood = np.array([[SUGIHARA_FLOOR, 0.0, 0.0]])
    take_step, records = problem.steps(gain=1.0), problem.records
    here = np.array(start, dtype=float).reshape(1, -1)
    for frame in range(frames):
        record = records[frame : frame + 1]
        here = problem.rows([frame]).inside(here)
        for _ in range(iterations):
            here, step, found, _, stopped = take_step(here, record, mood)
            taken[frame] += 1
            if np.linalg.norm(step) < tolerance:
                converged[frame] = True
                break
        cost[frame], blocked[frame] = found[0], stopped[0] == 1
        q[frame] = here[0]
    return Fitted(q, cost, taken, converged, blocked)
