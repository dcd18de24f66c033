"""One damped least-squares step of a pose towards measured markers, as a single traced function.

With r the vectors from model markers to measured ones and W their weights, the objective is
E(q) = 1/2 sum w |r|^2 + 1/2 sum p (goal - q)^2, and the step solves

    (J^T W J + P + damping I) dq = J^T W r + P (goal - q)

on the coordinates that are free to move (Felis 2015, section 4.4; eqs. 4.14 to 4.18 corrected). The
normal matrix of points is the mass matrix of a body whose point masses are the weights, so the
composite recursion gives it without any Jacobian, and it factorises along the branches of the tree.
Near the end the curvature of the marker paths may be added (`marker_curvature`): what is left of
the distances then slows no step, as it does with Gauss and Newton's.

Kernels take the lengths of the model as their last input, so that all people of one build share
one compiled library.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from operator import add
from typing import Any

import casadi as ca
import numpy as np

from homodyn.capture.kinematics.marker_curvature import ForceMoments, marker_curvature
from homodyn.capture.scaling.marker_model import strip_to_markers
from homodyn.dynamics.crba import composite_matrix
from homodyn.dynamics.kinematics import attached_point
from homodyn.dynamics.mass_factor import factorize_mass_matrix
from homodyn.dynamics.tree import Tree
from homodyn.model import Model
from homodyn.model.configuration import integrate, plain_entries
from homodyn.model.model_cache import ModelCache
from homodyn.model.shared_kernels import with_dimension_parameters
from homodyn.spatial import Array, Inertia, stack
from homodyn.symbolic import Kernel
from homodyn.symbolic.trace import Shape, trace

LOSSES = ("", "huber", "cauchy")
"""What a distance costs: its square; its square, then itself; its square, then its logarithm."""


_PARAMETRIC_MODELS: ModelCache[Model] = ModelCache("models with lengths as parameters")
_MARKER_KERNELS: ModelCache[Kernel] = ModelCache("marker kernels")


def length_parametric_model(model: Model) -> Model:
    """The model with its lengths as parameters; the same one as long as the model lives."""
    return _PARAMETRIC_MODELS.get(
        model,
        "lengths",
        lambda: with_dimension_parameters(strip_to_markers(model, [m.name for m in model.markers])),
    )


def step_kernel(model: Model, loss: str = "") -> Kernel:
    """(q, frame, setting, mood, lengths) -> (moved q, step, cost, promised, blocked) of one frame.

    ``frame`` joins targets (m), weights, pull, goal and free: what is there to be fitted.
    ``weights`` are zero for markers that were not seen, ``free`` is zero for coordinates that are
    not to move. ``setting`` joins lower and upper limits, infinite where there are none, ``gain``
    and ``scale``; ``mood`` joins ``floor``, ``bend`` and ``halt``. The damping is ``floor`` plus
    ``gain`` times the objective, a robust loss bends at ``scale`` (m), and ``bend`` is the share of
    the paths' curvature that counts. A coordinate that would pass its limit stops there alone, or
    stops all the others with it if ``halt`` is one. ``promised`` is how much of the objective the
    step would take away were the model linear. ``blocked`` is one where a limit holds a coordinate
    against the descent, and two where it alone holds it against the step.
    """
    size, markers = model.nv, len(model.markers)

    def step(own: Model, q: Array, frame: Array, setting: Array, mood: Array) -> tuple[Array, ...]:
        parts = ca.vertsplit(frame, list(np.cumsum([0, 3 * markers, markers, *[size] * 3])))
        targets = ca.reshape(parts[0], 3, markers).T
        rest: list[Array] = [*parts[1:], setting[:size], setting[size : 2 * size]]
        rest += [mood[0], mood[1], mood[2], setting[2 * size], setting[2 * size + 1]]
        return damped_step(own, loss, q, targets, *rest)

    return length_parametric_kernel(
        model,
        f"marker step {loss}".strip(),
        step,
        {"q": model.nq, "frame": 4 * markers + 3 * size, "setting": 2 * size + 2, "mood": 3},
        {"moved": model.nq, "step": size, "cost": (), "promised": (), "blocked": size},
    )


def normal_kernel(model: Model, loss: str = "") -> Kernel:
    """(q, targets, weights, pull, goal, scale, lengths) -> normal matrix, descent and cost."""
    size, markers = model.nv, len(model.markers)

    def equations(own: Model, *arrays: Array) -> tuple[Array, ...]:
        return _normal_equations(own, loss, *arrays)

    return length_parametric_kernel(
        model,
        f"normal equations {loss}".strip(),
        equations,
        {
            "q": model.nq,
            "targets": (markers, 3),
            "weights": markers,
            "pull": size,
            "goal": size,
            "scale": (),
        },
        {"matrix": (size, size), "descent": size, "cost": ()},
    )


def distance_kernel(model: Model) -> Kernel:
    """(q, targets, lengths) -> distance of every marker from its target (m)."""
    markers = len(model.markers)

    def distances(own: Model, q: Array, targets: Array) -> Array:
        away = [targets[k, :].T - p for k, p in enumerate(_marker_places(Tree(own, q)))]
        return stack(*[ca.sqrt(ca.dot(r, r)) for r in away])

    return length_parametric_kernel(
        model,
        "marker distances",
        distances,
        {"q": model.nq, "targets": (markers, 3)},
        {"distances": markers},
    )


def length_parametric_kernel(
    model: Model,
    what: str,
    function: Callable[..., Any],
    inputs: Mapping[str, int | Shape],
    outputs: Mapping[str, int | Shape],
) -> Kernel:
    """The kernel of a function of (model, inputs) with lengths as a last input, kept with it."""

    def build() -> Kernel:
        own = length_parametric_model(model)
        shapes = {**inputs, "lengths": len(own.parameters)}
        return Kernel(
            trace(
                lambda *arrays: function(own, *arrays[:-1]),
                shapes,
                outputs,
                f"{what} of {model.name}",
                given={"lengths": own.parameter_symbols},
            )
        )

    return _MARKER_KERNELS.get(model, what, build)


def damped_step(
    model: Model,
    loss: str,
    q: Array,
    targets: Array,
    weights: Array,
    pull: Array,
    goal: Array,
    free: Array,
    lower: Array,
    upper: Array,
    floor: Array,
    bend: Array,
    halt: Array,
    gain: Array,
    scale: Array,
) -> tuple[Array, ...]:
    """Moved pose, step, cost, what the step promised and what blocked it: see `step_kernel`."""
    tree = Tree(model, q)
    forces, matrix, descent, cost = _equations(tree, loss, targets, weights, pull, goal, scale)
    matrix = matrix + bend * marker_curvature(tree, forces)
    blocked = [ca.SX(0)] * model.nv
    entries, positions = plain_entries(model)
    for i, k in zip(entries, positions, strict=True):
        down = ca.logic_and(q[k] <= lower[i], descent[i] < 0)
        up = ca.logic_and(q[k] >= upper[i], descent[i] > 0)
        blocked[i] = ca.logic_or(down, up)
    moving = free * (1 - stack(*blocked))
    damping = floor + gain * cost
    masked = ca.SX(model.nv, model.nv)
    for i, j in zip(*matrix.sparsity().get_triplet(), strict=True):
        if i != j:
            masked[i, j] = matrix[i, j] * (moving[i] * moving[j])
    for i in range(model.nv):
        masked[i, i] = ca.if_else(moving[i] > 0, matrix[i, i] + damping, 1.0)
    step = factorize_mass_matrix(tree, masked).solve(moving * descent) * moving
    share: Array = 1.0
    for i, k in zip(entries, positions, strict=True):
        down = ca.logic_and(q[k] <= lower[i], step[i] < 0)
        up = ca.logic_and(q[k] >= upper[i], step[i] > 0)
        blocked[i] = blocked[i] + 2 * ca.logic_or(down, up)
        room = ca.if_else(step[i] > 0, upper[i] - q[k], lower[i] - q[k])
        crosses = ca.logic_and(halt > 0, ca.fabs(step[i]) > ca.fabs(room))
        share = ca.fmin(share, ca.if_else(crosses, room / step[i], 1.0))
    slope = ca.dot(step, descent)
    promised = share * slope - share**2 / 2 * (slope - damping * ca.dot(step, step))
    moved = integrate(model, q, share * step)
    for i, k in zip(entries, positions, strict=True):
        inside = ca.fmin(ca.fmax(moved[k], lower[i]), upper[i])
        moved[k] = ca.if_else(moving[i] > 0, inside, q[k])
    return moved, step, cost, promised, stack(*blocked)


def _normal_equations(
    model: Model,
    loss: str,
    q: Array,
    targets: Array,
    weights: Array,
    pull: Array,
    goal: Array,
    scale: Array,
) -> tuple[Array, ...]:
    return _equations(Tree(model, q), loss, targets, weights, pull, goal, scale)[1:]


def _equations(
    tree: Tree,
    loss: str,
    targets: Array,
    weights: Array,
    pull: Array,
    goal: Array,
    scale: Array,
) -> tuple[list[ForceMoments], Array, Array, Array]:
    """Pulls of the markers on each body, normal matrix, descent direction and objective."""
    model = tree.model
    none = Inertia(0.0, np.zeros(3), np.zeros((3, 3)))
    masses: list[list[Inertia]] = [[none] for _ in model.bodies]
    pulls: list[list[ForceMoments]] = [[ForceMoments.zero()] for _ in model.bodies]
    costs: list[Any] = [ca.SX(0)]
    for k, (marker, place) in enumerate(zip(model.markers, _marker_places(tree), strict=True)):
        body, local = attached_point(model, marker.name, None)
        away = targets[k, :].T - place
        square = ca.dot(away, away)
        share, lost = _loss(loss, square, scale)
        weight = weights[k] * share
        costs.append(weights[k] * lost / 2)
        if body >= 0:
            masses[body].append(Inertia.at_com(weight, local, np.zeros((3, 3))))
            push = weight * (tree.placements[body].E @ away)
            pulls[body].append(ForceMoments(push, ca.SX(local) @ push.T))
    matrix = composite_matrix(tree, [reduce(add, each) for each in masses])
    forces = [reduce(add, each) for each in pulls]
    descent = tree.project(tree.accumulate_inward([force.wrench() for force in forces]))
    for i, k in zip(*plain_entries(model), strict=True):
        gap = goal[i] - tree.q[k]
        matrix[i, i] = matrix[i, i] + pull[i]
        descent[i] = descent[i] + pull[i] * gap
        costs.append(pull[i] * gap * gap / 2)
    return forces, matrix, descent, reduce(add, costs)


def _loss(loss: str, square: Array, scale: Array) -> tuple[Array, Array]:
    """Share of its weight that a marker keeps, and what its squared distance counts as.

    Huber: d^2 up to the scale c, 2 c d - c^2 beyond. Cauchy: c^2 log(1 + d^2 / c^2). The share is
    the derivative of the second by the squared distance (iteratively reweighted least squares).
    """
    if loss == "huber":
        far = square > scale * scale
        distance = ca.sqrt(ca.if_else(far, square, 1.0))
        share = ca.if_else(far, scale / distance, 1.0)
        return share, ca.if_else(far, 2 * scale * distance - scale * scale, square)
    if loss == "cauchy":
        ratio = square / (scale * scale)
        return 1 / (1 + ratio), scale * scale * ca.log1p(ratio)
    return ca.SX(1), square


def _marker_places(tree: Tree) -> list[Array]:
    """World positions of the markers."""
    places = []
    for marker in tree.model.markers:
        body, local = attached_point(tree.model, marker.name, None)
        places.append(local if body < 0 else tree.placements[body].point_back(local))
    return places
