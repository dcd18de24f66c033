"""One iteration of Levenberg and Marquardt for the pose of one frame, as a single traced function.

What a frame knows of its way (the best pose, the one tried next, its damping, what limits hold) is
one row of numbers, and an iteration takes that row to the next. Frames do not know each other, so
all of them go on at once, each at its own pace, in one call of native code.

The damping shrinks while the objective falls as promised and grows when it does not (Nielsen 1999).
Long steps are those of Gauss and Newton, which never lead uphill; short ones those of Newton, which
end soon even where the markers cannot be reached. What a step alone pushes against a limit is
pinned there and the step taken anew; at the end it is let go if the descent leads away.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from homodyn.capture.kinematics.marker_step import damped_step, length_parametric_kernel
from homodyn.model import Model
from homodyn.model.model_cache import ModelCache
from homodyn.spatial import Array
from homodyn.symbolic import Kernel, Scan

NEWTON_STEP_LENGTH = 0.1
"""Steps shorter than this (rad, m) are followed by steps that know the curvature of the paths."""
MAX_RELEASES = 8
"""How often the pins of a frame are let go."""
INITIAL_DAMPING = 1e-3
"""First damping, as a share of the mean weight of a marker."""
MIN_DAMPING = 1e-9
"""Least damping, as the same share."""

SCALAR_NAMES = (
    "cost",  # objective at the best pose
    "promised",  # how much of it the step from there would take away were the model linear
    "damping",
    "growth",  # by which the damping grows when a step is rejected
    "bend",  # whether the next step knows the curvature of the paths
    "halt",  # whether the next step ends where it meets a limit
    "curved",  # whether the step to the pose tried knew it
    "again",  # whether the pose tried is the best one once more
    "released",  # how often pins were let go
    "taken",  # steps
    "converged",
    "started",  # whether the cost is one
)


class DescentState:
    """Where in a row of numbers everything about the way of a frame stands."""

    def __init__(self, model: Model) -> None:
        arrays = {"q": model.nq, "tried": model.nq, "pinned": model.nv, "blocked": model.nv}
        self.places: dict[str, Any] = {}
        self.size = 0
        for name, size in arrays.items():
            self.places[name] = slice(self.size, self.size + size)
            self.size += size
        for name in SCALAR_NAMES:
            self.places[name] = self.size
            self.size += 1

    def initial_rows(self, q: np.ndarray, damping: np.ndarray) -> np.ndarray:
        """Rows of frames that stand at these poses and have taken no step."""
        rows = np.zeros((len(q), self.size))
        rows[:, self.places["q"]] = rows[:, self.places["tried"]] = q
        rows[:, self.places["damping"]] = damping
        rows[:, self.places["growth"]] = 2.0
        return rows

    def values(self, rows: np.ndarray, name: str) -> np.ndarray:
        """One thing about all frames."""
        return rows[:, self.places[name]]


def descent_kernel(model: Model, loss: str = "") -> Kernel:
    """(row, done, frame, setting, lengths) -> row and done after one iteration.

    ``frame`` joins targets (m), weights, pull, goal, free and the mean weight of a seen marker;
    ``setting`` lower and upper limits, the scale of a robust loss (m), the length of the last step
    (rad, m) and whether there are limits at all.
    """
    size, markers = model.nv, len(model.markers)
    rows = DescentState(model)

    def iterate(
        own: Model, row: Array, done: Array, frame: Array, setting: Array
    ) -> tuple[Array, Array]:
        now = {name: row[place] for name, place in rows.places.items()}
        ends = np.cumsum([0, 3 * markers, markers, *[size] * 3, 1])
        *parts, unit = ca.vertsplit(frame, list(ends))
        parts[-1] = parts[-1] * (1 - now["pinned"])
        targets = ca.reshape(parts[0], 3, markers).T
        scale, tolerance, limited = ca.vertsplit(setting[2 * size :])
        rest: list[Array] = [*parts[1:], setting[:size], setting[size : 2 * size]]
        rest += [now["damping"], now["bend"], now["halt"], 0.0, scale]
        step = damped_step(own, loss, now["tried"], targets, *rest)
        after = _next_state(now, step, unit, tolerance, limited)
        ended = ca.logic_or(after["converged"], ca.logic_not(after["started"]))
        rest = [ca.if_else(done, now[name], after[name]) for name in now]
        return ca.vertcat(*rest), ca.logic_or(done, ended)

    return length_parametric_kernel(
        model,
        f"descent {loss}".strip(),
        iterate,
        {
            "row": rows.size,
            "done": (),
            "frame": 4 * markers + 3 * size + 1,
            "setting": 2 * size + 3,
        },
        {"row": rows.size, "done": ()},
    )


_SCANS: ModelCache[Scan] = ModelCache("descent scans")


def descent_loop(model: Model, loss: str = "") -> Scan:
    """All iterations of many frames in native code, each frame until it is done."""
    return _SCANS.get(
        model, loss, lambda: Scan(descent_kernel(model, loss), ("row", "done"), stop="done")
    )


def _next_state(
    now: dict[str, Array], step: tuple[Array, ...], unit: Array, tolerance: Array, limited: Array
) -> dict[str, Array]:
    """What a frame knows after it took its step from the pose tried."""
    cost = step[2]
    before = now["cost"]
    # Less than rounding is no worse; what is no number is no better.
    level = before * (1 + 1e-14)
    better = ca.if_else(now["started"], cost <= level, cost < np.inf)
    good, bad = _accept_step(now, step, unit, tolerance, limited), _reject_step(now, limited)
    after = {name: ca.if_else(better, good[name], bad[name]) for name in now}
    after["taken"] = now["taken"] + (1 - now["again"])
    return after


def _accept_step(
    now: dict[str, Array], step: tuple[Array, ...], unit: Array, tolerance: Array, limited: Array
) -> dict[str, Array]:
    """The pose tried becomes the best one."""
    moved, direction, cost, promised, stopped = step
    fresh = ca.logic_and(now["started"], ca.logic_not(now["again"]))
    foreseen = ca.logic_and(fresh, now["promised"] > 0)
    ratio = (now["cost"] - cost) / ca.if_else(foreseen, now["promised"], 1.0)
    trust = ca.fmin(ca.fmax(1 - (2 * ratio - 1) ** 3, 0.1), 3.0)
    # Where nothing was promised the damping shrinks as for a step that kept its promise.
    shrunk = ca.if_else(foreseen, trust, 0.1)
    damping = now["damping"] * ca.if_else(fresh, shrunk, 1.0)
    damping = ca.fmax(damping, MIN_DAMPING * unit)
    length = ca.norm_2(direction)
    short = ca.fmax(1.0, damping / (INITIAL_DAMPING * unit)) * length < tolerance
    blocked, pushed = stopped == 1, limited * (stopped == 2)
    held = ca.mmax(now["pinned"] * (1 - blocked))
    loose = short * held * (now["released"] < MAX_RELEASES)
    anew = ca.fmax(loose, ca.mmax(pushed))
    return {
        "q": now["tried"],
        "tried": ca.if_else(anew, now["tried"], moved),
        "pinned": ca.if_else(loose, 0 * pushed, ca.fmax(now["pinned"], pushed)),
        "blocked": blocked,
        "cost": cost,
        "promised": promised,
        "damping": damping,
        "growth": ca.SX(2),
        "bend": length < NEWTON_STEP_LENGTH,
        "halt": ca.if_else(fresh, 0.0, now["halt"]),
        "curved": now["bend"] > 0,
        "again": anew,
        "released": now["released"] + loose,
        "taken": now["taken"],
        "converged": short * (1 - anew),
        "started": ca.SX(1),
    }


def _reject_step(now: dict[str, Array], limited: Array) -> dict[str, Array]:
    """Back to the best pose: without the curvature first, then shorter, and not beyond a limit."""
    grown = ca.if_else(now["curved"], 1.0, now["growth"])
    changed = {
        "tried": now["q"],
        "damping": now["damping"] * grown,
        "growth": now["growth"] * ca.if_else(now["curved"], 1.0, 2.0),
        "bend": ca.SX(0),
        "halt": limited,
        "again": ca.SX(1),
        # A rejected step that was promised less than rounding takes away ends the road.
        "converged": now["promised"] <= 1e-13 * now["cost"],
    }
    return now | changed
