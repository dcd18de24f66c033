"""Poses and person fitted together to markers: one sparse nonlinear least-squares problem.

Unknown are the poses of all frames and the person they share (Felis 2015, eq. 4.3):

    min  sum over frames, markers of w |m_measured - m(q_f, phi)|^2 / noise^2
         + (phi - mean)^T precision (phi - mean)

The second term is what is known of people before; it decides where the markers do not. Each pose
meets only its own frame and the person, so the normal equations have the shape of an arrow: poses
are eliminated frame by frame (Schur complement) and what remains is dense and small. Steps are
those of Levenberg and Marquardt, damped by the gain ratio (Nielsen 1999).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from homodyn.capture.scaling.marker_model import MarkerModel, Person

POSE_SD = 3.0
"""Spread (rad, m) of coordinates about their defaults: too wide to pull, but never singular."""
LIMIT_SD = 0.1
"""How far (rad, m) a coordinate may go beyond its limits at the cost of one deviation."""
POSE_PRIOR_DISTANCE_M = 0.01
"""Marker distance (m) that weighs as much as a coordinate ``POSE_SD`` away, in poses alone."""
MIN_RELATIVE_DAMPING = 1e-9
"""Smallest damping, relative to the diagonal."""
MAX_GAUSS_NEWTON_DAMPING = 1e-2
"""Damping below which a step is nearly that of Gauss and Newton."""


@dataclass(frozen=True, eq=False)
class PersonParameters:
    """How the numbers of a person follow from those that are free.

    First come logarithms of scales, then joint centers, last the shifts of all markers.
    """

    tie: np.ndarray
    """(3 bodies, logarithms): log scale = tie @ phi[:logarithms]."""
    centers: np.ndarray
    """Entries of all joint centers that are unknown (m)."""
    markers: int
    """Number of markers."""

    @property
    def logarithms(self) -> int:
        """How many of the unknowns are logarithms of scales."""
        return int(self.tie.shape[1])

    @property
    def shape(self) -> int:
        """How many come before the shifts of markers."""
        return self.logarithms + len(self.centers)

    @property
    def size(self) -> int:
        """Number of unknowns of the person."""
        return self.shape + 3 * self.markers

    def person(self, phi: np.ndarray) -> Person:
        """The person at some values of the unknowns."""
        centers = np.zeros(len(self.tie))
        centers[self.centers] = phi[self.logarithms : self.shape]
        return Person(
            np.exp(self.tie @ phi[: self.logarithms]).reshape(-1, 3),
            phi[self.shape :].reshape(-1, 3),
            centers.reshape(-1, 3),
        )

    def slopes(self, by_person: np.ndarray, person: Person) -> np.ndarray:
        """Derivatives by what comes before the shifts, from those by the numbers of a person."""
        count = len(self.tie)
        by_scale = by_person[..., :count] * person.scales.ravel()
        return np.concatenate([by_scale @ self.tie, by_person[..., count + self.centers]], axis=-1)


@dataclass(frozen=True, eq=False)
class CalibrationProblem:
    """What is measured and what is known before."""

    markers: MarkerModel
    unknowns: PersonParameters
    measured: np.ndarray
    """(frames, markers, 3), m; NaN where not seen."""
    mean: np.ndarray
    """(unknowns,)."""
    precision: np.ndarray
    """(unknowns, unknowns)."""
    noise: float
    """Standard deviation of a measured coordinate (m)."""
    robust: float | None = None
    """Distance (m) beyond which a marker counts less (Huber); None: never."""

    @property
    def seen(self) -> np.ndarray:
        """(frames, markers)."""
        return np.isfinite(self.measured).all(-1)


@dataclass(frozen=True, eq=False)
class CalibrationEstimate:
    """Poses and unknowns of the person, with the information that decided them."""

    q: np.ndarray
    phi: np.ndarray
    cost: float
    data_cost: float
    """The part of the cost that is due to markers."""
    residual: np.ndarray
    """(frames, markers), m; NaN where not seen."""
    iterations: int = 0
    converged: bool = False
    information: np.ndarray | None = None
    """(unknowns, unknowns): inverse posterior covariance, the poses eliminated."""
    determined_poses: float = 0.0
    """Number of pose coordinates, over all frames, that markers decided."""

    @property
    def rms(self) -> float:
        """Root of the mean squared marker distance (m)."""
        return float(np.sqrt(np.nanmean(self.residual**2)))


@dataclass(frozen=True, eq=False)
class _Normal:
    """The arrow: blocks and gradients at one point."""

    poses: np.ndarray
    mixed: np.ndarray
    person: np.ndarray
    pose_gradient: np.ndarray
    person_gradient: np.ndarray


def adjust_bundle(
    problem: CalibrationProblem,
    q: np.ndarray,
    phi: np.ndarray,
    *,
    iterations: int = 60,
    tolerance: float = 1e-4,
) -> CalibrationEstimate:
    """The most probable poses and person, from a start.

    The cost is minus a log probability, so a number means the same in every recording: it has
    converged when no step is expected to lower the cost by more than ``tolerance``.
    """
    here = _evaluate(problem, q, phi)
    normal = _normal_equations(problem, here)
    damping, growth = 1e-5, 2.0
    converged, count = False, 0
    while count < iterations and not converged:
        count += 1
        dv, dphi, expected = _step(normal, damping)
        there = _evaluate(problem, problem.markers.step(here.q, dv), here.phi + dphi)
        gain = (here.cost - there.cost) / max(expected, 1e-300)
        # A step may also be small because it is damped: that is no minimum yet.
        converged = expected < tolerance and damping < MAX_GAUSS_NEWTON_DAMPING
        if gain > 0:
            here, normal = there, _normal_equations(problem, there)
            damping = max(damping * max(1 / 3, 1 - (2 * gain - 1) ** 3) / 3, MIN_RELATIVE_DAMPING)
            growth = 2.0
        else:
            damping, growth = damping * growth, growth * 2
    _, _, own = _pose_penalty(problem.markers, here.q)
    held = own * np.diagonal(np.linalg.inv(normal.poses), axis1=1, axis2=2)
    return replace(
        here,
        iterations=count,
        converged=converged,
        information=_schur_complement(normal, 0.0)[0],
        determined_poses=float(held.size - held.sum()),
    )


def fit_poses(
    markers: MarkerModel,
    person: Person,
    measured: np.ndarray,
    q: np.ndarray,
    *,
    active: np.ndarray | None = None,
    iterations: int = 30,
) -> np.ndarray:
    """Poses fitted to each frame by itself with the person as it is; every frame has its damping.

    Only the ``active`` entries of ``v`` move; all by default.
    """
    nv = markers.model.nv
    columns = np.arange(nv) if active is None else np.flatnonzero(active)
    diagonal = np.arange(len(columns))
    seen = np.isfinite(measured).all(-1)

    def cost(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        error = np.nan_to_num(markers.positions(q, person) - measured)
        return error, (error**2).sum((-1, -2)) + 2 * POSE_PRIOR_DISTANCE_M**2 * _pose_penalty(
            markers, q
        )[0]

    damping = np.full(len(q), 1e-2)
    error, value = cost(q)
    for _ in range(iterations):
        J = markers.jacobian(q, person)[..., columns] * np.repeat(seen, 3, axis=-1)[..., None]
        H = J.swapaxes(-1, -2) @ J
        _, slope, curvature = _pose_penalty(markers, q)
        g = (error.reshape(len(q), 1, -1) @ J)[:, 0] + POSE_PRIOR_DISTANCE_M**2 * slope[:, columns]
        H[..., diagonal, diagonal] += (
            POSE_PRIOR_DISTANCE_M**2 * curvature[:, columns] + damping[:, None]
        )
        dv = np.zeros((len(q), nv))
        dv[:, columns] = -np.linalg.solve(H, g[..., None])[..., 0]
        tried = markers.step(q, dv)
        error_tried, value_tried = cost(tried)
        better = value_tried < value
        q = np.where(better[:, None], tried, q)
        error = np.where(better[:, None, None], error_tried, error)
        value = np.where(better, value_tried, value)
        damping = np.clip(np.where(better, damping / 5, damping * 4), 1e-9, 1e3)
        if np.abs(dv).max() < 1e-6:
            break
    return q


def _pose_penalty(markers: MarkerModel, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cost of poses as such, by frame, with its slope and curvature along each velocity.

    A weak pull to the neutral pose holds coordinates that no marker shows, and limits are soft:
    those of a generic model do not bind a person to the degree.
    """
    model = markers.model
    weak = np.full(model.nv, POSE_SD**-2.0)
    weak[: model.joints[0].nv] = 0.0
    away = model.difference(np.broadcast_to(model.neutral(), q.shape), q)
    plain = np.array([k for k, place in enumerate(model.position_index) if place is not None])
    places = [place for place in model.position_index if place is not None]
    beyond = np.zeros_like(away)
    if places:
        here = q[:, places]
        beyond[:, plain] = here - np.clip(here, model.lower[plain], model.upper[plain])
    beyond[:, : model.joints[0].nv] = 0.0
    stiff = LIMIT_SD**-2.0
    cost = 0.5 * (weak * away**2 + stiff * beyond**2).sum(-1)
    return cost, weak * away + stiff * beyond, weak + stiff * (beyond != 0.0)


