"""Bundle adjustment: poses and geometry of a person from markers, in one sparse problem.

The unknowns are the poses of all frames and the parameters phi of the person, which all frames
share (Felis 2015, eq. 4.3):

    min  sum over frames, markers of w |m_measured - m(q_f, phi)|^2 / noise^2
         + (phi - mean)^T precision (phi - mean)

The second term is the prior; it determines what the markers do not. Each pose couples only with its
own frame and with phi, so the normal equations have the shape of an arrow: poses are eliminated
frame by frame (Schur complement), and the remaining system is dense and small. Steps are
Levenberg-Marquardt steps, damped by the gain ratio (Nielsen 1999).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from homodyn.capture.scaling.marker_model import MarkerModel, Person

POSE_SD = 3.0
"""Standard deviation (rad, m) of coordinates about their defaults: weak, but never singular."""
LIMIT_SD = 0.1
"""Standard deviation (rad, m) of a coordinate beyond its limits."""
POSE_PRIOR_DISTANCE_M = 0.01
"""Marker error (m) that costs as much as a deviation of ``POSE_SD``, when only poses are fitted."""
MIN_RELATIVE_DAMPING = 1e-9
"""Smallest damping, relative to the diagonal."""
MAX_GAUSS_NEWTON_DAMPING = 1e-2
"""Damping below which a step is nearly a Gauss-Newton step."""


@dataclass(frozen=True, eq=False)
class PersonParameters:
    """Layout of the unknowns phi: logarithms of scales, joint centers, offsets, artifacts."""

    tie: np.ndarray
    """(3 bodies, logarithms): log scale = tie @ phi[:logarithms]."""
    centers: np.ndarray
    """Indices of the unknown entries among all joint centers."""
    markers: int
    """Number of markers."""
    features: int = 0
    """Features of the pose that soft-tissue artifacts depend on."""

    @property
    def logarithms(self) -> int:
        """Number of unknowns that are logarithms of scales."""
        return int(self.tie.shape[1])

    @property
    def shape(self) -> int:
        """Number of unknowns before the marker offsets."""
        return self.logarithms + len(self.centers)

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return self.shape + 3 * self.markers * (1 + self.features)

    @property
    def offsets(self) -> slice:
        """The unknowns that are marker offsets."""
        return slice(self.shape, self.shape + 3 * self.markers)

    def artifacts(self, phi: np.ndarray) -> np.ndarray:
        """(features, markers, 3), m/rad: soft-tissue artifacts per feature."""
        return phi[self.offsets.stop :].reshape(self.features, self.markers, 3)

    def person(self, phi: np.ndarray) -> Person:
        """The geometry of the person for values of the unknowns (size,)."""
        centers = np.zeros(len(self.tie))
        centers[self.centers] = phi[self.logarithms : self.shape]
        return Person(
            np.exp(self.tie @ phi[: self.logarithms]).reshape(-1, 3),
            phi[self.offsets].reshape(-1, 3),
            centers.reshape(-1, 3),
        )

    def slopes(self, by_person: np.ndarray, person: Person) -> np.ndarray:
        """Derivatives by the unknowns before the marker offsets, from those by `Person.flat`."""
        count = len(self.tie)
        by_scale = by_person[..., :count] * person.scales.ravel()
        return np.concatenate([by_scale @ self.tie, by_person[..., count + self.centers]], axis=-1)


class Evidence(Protocol):
    """Knowledge about the person beside markers and prior, as residuals of unit variance."""

    def residual(self, phi: np.ndarray) -> np.ndarray:
        """Residuals for values of the unknowns (size,)."""

    def jacobian(self, phi: np.ndarray) -> np.ndarray:
        """Derivatives (residuals, size)."""


class PoseEvidence(Protocol):
    """Knowledge about the poses beside markers and prior, as residuals of unit variance."""

    def residual(self, q: np.ndarray) -> np.ndarray:
        """Residuals (frames, residuals) for poses (frames, nq)."""

    def jacobian(self, q: np.ndarray) -> np.ndarray:
        """Derivatives (frames, residuals, nv) by velocities."""


@dataclass(frozen=True, eq=False)
class CalibrationProblem:
    """Measured markers and the prior of a calibration."""

    markers: MarkerModel
    unknowns: PersonParameters
    measured: np.ndarray
    """(frames, markers, 3), m; NaN where not seen."""
    mean: np.ndarray
    """(unknowns,): mean of the prior."""
    precision: np.ndarray
    """(unknowns, unknowns): inverse covariance of the prior."""
    noise: np.ndarray
    """(markers,): standard deviation of a measured coordinate (m)."""
    huber_distance: float | None = None
    """Error (m) beyond which the influence of a marker is reduced (Huber); None: least squares."""
    evidence: tuple[Evidence, ...] = ()
    """Further knowledge about the person."""
    pose_evidence: tuple[PoseEvidence, ...] = ()
    """Further knowledge about the poses."""
    features: np.ndarray = field(default_factory=lambda: np.zeros((1, 1, 0)))
    """(frames, markers, features), rad: what the soft-tissue artifacts of each marker depend on."""

    def positions(self, q: np.ndarray, phi: np.ndarray) -> np.ndarray:
        """World positions (frames, markers, 3) of the markers with their artifacts, m."""
        return self.markers.positions(q, self.unknowns.person(phi), self.artifacts(phi))

    def artifacts(self, phi: np.ndarray) -> np.ndarray:
        """(frames, markers, 3), m: displacements of the markers in the axes of their bodies."""
        displacement: np.ndarray = np.einsum(
            "fmk,kmi->fmi", self.features, self.unknowns.artifacts(phi)
        )
        return displacement

    @property
    def seen(self) -> np.ndarray:
        """(frames, markers)."""
        return np.isfinite(self.measured).all(-1)


@dataclass(frozen=True, eq=False)
class CalibrationEstimate:
    """Estimated poses and parameters, with the information matrix."""

    q: np.ndarray
    """(frames, nq)."""
    phi: np.ndarray
    """(unknowns,)."""
    cost: float
    """Negative log probability, up to a constant."""
    data_cost: float
    """The part of the cost that is due to markers."""
    residual: np.ndarray
    """(frames, markers), m; NaN where not seen."""
    iterations: int = 0
    converged: bool = False
    information: np.ndarray | None = None
    """(unknowns, unknowns): inverse posterior covariance, the poses eliminated."""
    determined_poses: float = 0.0
    """Number of pose coordinates, over all frames, that the markers determine."""

    @property
    def rms(self) -> float:
        """Root of the mean squared marker distance (m)."""
        return float(np.sqrt(np.nanmean(self.residual**2)))


@dataclass(frozen=True, eq=False)
class _NormalBlocks:
    """Blocks and gradients of the arrow-shaped normal equations at one point."""

    poses: np.ndarray
    """(frames, nv, nv)."""
    mixed: np.ndarray
    """(frames, nv, unknowns)."""
    person: np.ndarray
    """(unknowns, unknowns)."""
    pose_gradient: np.ndarray
    """(frames, nv)."""
    person_gradient: np.ndarray
    """(unknowns,)."""


def adjust_bundle(
    problem: CalibrationProblem,
    q: np.ndarray,
    phi: np.ndarray,
    *,
    iterations: int = 60,
    tolerance: float = 1e-4,
) -> CalibrationEstimate:
    """The most probable poses and parameters, from initial values.

    The cost is a negative log probability, so its scale is the same for every recording: the
    estimate has converged when no step is expected to lower the cost by more than ``tolerance``.

    Args:
        problem: Measured markers and prior.
        q: (frames, nq): initial poses.
        phi: (unknowns,): initial parameters.
        iterations: Largest number of iterations.
        tolerance: Expected decrease of the cost at convergence.

    Returns:
        The estimate with its information matrix.
    """
    estimate = _evaluate(problem, q, phi)
    normal = _normal_equations(problem, estimate)
    damping, growth = 1e-5, 2.0
    converged, count = False, 0
    while count < iterations and not converged:
        count += 1
        dv, dphi, expected = _step(normal, damping)
        candidate = _evaluate(problem, problem.markers.step(estimate.q, dv), estimate.phi + dphi)
        gain = (estimate.cost - candidate.cost) / max(expected, 1e-300)
        # A small step at strong damping is no sign of a minimum.
        converged = expected < tolerance and damping < MAX_GAUSS_NEWTON_DAMPING
        if gain > 0:
            estimate, normal = candidate, _normal_equations(problem, candidate)
            damping = max(damping * max(1 / 3, 1 - (2 * gain - 1) ** 3) / 3, MIN_RELATIVE_DAMPING)
            growth = 2.0
        else:
            damping, growth = damping * growth, growth * 2
    _, _, prior_curvature = _pose_penalty(problem.markers, estimate.q)
    by_prior = prior_curvature * np.diagonal(np.linalg.inv(normal.poses), axis1=1, axis2=2)
    return replace(
        estimate,
        iterations=count,
        converged=converged,
        information=_schur_complement(normal, 0.0)[0],
        determined_poses=float(by_prior.size - by_prior.sum()),
    )


def fit_poses(
    markers: MarkerModel,
    person: Person,
    measured: np.ndarray,
    q: np.ndarray,
    *,
    active: np.ndarray | None = None,
    deviations: np.ndarray | None = None,
    evidence: PoseEvidence | None = None,
    iterations: int = 30,
) -> np.ndarray:
    """Fit the poses of each frame separately, with the geometry of the person fixed.

    Args:
        markers: The recorded markers as functions of pose and person.
        person: Geometry of the person.
        measured: (frames, markers, 3), m; NaN where not seen.
        q: (frames, nq): initial poses.
        active: (nv,): mask of the entries of v that move; all by default.
        deviations: (markers,), m: standard deviations of the marker errors; all alike by default.
        evidence: Further knowledge about the poses.
        iterations: Largest number of iterations.

    Returns:
        (frames, nq).
    """
    nv = markers.model.nv
    weight = np.ones(measured.shape[1])
    if deviations is not None:
        weight = (POSE_PRIOR_DISTANCE_M / deviations) ** 2
    columns = np.arange(nv) if active is None else np.flatnonzero(active)
    diagonal = np.arange(len(columns))
    seen = np.isfinite(measured).all(-1)

    def cost(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        error = np.nan_to_num(markers.positions(q, person) - measured)
        penalty = 2 * _pose_penalty(markers, q)[0]
        if evidence is not None:
            penalty = penalty + (evidence.residual(q) ** 2).sum(-1)
        square = (weight[:, None] * error**2).sum((-1, -2))
        return error, square + POSE_PRIOR_DISTANCE_M**2 * penalty

    damping = np.full(len(q), 1e-2)
    error, value = cost(q)
    for _ in range(iterations):
        J = markers.jacobian(q, person)[..., columns]
        weighted = J * np.repeat(seen * weight, 3, axis=-1)[..., None]
        H = J.swapaxes(-1, -2) @ weighted
        _, slope, curvature = _pose_penalty(markers, q)
        g = (error.reshape(len(q), 1, -1) @ weighted)[:, 0]
        g += POSE_PRIOR_DISTANCE_M**2 * slope[:, columns]
        if evidence is not None:
            by_pose = evidence.jacobian(q)[..., columns].swapaxes(-1, -2)
            H += POSE_PRIOR_DISTANCE_M**2 * by_pose @ by_pose.swapaxes(-1, -2)
            g += POSE_PRIOR_DISTANCE_M**2 * (by_pose @ evidence.residual(q)[..., None])[..., 0]
        H[..., diagonal, diagonal] += (
            POSE_PRIOR_DISTANCE_M**2 * curvature[:, columns] + damping[:, None]
        )
        dv = np.zeros((len(q), nv))
        dv[:, columns] = -np.linalg.solve(H, g[..., None])[..., 0]
        candidate = markers.step(q, dv)
        new_error, new_value = cost(candidate)
        better = new_value < value
        q = np.where(better[:, None], candidate, q)
        error = np.where(better[:, None, None], new_error, error)
        value = np.where(better, new_value, value)
        damping = np.clip(np.where(better, damping / 5, damping * 4), 1e-9, 1e3)
        if np.abs(dv).max() < 1e-6:
            break
    return q


def _pose_penalty(markers: MarkerModel, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Prior cost of poses by frame, with its gradient and curvature along each velocity.

    A weak pull to the neutral pose determines coordinates that no marker shows. Limits are soft:
    those of a generic model are not exact for a person.
    """
    model = markers.model
    precision = np.full(model.nv, POSE_SD**-2.0)
    precision[: model.joints[0].nv] = 0.0
    deviation = model.difference(np.broadcast_to(model.neutral(), q.shape), q)
    plain = np.array([k for k, index in enumerate(model.position_index) if index is not None])
    positions = [index for index in model.position_index if index is not None]
    beyond = np.zeros_like(deviation)
    if positions:
        values = q[:, positions]
        beyond[:, plain] = values - np.clip(values, model.lower[plain], model.upper[plain])
    beyond[:, : model.joints[0].nv] = 0.0
    stiff = LIMIT_SD**-2.0
    cost = 0.5 * (precision * deviation**2 + stiff * beyond**2).sum(-1)
    gradient = precision * deviation + stiff * beyond
    return cost, gradient, precision + stiff * (beyond != 0.0)


