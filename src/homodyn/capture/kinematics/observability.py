"""Observability: which coordinates the visible markers determine."""

from __future__ import annotations

import casadi as ca
import numpy as np

from homodyn.capture.trial import Trial
from homodyn.dynamics.kinematics import attached_point, body_jacobians
from homodyn.dynamics.tree import Tree
from homodyn.errors import CaptureError
from homodyn.foundation.text import unknown_name
from homodyn.model import Model
from homodyn.model.configuration import clamp
from homodyn.model.state_function import state_function
from homodyn.spatial import Array

RANK_TOLERANCE = 1e-9
"""Share of the largest eigenvalue of J^T J below which a direction counts as not observed."""
GENERIC_POSE_COUNT = 3
"""Random poses at which the rank is evaluated."""
POSE_SPREAD = 0.4
"""Largest deviation (rad, m) of these from neutral, where straight limbs may hide a rotation."""


@state_function(q="nq", returns={"jacobian": lambda model: (3 * len(model.markers), model.nv)})
def marker_jacobian(model: Model, q: Array) -> Array:
    """(..., 3 markers, nv): derivative of the marker positions by the coordinates."""
    tree = Tree(model, q)
    points = [attached_point(model, marker.name, None) for marker in model.markers]
    return ca.vertcat(*[body_jacobians(tree, body, local)[1] for body, local in points])


def marker_rank(model: Model, q: np.ndarray, markers: tuple[str, ...] | None = None) -> int:
    """Number of degrees of freedom that markers determine at a pose.

    Args:
        model: The model.
        q: (nq,): the pose.
        markers: Names of the markers; all when left out.

    Returns:
        Rank of the marker Jacobian.

    Raises:
        CaptureError: A marker is unknown.
    """
    names = [marker.name for marker in model.markers]
    for name in markers or ():
        if name not in names:
            raise CaptureError(f"model {model.name!r} has {unknown_name('marker', name, names)}")
    chosen = [k for k, name in enumerate(names) if markers is None or name in markers]
    J = marker_jacobian(model, np.asarray(q, dtype=float)).reshape(-1, 3, model.nv)
    J = J[chosen].reshape(-1, model.nv)
    values = np.linalg.svd(J, compute_uv=False)
    return int(np.sum(values > np.sqrt(RANK_TOLERANCE) * values.max(initial=0.0)))


def undetermined_coordinates(
    model: Model, weights: np.ndarray, tracking_weights: np.ndarray, fixed: np.ndarray
) -> np.ndarray:
    """Coordinates that must be fixed so that the others are determined.

    The rank is evaluated at random poses, since one pose may hide what another shows.

    Args:
        model: The model.
        weights: (patterns, markers): marker weights of each pattern of visible markers.
        tracking_weights: (patterns, nv): weights of tracked coordinates.
        fixed: (nv,): True for coordinates that do not move anyway.

    Returns:
        (patterns, nv): True for coordinates that the pattern leaves undetermined.
    """
    size, poses = model.nv, GENERIC_POSE_COUNT
    J = marker_jacobian(model, generic_poses(model)).reshape(poses, -1, 3, size)
    moving = ~fixed
    squares = J.transpose(0, 1, 3, 2) @ J
    undetermined = np.zeros((len(weights), size), dtype=bool)
    singular = ~_is_definite(squares[0], weights, tracking_weights, fixed)
    for n in np.flatnonzero(singular):
        H = np.einsum("m,pmij->pij", weights[n], squares) + np.diag(tracking_weights[n])
        candidates = moving & (np.diagonal(H, axis1=1, axis2=2).max(0) > 0)
        undetermined[n] = moving & ~candidates
        while candidates.any():
            kept = np.flatnonzero(candidates)
            values, vectors = np.linalg.eigh(H[:, kept[:, None], kept])
            null = values < RANK_TOLERANCE * values[:, -1:]
            # What one of the poses shows is determined, though it may be ill-conditioned in others.
            if null.sum(-1).min() == 0:
                break
            share = np.einsum("pij,pj->i", vectors**2, null) / poses
            worst = kept[int(np.argmax(np.round(share, 9)))]
            candidates[worst] = False
            undetermined[n, worst] = True
    return undetermined


def _is_definite(
    squares: np.ndarray, weights: np.ndarray, tracking_weights: np.ndarray, fixed: np.ndarray
) -> np.ndarray:
    """(patterns,): whether one pose determines everything, by the pivots of a factorization.

    Eigenvalues cost many times more, and most patterns determine all coordinates.
    """
    size = len(fixed)
    H = np.einsum("nm,mij->nij", weights, squares, optimize=True)
    index = np.arange(size)
    H[:, index, index] += tracking_weights
    H = np.where(fixed[:, None] | fixed, np.eye(size), H)
    floor = RANK_TOLERANCE * np.trace(H, axis1=1, axis2=2)
    H[:, index, index] -= floor[:, None]
    definite = np.ones(len(H), dtype=bool)
    for k in range(size):
        pivot = H[:, k, k]
        definite &= pivot > 0
        column = H[:, k + 1 :, k] / np.where(pivot > 0, pivot, np.inf)[:, None]
        H[:, k + 1 :, k + 1 :] -= column[:, :, None] * H[:, None, k, k + 1 :]
    return definite


def generic_poses(model: Model) -> np.ndarray:
    """A few random poses about neutral, within limits, the same at every call."""
    rng = np.random.default_rng(0)
    steps = rng.uniform(-POSE_SPREAD, POSE_SPREAD, (GENERIC_POSE_COUNT, model.nv))
    return clamp(model, model.integrate(model.neutral(), steps))


def visibility_patterns(seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct rows of a visibility mask, and the index of the row of each frame."""
    if (seen == seen[0]).all():
        return seen[:1], np.zeros(len(seen), dtype=int)
    packed, index = np.unique(np.packbits(seen, axis=1), axis=0, return_inverse=True)
    return np.unpackbits(packed, axis=1, count=seen.shape[1]).astype(bool), index.ravel()


def common_markers(model: Model, trial: Trial) -> tuple[list[int], list[int]]:
    """Indices in the model and in the trial of the markers that both have."""
    names = {label: k for k, label in enumerate(trial.markers)}
    pairs = [(k, names[m.name]) for k, m in enumerate(model.markers) if m.name in names]
    return [a for a, _ in pairs], [b for _, b in pairs]