def _evaluate(problem: CalibrationProblem, q: np.ndarray, phi: np.ndarray) -> CalibrationEstimate:
    markers = problem.markers
    person = problem.unknowns.person(phi)
    error = markers.positions(q, person) - problem.measured
    residual = np.linalg.norm(error, axis=-1)
    square = np.nan_to_num(residual) ** 2
    if problem.robust is not None:
        limit = problem.robust
        square = np.where(square > limit**2, 2 * limit * np.sqrt(square) - limit**2, square)
    off = phi - problem.mean
    data = 0.5 * square.sum() / problem.noise**2
    before = 0.5 * off @ problem.precision @ off + _pose_penalty(markers, q)[0].sum()
    return CalibrationEstimate(q, phi, float(data + before), float(data), residual)


def _normal_equations(problem: CalibrationProblem, here: CalibrationEstimate) -> _Normal:
    """Normal equations. A shift moves its own marker only, by the turn R of the body.

    Since R^T R = 1, the block of the shifts is diagonal and their products with all else are made
    marker by marker; that leaves a sixth of the work.
    """
    markers, unknowns = problem.markers, problem.unknowns
    nv, count = markers.model.nv, len(markers.markers)
    frames, shape = len(here.q), unknowns.shape
    person = unknowns.person(here.phi)
    error = np.nan_to_num(markers.positions(here.q, person) - problem.measured)
    weight = problem.seen / problem.noise**2
    if problem.robust is not None:
        # Iteratively reweighted: beyond the limit a marker pulls with constant force.
        distance = np.nan_to_num(here.residual, nan=0.0)
        weight = weight * np.minimum(1.0, problem.robust / np.maximum(distance, 1e-12))
    J = markers.jacobian(here.q, person)
    dense = np.concatenate([J[..., :nv], unknowns.slopes(J[..., nv:], person)], axis=-1)
    weighted = dense * np.repeat(weight, 3, axis=-1)[..., None]
    last = J[..., J.shape[-1] - 3 * count :].reshape(frames, count, 3, count, 3)
    turns = last[:, np.arange(count), :, np.arange(count), :].swapaxes(0, 1)

    own = dense[..., nv:]
    by_frame = weighted.swapaxes(-1, -2) @ dense[..., :nv]
    with_shifts = np.matmul(
        weighted.reshape(frames, count, 3, -1).swapaxes(-1, -2), turns
    )  # (frames, markers, pose and shape, 3)
    with_shifts = np.moveaxis(with_shifts, 1, 2).reshape(frames, nv + shape, 3 * count)
    gradient = (weighted.swapaxes(-1, -2) @ error.reshape(frames, -1, 1))[..., 0]
    pulled = (weight[..., None] * (error[:, :, None] @ turns)[:, :, 0]).sum(0)

    diagonal = np.arange(nv)
    _, slope, curvature = _pose_penalty(markers, here.q)
    poses = by_frame[:, :nv]
    poses[:, diagonal, diagonal] += curvature
    mixed = np.concatenate([by_frame[:, nv:].swapaxes(-1, -2), with_shifts[:, :nv]], axis=-1)
    whole = problem.precision.copy()
    rows = weighted[..., nv:].reshape(-1, shape)
    whole[:shape, :shape] += rows.T @ own.reshape(-1, shape)
    cross = with_shifts[:, nv:].sum(0)
    whole[:shape, shape:] += cross
    whole[shape:, :shape] += cross.T
    place = np.arange(shape, unknowns.size)
    whole[place, place] += np.repeat(weight.sum(0), 3)
    person_gradient = np.concatenate([gradient[:, nv:].sum(0), pulled.ravel()])
    off = here.phi - problem.mean
    return _Normal(
        poses,
        mixed,
        whole,
        gradient[:, :nv] + slope,
        person_gradient + problem.precision @ off,
    )