def _evaluate(problem: CalibrationProblem, q: np.ndarray, phi: np.ndarray) -> CalibrationEstimate:
    markers = problem.markers
    error = problem.positions(q, phi) - problem.measured
    residual = np.linalg.norm(error, axis=-1)
    square = np.nan_to_num(residual) ** 2
    if problem.huber_distance is not None:
        limit = problem.huber_distance
        square = np.where(square > limit**2, 2 * limit * np.sqrt(square) - limit**2, square)
    deviation = phi - problem.mean
    data = 0.5 * (square / problem.noise**2).sum()
    prior = 0.5 * deviation @ problem.precision @ deviation + _pose_penalty(markers, q)[0].sum()
    prior += 0.5 * sum((one.residual(phi) ** 2).sum() for one in problem.evidence)
    prior += 0.5 * sum((each.residual(q) ** 2).sum() for each in problem.pose_evidence)
    return CalibrationEstimate(q, phi, float(data + prior), float(data), residual)


def _normal_equations(problem: CalibrationProblem, estimate: CalibrationEstimate) -> _NormalBlocks:
    """Blocks of the normal equations.

    The offset of a marker moves this marker only, by the rotation R of its body. Since R^T R = 1,
    the block of the offsets is diagonal, and their products with all other unknowns are computed
    marker by marker, which saves five sixths of the work.
    """
    markers, unknowns = problem.markers, problem.unknowns
    nv, count = markers.model.nv, len(markers.markers)
    frames, shape = len(estimate.q), unknowns.shape
    person = unknowns.person(estimate.phi)
    error = np.nan_to_num(problem.positions(estimate.q, estimate.phi) - problem.measured)
    weight = _marker_weights(problem, estimate)
    J = markers.jacobian(estimate.q, person, problem.artifacts(estimate.phi))
    features = np.broadcast_to(problem.features, (frames, count, unknowns.features))
    basis = np.concatenate([np.ones((frames, count, 1)), features], axis=-1)
    dense = np.concatenate([J[..., :nv], unknowns.slopes(J[..., nv:], person)], axis=-1)
    weighted = dense * np.repeat(weight, 3, axis=-1)[..., None]
    last = J[..., J.shape[-1] - 3 * count :].reshape(frames, count, 3, count, 3)
    rotations = last[:, np.arange(count), :, np.arange(count), :].swapaxes(0, 1)

    own = dense[..., nv:]
    by_frame = weighted.swapaxes(-1, -2) @ dense[..., :nv]
    with_offsets = np.matmul(
        weighted.reshape(frames, count, 3, -1).swapaxes(-1, -2), rotations
    )  # (frames, markers, pose and shape, 3)
    with_offsets = np.moveaxis(with_offsets, 1, 2)  # (frames, pose and shape, markers, 3)
    with_offsets = np.einsum("fpmi,fmk->fpkmi", with_offsets, basis)
    with_offsets = with_offsets.reshape(frames, nv + shape, unknowns.size - shape)
    gradient = (weighted.swapaxes(-1, -2) @ error.reshape(frames, -1, 1))[..., 0]
    local_error = weight[..., None] * (error[:, :, None] @ rotations)[:, :, 0]
    offset_gradient = np.einsum("fmi,fmk->kmi", local_error, basis)

    diagonal = np.arange(nv)
    _, slope, curvature = _pose_penalty(markers, estimate.q)
    poses = by_frame[:, :nv]
    poses[:, diagonal, diagonal] += curvature
    for each in problem.pose_evidence:
        by_pose = each.jacobian(estimate.q).swapaxes(-1, -2)
        poses = poses + by_pose @ by_pose.swapaxes(-1, -2)
        slope = slope + (by_pose @ each.residual(estimate.q)[..., None])[..., 0]
    mixed = np.concatenate([by_frame[:, nv:].swapaxes(-1, -2), with_offsets[:, :nv]], axis=-1)
    block = problem.precision.copy()
    rows = weighted[..., nv:].reshape(-1, shape)
    block[:shape, :shape] += rows.T @ own.reshape(-1, shape)
    cross = with_offsets[:, nv:].sum(0)
    block[:shape, shape:] += cross
    block[shape:, :shape] += cross.T
    products = np.einsum("fm,fmk,fml->klm", weight, basis, basis)
    offsets = np.arange(shape, unknowns.size).reshape(-1, 3 * count)
    for k, entries in enumerate(offsets):
        for others, product in zip(offsets, products[k], strict=True):
            block[entries, others] += np.repeat(product, 3)
    person_gradient = np.concatenate([gradient[:, nv:].sum(0), offset_gradient.ravel()])
    person_gradient += problem.precision @ (estimate.phi - problem.mean)
    for one in problem.evidence:
        slopes = one.jacobian(estimate.phi)
        block += slopes.T @ slopes
        person_gradient += slopes.T @ one.residual(estimate.phi)
    return _NormalBlocks(poses, mixed, block, gradient[:, :nv] + slope, person_gradient)


