"""One Levenberg-Marquardt iteration for the pose of one frame, as a single traced function.

The state of the descent of a frame (best pose, candidate, damping, active limits) is one row of
numbers, and an iteration maps this row to the next one. Frames are independent, so all of them
iterate at once, each with its own damping, in one call of native code.

The damping shrinks while the objective falls as predicted and grows when it does not (Nielsen
1999). Long steps are Gauss-Newton steps, whose matrix is always positive semidefinite; short steps
are Newton steps, which converge quadratically even where the markers cannot be reached. A
coordinate that only the step pushes against a limit is pinned there and the step is computed again;
before convergence is declared, pins are released if the descent direction leads away from them.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from homodyn.capture.kinematics.marker_step import (
    FrameTerms,
    StepBounds,
    StepControl,
    damped_step,
    length_parametric_kernel,
)
from homodyn.model import Model
from homodyn.model.model_cache import ModelCache
from homodyn.spatial import Array
from homodyn.symbolic import Kernel, Scan

NEWTON_STEP_LENGTH = 0.1
"""Steps shorter than this (rad, m) are followed by Newton steps."""
MAX_RELEASES = 8
"""Times that the pins of a frame are released."""
INITIAL_DAMPING = 1e-3
"""First damping, as a share of the mean weight of a marker."""
MIN_DAMPING = 1e-9
"""Smallest damping, as the same share."""

SCALAR_NAMES = (
    "cost",  # objective at the best pose
    "predicted",  # decrease that the quadratic model predicts for the step from there
    "damping",
    "growth",  # factor of the damping when a step is rejected
    "use_curvature",  # whether the next step is a Newton step
    "stop_at_limit",  # whether the next step ends at the first limit
    "used_curvature",  # whether the step to the candidate was a Newton step
    "retry",  # whether the candidate is the best pose itself
    "releases",  # times that pins were released
    "steps",
    "converged",
    "started",  # whether the cost has been evaluated
)


class DescentState:
    """Layout of the row of numbers that holds the state of one frame."""

    def __init__(self, model: Model) -> None:
        arrays = {"q": model.nq, "candidate": model.nq, "pinned": model.nv, "blocked": model.nv}
        self.slots: dict[str, Any] = {}
        self.size = 0
        for name, size in arrays.items():
            self.slots[name] = slice(self.size, self.size + size)
            self.size += size
        for name in SCALAR_NAMES:
            self.slots[name] = self.size
            self.size += 1

    def initial_rows(self, q: np.ndarray, damping: np.ndarray) -> np.ndarray:
        """Rows of frames at these poses, before the first step."""
        rows = np.zeros((len(q), self.size))
        rows[:, self.slots["q"]] = rows[:, self.slots["candidate"]] = q
        rows[:, self.slots["damping"]] = damping
        rows[:, self.slots["growth"]] = 2.0
        return rows

    def values(self, rows: np.ndarray, name: str) -> np.ndarray:
        """One entry of the state of all frames."""
        return rows[:, self.slots[name]]


def descent_kernel(model: Model, loss: str = "") -> Kernel:
    """Kernel of one iteration: maps ``row`` and ``done``, the state of a frame, to the next state.

    Further inputs are ``frame``: targets (m), weights, tracking weights, tracking targets, free
    coordinates and the mean weight of the visible markers; ``setting``: lower and upper limits,
    robust distance (m), length of the last step (rad, m), whether there are any limits; and
    ``lengths``.
    """
    size, markers = model.nv, len(model.markers)
    layout = DescentState(model)

    def iterate(
        own: Model, row: Array, done: Array, frame: Array, setting: Array
    ) -> tuple[Array, Array]:
        state = {name: row[slot] for name, slot in layout.slots.items()}
        ends = np.cumsum([0, 3 * markers, markers, *[size] * 3, 1])
        *parts, mean_weight = ca.vertsplit(frame, list(ends))
        free = parts[4] * (1 - state["pinned"])
        targets = ca.reshape(parts[0], 3, markers).T
        distance, tolerance, limited = ca.vertsplit(setting[2 * size :])
        step = damped_step(
            own,
            loss,
            state["candidate"],
            FrameTerms(targets, *parts[1:4]),
            StepBounds(free, setting[:size], setting[size : 2 * size]),
            StepControl(
                state["damping"], state["use_curvature"], state["stop_at_limit"], 0.0, distance
            ),
        )
        after = _next_state(state, step, mean_weight, tolerance, limited)
        ended = ca.logic_or(after["converged"], ca.logic_not(after["started"]))
        values = [ca.if_else(done, state[name], after[name]) for name in state]
        return ca.vertcat(*values), ca.logic_or(done, ended)

    return length_parametric_kernel(
        model,
        f"descent {loss}".strip(),
        iterate,
        {
            "row": layout.size,
            "done": (),
            "frame": 4 * markers + 3 * size + 1,
            "setting": 2 * size + 3,
        },
        {"row": layout.size, "done": ()},
    )


_SCANS: ModelCache[Scan] = ModelCache("descent scans")


def descent_loop(model: Model, loss: str = "") -> Scan:
    """All iterations of many frames in native code, each frame until it is done."""
    return _SCANS.get(
        model, loss, lambda: Scan(descent_kernel(model, loss), ("row", "done"), stop="done")
    )


def _next_state(
    state: dict[str, Array],
    step: tuple[Array, ...],
    mean_weight: Array,
    tolerance: Array,
    limited: Array,
) -> dict[str, Array]:
    """The state of a frame after the step from its candidate was evaluated."""
    cost = step[2]
    # An increase below rounding counts as none; NaN never counts as an improvement.
    level = state["cost"] * (1 + 1e-14)
    better = ca.if_else(state["started"], cost <= level, cost < np.inf)
    accepted = _accept_candidate(state, step, mean_weight, tolerance, limited)
    rejected = _reject_candidate(state, limited)
    after = {name: ca.if_else(better, accepted[name], rejected[name]) for name in state}
    after["steps"] = state["steps"] + (1 - state["retry"])
    return after


def _accept_candidate(
    state: dict[str, Array],
    step: tuple[Array, ...],
    mean_weight: Array,
    tolerance: Array,
    limited: Array,
) -> dict[str, Array]:
    """The candidate becomes the best pose, and its step gives the next candidate."""
    next_q, direction, cost, predicted, stopped = step
    fresh = ca.logic_and(state["started"], ca.logic_not(state["retry"]))
    has_prediction = ca.logic_and(fresh, state["predicted"] > 0)
    ratio = (state["cost"] - cost) / ca.if_else(has_prediction, state["predicted"], 1.0)
    factor = ca.fmin(ca.fmax(1 - (2 * ratio - 1) ** 3, 0.1), 3.0)
    # Without a prediction the damping shrinks as for a step that decreased as predicted.
    shrink = ca.if_else(has_prediction, factor, 0.1)
    damping = state["damping"] * ca.if_else(fresh, shrink, 1.0)
    damping = ca.fmax(damping, MIN_DAMPING * mean_weight)
    length = ca.norm_2(direction)
    short = ca.fmax(1.0, damping / (INITIAL_DAMPING * mean_weight)) * length < tolerance
    blocked, pushed = stopped == 1, limited * (stopped == 2)
    releasable = ca.mmax(state["pinned"] * (1 - blocked))
    release = short * releasable * (state["releases"] < MAX_RELEASES)
    retry = ca.fmax(release, ca.mmax(pushed))
    return {
        "q": state["candidate"],
        "candidate": ca.if_else(retry, state["candidate"], next_q),
        "pinned": ca.if_else(release, 0 * pushed, ca.fmax(state["pinned"], pushed)),
        "blocked": blocked,
        "cost": cost,
        "predicted": predicted,
        "damping": damping,
        "growth": ca.SX(2),
        "use_curvature": length < NEWTON_STEP_LENGTH,
        "stop_at_limit": ca.if_else(fresh, 0.0, state["stop_at_limit"]),
        "used_curvature": state["use_curvature"] > 0,
        "retry": retry,
        "releases": state["releases"] + release,
        "steps": state["steps"],
        "converged": short * (1 - retry),
        "started": ca.SX(1),
    }


def _reject_candidate(state: dict[str, Array], limited: Array) -> dict[str, Array]:
    """Back to the best pose: first without curvature, then with more damping, ending at limits."""
    grown = ca.if_else(state["used_curvature"], 1.0, state["growth"])
    changed = {
        "candidate": state["q"],
        "damping": state["damping"] * grown,
        "growth": state["growth"] * ca.if_else(state["used_curvature"], 1.0, 2.0),
        "use_curvature": ca.SX(0),
        "stop_at_limit": limited,
        "retry": ca.SX(1),
        # A rejected step whose predicted decrease is below rounding ends the descent.
        "converged": state["predicted"] <= 1e-13 * state["cost"],
    }
    return state | changed