def _schur_complement(
    normal: _Normal, damping: float
) -> tuple[np.ndarray, np.ndarray, Callable[..., Any]]:
    """The person's equations with the poses eliminated, and how poses follow from the person."""
    diagonal = np.arange(normal.poses.shape[-1])
    poses = normal.poses.copy()
    poses[:, diagonal, diagonal] *= 1 + damping
    poses[:, diagonal, diagonal] += 1e-12 * poses[:, diagonal, diagonal].max(-1, keepdims=True)
    solved = np.linalg.solve(
        poses, np.concatenate([normal.mixed, normal.pose_gradient[..., None]], axis=-1)
    )
    by_person, own = solved[..., :-1], solved[..., -1]
    flat = normal.mixed.reshape(-1, normal.mixed.shape[-1])
    S = normal.person - flat.T @ by_person.reshape(flat.shape)
    S = (S + S.T) / 2 + damping * np.diag(np.diag(normal.person))
    g = normal.person_gradient - flat.T @ own.reshape(-1)
    return S, g, lambda dphi: -own - by_person @ dphi


def _step(normal: _Normal, damping: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Steps of poses and person, and by how much the cost should fall."""
    S, g, poses = _schur_complement(normal, damping)
    dphi = -np.linalg.solve(S, g)
    dv = poses(dphi)
    slope = (normal.pose_gradient * dv).sum() + normal.person_gradient @ dphi
    curved = (
        np.einsum("fi,fij,fj->", dv, normal.poses, dv)
        + 2 * np.einsum("fi,fij,j->", dv, normal.mixed, dphi)
        + dphi @ normal.person @ dphi
    )
    return dv, dphi, float(-slope - 0.5 * curved)