def _marker_weights(problem: CalibrationProblem, estimate: CalibrationEstimate) -> np.ndarray:
    """(frames, markers): inverse variances, reduced for outliers (iteratively reweighted)."""
    weight = problem.seen / problem.noise**2
    if problem.huber_distance is None:
        return weight
    distance = np.nan_to_num(estimate.residual, nan=0.0)
    return weight * np.minimum(1.0, problem.huber_distance / np.maximum(distance, 1e-12))


def _schur_complement(
    normal: _NormalBlocks, damping: float
) -> tuple[np.ndarray, np.ndarray, Callable[..., Any]]:
    """Matrix and gradient of phi without the poses, and the pose steps for a step of phi."""
    diagonal = np.arange(normal.poses.shape[-1])
    poses = normal.poses.copy()
    poses[:, diagonal, diagonal] *= 1 + damping
    poses[:, diagonal, diagonal] += 1e-12 * poses[:, diagonal, diagonal].max(-1, keepdims=True)
    solution = np.linalg.solve(
        poses, np.concatenate([normal.mixed, normal.pose_gradient[..., None]], axis=-1)
    )
    by_person, own = solution[..., :-1], solution[..., -1]
    flat = normal.mixed.reshape(-1, normal.mixed.shape[-1])
    S = normal.person - flat.T @ by_person.reshape(flat.shape)
    S = (S + S.T) / 2 + damping * np.diag(np.diag(normal.person))
    g = normal.person_gradient - flat.T @ own.reshape(-1)
    return S, g, lambda dphi: -own - by_person @ dphi


def _step(normal: _NormalBlocks, damping: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Steps of poses and parameters, and the expected decrease of the cost."""
    S, g, poses = _schur_complement(normal, damping)
    dphi = -np.linalg.solve(S, g)
    dv = poses(dphi)
    slope = (normal.pose_gradient * dv).sum() + normal.person_gradient @ dphi
    curvature = (
        np.einsum("fi,fij,fj->", dv, normal.poses, dv)
        + 2 * np.einsum("fi,fij,j->", dv, normal.mixed, dphi)
        + dphi @ normal.person @ dphi
    )
    return dv, dphi, float(-slope - 0.5 * curvature)
