"""One damped least-squares step of a pose toward measured markers, as a single traced function.

With r the vectors from model markers to measured ones and W their weights, the objective is
E(q) = 1/2 sum w |r|^2 + 1/2 sum p (goal - q)^2, and the step solves

    (J^T W J + P + damping I) dq = J^T W r + P (goal - q)

on the coordinates that are free to move (Felis 2015, section 4.4; eqs. 4.14 to 4.18 corrected). The
normal matrix of points is the mass matrix of a body whose point masses are the weights, so the
composite recursion gives it without any Jacobian, and it factorizes along the branches of the tree.
Near the minimum the curvature of the marker paths can be added (`marker_curvature`): the step is
then that of Newton, and a large residual does not slow convergence as it does in Gauss-Newton.

Kernels take the lengths of the model as their last input, so that all subjects of one generic model
share one compiled library.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
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
"""Loss of a distance: its square; square, then linear; square, then logarithmic."""


_PARAMETRIC_MODELS: ModelCache[Model] = ModelCache("models with lengths as parameters")
_MARKER_KERNELS: ModelCache[Kernel] = ModelCache("marker kernels")


@dataclass(frozen=True, eq=False)
class FrameTerms:
    """Symbols of the terms of one frame: measured markers and tracked coordinates."""

    targets: Array
    """(markers, 3), m."""
    weights: Array
    """(markers,): zero for markers that are not seen."""
    tracking_weights: Array
    """(nv,)."""
    tracking_targets: Array
    """(nv,), rad or m."""


@dataclass(frozen=True, eq=False)
class StepBounds:
    """Symbols that say which coordinates may move, and how far."""

    free: Array
    """(nv,): zero for coordinates that are fixed."""
    lower: Array
    """(nv,): infinite where there is no limit."""
    upper: Array
    """(nv,)."""


@dataclass(frozen=True, eq=False)
class StepControl:
    """Symbols that control a step."""

    damping: Array
    """Damping that does not depend on the objective."""
    curvature: Array
    """Share of the curvature of the marker paths that is added to the normal matrix."""
    stop_at_limit: Array
    """One: the whole step ends at the first limit. Zero: only that coordinate does."""
    damping_gain: Array
    """Damping per unit of the objective."""
    robust_distance: Array
    """Distance (m) from which a robust loss grows slower than the square."""


def length_parametric_model(model: Model) -> Model:
    """The model with its lengths as parameters; the same object as long as the model lives."""
    return _PARAMETRIC_MODELS.get(
        model,
        "lengths",
        lambda: with_dimension_parameters(strip_to_markers(model, [m.name for m in model.markers])),
    )


def step_kernel(model: Model, loss: str = "") -> Kernel:
    """Kernel of one damped step of one frame.

    Inputs are ``q``; ``frame``: targets (m), weights, tracking weights, tracking targets and free
    coordinates; ``setting``: lower and upper limits, damping gain and robust distance (m);
    ``control``: damping, share of the curvature and whether the step stops at limits; ``lengths``.
    See `FrameTerms`, `StepBounds` and `StepControl`.

    Outputs are the new ``q``, the ``step``, the ``cost`` before it, the ``predicted`` decrease of
    the cost by the quadratic model, and ``blocked``: 1 where a limit blocks a coordinate against
    the descent direction, 2 where it blocks it against the step only.
    """
    size, markers = model.nv, len(model.markers)

    def step(
        own: Model, q: Array, frame: Array, setting: Array, control: Array
    ) -> tuple[Array, ...]:
        parts = ca.vertsplit(frame, list(np.cumsum([0, 3 * markers, markers, *[size] * 3])))
        targets = ca.reshape(parts[0], 3, markers).T
        return damped_step(
            own,
            loss,
            q,
            FrameTerms(targets, *parts[1:4]),
            StepBounds(parts[4], setting[:size], setting[size : 2 * size]),
            StepControl(
                control[0], control[1], control[2], setting[2 * size], setting[2 * size + 1]
            ),
        )

    return length_parametric_kernel(
        model,
        f"marker step {loss}".strip(),
        step,
        {"q": model.nq, "frame": 4 * markers + 3 * size, "setting": 2 * size + 2, "control": 3},
        {"new_q": model.nq, "step": size, "cost": (), "predicted": (), "blocked": size},
    )


def normal_kernel(model: Model, loss: str = "") -> Kernel:
    """Kernel of the normal matrix, the descent direction and the cost of one frame."""
    size, markers = model.nv, len(model.markers)

    def equations(own: Model, q: Array, *terms: Array) -> tuple[Array, ...]:
        *frame, distance = terms
        return normal_equations(Tree(own, q), loss, FrameTerms(*frame), distance)[1:]

    return length_parametric_kernel(
        model,
        f"normal equations {loss}".strip(),
        equations,
        {
            "q": model.nq,
            "targets": (markers, 3),
            "weights": markers,
            "tracking_weights": size,
            "tracking_targets": size,
            "robust_distance": (),
        },
        {"matrix": (size, size), "descent": size, "cost": ()},
    )


def distance_kernel(model: Model) -> Kernel:
    """Kernel of the distance (m) of every marker from its target."""
    markers = len(model.markers)

    def distances(own: Model, q: Array, targets: Array) -> Array:
        errors = [targets[k, :].T - p for k, p in enumerate(_marker_positions(Tree(own, q)))]
        return stack(*[ca.sqrt(ca.dot(r, r)) for r in errors])

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
    """The kernel of a function of (model, inputs) with lengths as a last input, cached by model."""

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
    model: Model, loss: str, q: Array, frame: FrameTerms, bounds: StepBounds, control: StepControl
) -> tuple[Array, ...]:
    """New pose, step, cost, predicted decrease and blocked coordinates: see `step_kernel`."""
    tree = Tree(model, q)
    forces, matrix, descent, cost = normal_equations(tree, loss, frame, control.robust_distance)
    matrix = matrix + control.curvature * marker_curvature(tree, forces)
    lower, upper = bounds.lower, bounds.upper
    blocked = [ca.SX(0)] * model.nv
    entries, positions = plain_entries(model)
    for i, k in zip(entries, positions, strict=True):
        down = ca.logic_and(q[k] <= lower[i], descent[i] < 0)
        up = ca.logic_and(q[k] >= upper[i], descent[i] > 0)
        blocked[i] = ca.logic_or(down, up)
    moving = bounds.free * (1 - stack(*blocked))
    damping = control.damping + control.damping_gain * cost
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
        range_left = ca.if_else(step[i] > 0, upper[i] - q[k], lower[i] - q[k])
        crosses = ca.logic_and(control.stop_at_limit > 0, ca.fabs(step[i]) > ca.fabs(range_left))
        share = ca.fmin(share, ca.if_else(crosses, range_left / step[i], 1.0))
    slope = ca.dot(step, descent)
    predicted = share * slope - share**2 / 2 * (slope - damping * ca.dot(step, step))
    new_q = integrate(model, q, share * step)
    for i, k in zip(entries, positions, strict=True):
        within = ca.fmin(ca.fmax(new_q[k], lower[i]), upper[i])
        new_q[k] = ca.if_else(moving[i] > 0, within, q[k])
    return new_q, step, cost, predicted, stack(*blocked)


def normal_equations(
    tree: Tree, loss: str, frame: FrameTerms, robust_distance: Array
) -> tuple[list[ForceMoments], Array, Array, Array]:
    """Marker forces on each body, normal matrix, descent direction and objective."""
    model = tree.model
    none = Inertia(0.0, np.zeros(3), np.zeros((3, 3)))
    masses: list[list[Inertia]] = [[none] for _ in model.bodies]
    marker_forces: list[list[ForceMoments]] = [[ForceMoments.zero()] for _ in model.bodies]
    costs: list[Any] = [ca.SX(0)]
    for k, (marker, position) in enumerate(
        zip(model.markers, _marker_positions(tree), strict=True)
    ):
        body, local = attached_point(model, marker.name, None)
        error = frame.targets[k, :].T - position
        square = ca.dot(error, error)
        share, marker_loss = _loss(loss, square, robust_distance)
        weight = frame.weights[k] * share
        costs.append(frame.weights[k] * marker_loss / 2)
        if body >= 0:
            masses[body].append(Inertia.at_com(weight, local, np.zeros((3, 3))))
            force = weight * (tree.placements[body].E @ error)
            marker_forces[body].append(ForceMoments(force, ca.SX(local) @ force.T))
    matrix = composite_matrix(tree, [reduce(add, each) for each in masses])
    forces = [reduce(add, each) for each in marker_forces]
    descent = tree.project(tree.accumulate_inward([force.wrench() for force in forces]))
    tracking = frame.tracking_weights
    for i, k in zip(*plain_entries(model), strict=True):
        deviation = frame.tracking_targets[i] - tree.q[k]
        matrix[i, i] = matrix[i, i] + tracking[i]
        descent[i] = descent[i] + tracking[i] * deviation
        costs.append(tracking[i] * deviation * deviation / 2)
    return forces, matrix, descent, reduce(add, costs)


def _loss(loss: str, square: Array, distance: Array) -> tuple[Array, Array]:
    """Weight factor of a marker, and the loss of its squared error.

    Huber: d^2 up to the distance c, 2 c d - c^2 beyond. Cauchy: c^2 log(1 + d^2 / c^2). The factor
    is the derivative of the loss by the squared error (iteratively reweighted least squares).
    """
    if loss == "huber":
        beyond = square > distance * distance
        error = ca.sqrt(ca.if_else(beyond, square, 1.0))
        factor = ca.if_else(beyond, distance / error, 1.0)
        return factor, ca.if_else(beyond, 2 * distance * error - distance * distance, square)
    if loss == "cauchy":
        ratio = square / (distance * distance)
        return 1 / (1 + ratio), distance * distance * ca.log1p(ratio)
    return ca.SX(1), square


def _marker_positions(tree: Tree) -> list[Array]:
    """World positions of the markers."""
    positions = []
    for marker in tree.model.markers:
        body, local = attached_point(tree.model, marker.name, None)
        positions.append(local if body < 0 else tree.placements[body].point_back(local))
    return positions
