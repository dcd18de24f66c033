"""Points without labels: which marker each one is, by fitting the model to one upright frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from homodyn.capture.labeling.label_matching import LabelMatching, label_matching
from homodyn.capture.rigid_registration import register_points
from homodyn.capture.trial import Trial
from homodyn.capture.world_frame import world_axes
from homodyn.dynamics import marker_positions
from homodyn.errors import CaptureError
from homodyn.model import Model

_HEADING_COUNT = 24
"""Directions tried in which the body may face."""
_REFINED_FIT_COUNT = 6
"""The best of them, fitted with all joints."""
_MAX_PAIR_DISTANCE_M = 0.25
"""m: pairs farther apart than this all count the same."""
_UNPAIRED_COST_M = 0.12
"""m: what a pair that is no pair adds to the cost of a fit."""
_CERTAIN_PAIR_DISTANCE_M = 0.06
"""m: pairs nearer than this are taken whatever the others do."""
_ERROR_RESOLUTION_M = 0.005
"""m: errors that differ by less say nothing."""
_MAX_SHAPE_ERROR_M = 0.03
"""m: by how much distances within a body may differ from the model's."""
_MIN_MARKER_SEPARATION_M = 0.08
"""m: within a body, a hidden marker nearer to a point than this could be it."""
_NEUTRAL_STIFFNESS_M_RAD = 0.05
"""m/rad: how unwillingly joints leave the neutral pose."""


@dataclass
class _LabelFit:
    """A pose of the model beside the points, and who is whom."""

    q: np.ndarray
    markers: np.ndarray
    """Model markers at this pose, laid over the points (m)."""
    pairs: np.ndarray
    """(pairs, 2): index of the point, index of the marker."""
    cost: float
    """Root of the mean squared distance of all pairs, far ones cut off (m)."""
    error: float
    """Root of the mean squared distance of the pairs that are near (m)."""


def match_geometry(
    trial: Trial,
    model: Model,
    *,
    frame: int | None = None,
    max_error: float = 0.06,
    min_confidence: float = 0.75,
) -> LabelMatching:
    """Match unlabelled points to the markers of a model by their positions.

    One frame in which the person stands upright is used. The model in its neutral pose is scaled to
    the height of the points and rotated to each heading; points and markers are paired with the
    least sum of squared distances, the pose is fitted to the pairs, and both steps are repeated
    until the pairs stay. There may be more or fewer points than markers. Markers whose point is
    ambiguous stay absent.

    Args:
        trial: The recording.
        model: The model.
        frame: Frame number, as in the recording; by default the first of those with most points.
        max_error: Largest rms distance of the fit, m.
        min_confidence: Largest ratio of the error of the fit to that of the best fit with other
            labels.

    Returns:
        The matching, with a confidence per marker.

    Raises:
        CaptureError: No fit is good enough, or two different ones are equally good.
    """
    wanted = tuple(marker.name for marker in model.markers)
    row = _select_frame(trial, frame)
    seen = np.flatnonzero(trial.seen[row])
    if len(seen) < 6 or len(wanted) < 6:
        raise CaptureError(
            f"{len(seen)} points and {len(wanted)} markers of the model: six of each are needed to "
            "tell them apart; name them in a map"
        )
    points = trial.positions[row, seen]
    fits = _fits(points, model)
    best = fits[0]
    if best.error > max_error or len(best.pairs) < 0.6 * min(len(points), len(wanted)):
        raise CaptureError(
            f"frame {trial.first_frame + row} of trial {trial.name!r} does not fit the model: "
            f"{len(best.pairs)} pairs, {1000 * best.error:.0f} mm away, at best; choose a frame in "
            "which the person stands upright with frame=, or name the points in a map"
        )
    named = _labels_by_point(best)
    doubtful: set[int] = set()
    for rival in fits[1:]:
        differ = {m for m, point in named.items() if _labels_by_point(rival).get(m) != point}
        if not differ or best.cost + _ERROR_RESOLUTION_M <= min_confidence * (
            rival.cost + _ERROR_RESOLUTION_M
        ):
            continue
        if len(differ) > 0.3 * len(named):
            raise CaptureError(
                f"the points of trial {trial.name!r} fit the model in two ways, "
                f"{1000 * best.cost:.0f} and {1000 * rival.cost:.0f} mm away, that differ in "
                f"{len(differ)} markers; name some of them in a map"
            )
        doubtful |= differ
    bodies = [marker.body for marker in model.markers]
    doubtful |= _misshapen(best, points, bodies) | _interchangeable(best, points, bodies)
    sure = _confidence(best, points)
    matched = {
        wanted[marker]: trial.markers[seen[point]]
        for point, marker in best.pairs
        if sure[int(marker)] > 0.3 and int(marker) not in doubtful
    }
    confidence = {wanted[m]: value for m, value in sure.items() if wanted[m] in matched}
    return label_matching(trial, wanted, matched, dict.fromkeys(matched, "geometry"), confidence)


def _select_frame(trial: Trial, frame: int | None) -> int:
    if frame is not None:
        row = frame - trial.first_frame
        if not 0 <= row < trial.frames:
            last = trial.first_frame + trial.frames - 1
            raise CaptureError(
                f"no frame {frame} in trial {trial.name!r}; accepted: {trial.first_frame} to {last}"
            )
        return row
    if not trial.frames:
        raise CaptureError(f"trial {trial.name!r} has no frames")
    return int(trial.seen.sum(axis=1).argmax())


def _fits(points: np.ndarray, model: Model) -> list[_LabelFit]:
    """Fits from all headings, the best first."""
    axes = world_axes(model)
    neutral = np.asarray(model.neutral(), dtype=float)
    cloud = np.asarray(marker_positions(model, neutral)) @ axes.T
    scale = np.ptp(points[:, 2]) / max(float(np.ptp(cloud[:, 2])), 1e-6)
    started = []
    for heading in 2 * np.pi * np.arange(_HEADING_COUNT) / _HEADING_COUNT:
        cos, sin = np.cos(heading), np.sin(heading)
        turned = scale * cloud @ np.array([[cos, sin, 0], [-sin, cos, 0], [0, 0, 1.0]])
        middle = (points.max(axis=0) + points.min(axis=0)) / 2
        turned += middle - (turned.max(axis=0) + turned.min(axis=0)) / 2
        fit = _pair_points(neutral, turned, points)
        for _ in range(6):
            fit = _place_cloud(fit, cloud, points)
        started.append(fit)
    started.sort(key=lambda fit: fit.cost)
    refined = [
        _refine_fit(fit, points, model, axes) for fit in _distinct(started)[:_REFINED_FIT_COUNT]
    ]
    return sorted(refined, key=lambda fit: fit.cost)


def _distinct(fits: list[_LabelFit]) -> list[_LabelFit]:
    """Fits that name the points differently, the first of each kept."""
    kept: dict[tuple[tuple[int, int], ...], _LabelFit] = {}
    for fit in fits:
        kept.setdefault(tuple(sorted(map(tuple, fit.pairs.tolist()))), fit)
    return list(kept.values())


def _pair_points(q: np.ndarray, markers: np.ndarray, points: np.ndarray) -> _LabelFit:
    """Points and markers paired at the least sum of squared distances."""
    squared = ((points[:, None] - markers[None]) ** 2).sum(axis=2)
    capped = np.minimum(squared, _MAX_PAIR_DISTANCE_M**2)
    pairs = np.stack(linear_sum_assignment(capped), axis=1)
    away = squared[pairs[:, 0], pairs[:, 1]]
    # A point that stands apart from the rest is a stray reflection, or its marker is hidden.
    near = (
        away
        < min(
            _MAX_PAIR_DISTANCE_M, max(_CERTAIN_PAIR_DISTANCE_M, 4 * float(np.sqrt(np.median(away))))
        )
        ** 2
    )
    cost = float(np.sqrt(np.minimum(away, _UNPAIRED_COST_M**2).mean()))
    error = float(np.sqrt(away[near].mean())) if near.any() else np.inf
    return _LabelFit(q, markers, pairs[near], cost, error)


def _similarity_fit(
    cloud: np.ndarray, fit: _LabelFit, points: np.ndarray
) -> tuple[float, np.ndarray]:
    """Scale, and the cloud laid with it over the points it is paired with."""
    own, target = cloud[fit.pairs[:, 1]], points[fit.pairs[:, 0]]
    size = np.linalg.norm(own - own.mean(axis=0))
    scale = float(np.linalg.norm(target - target.mean(axis=0))) / max(float(size), 1e-9)
    scale = min(max(scale, 0.5), 1.6)
    rotation, shift = register_points(scale * own, target)
    return scale, scale * cloud @ rotation.T + shift


def _place_cloud(fit: _LabelFit, cloud: np.ndarray, points: np.ndarray) -> _LabelFit:
    if len(fit.pairs) < 4:
        return fit
    return _pair_points(fit.q, _similarity_fit(cloud, fit, points)[1], points)


def _refine_fit(fit: _LabelFit, points: np.ndarray, model: Model, axes: np.ndarray) -> _LabelFit:
    """Fit joints and names in turn until the names stay."""
    neutral = np.asarray(model.neutral(), dtype=float)
    step = 1e-5
    best = fit
    before: np.ndarray | None = None
    for _ in range(40):
        if len(fit.pairs) < 6:
            break
        nudges = np.array([model.integrate(fit.q, step * row) for row in np.eye(model.nv)])
        clouds = np.asarray(marker_positions(model, np.vstack([fit.q[None], nudges]))) @ axes.T
        scale, laid = _similarity_fit(clouds[0], fit, points)
        own = fit.pairs[:, 1]
        rotation, _ = register_points(scale * clouds[0][own], points[fit.pairs[:, 0]])
        slopes = scale * (clouds[1:, own] - clouds[0, own]) @ rotation.T / step
        jacobian = slopes.reshape(model.nv, -1).T
        error = (points[fit.pairs[:, 0]] - laid[own]).ravel()
        pull = model.difference(fit.q, neutral)
        normal = jacobian.T @ jacobian + _NEUTRAL_STIFFNESS_M_RAD**2 * np.eye(model.nv)
        move = np.linalg.solve(normal, jacobian.T @ error + _NEUTRAL_STIFFNESS_M_RAD**2 * pull)
        q = _clamp_pose(model, model.integrate(fit.q, np.clip(move, -0.4, 0.4)))
        cloud = np.asarray(marker_positions(model, q)) @ axes.T
        fit = _pair_points(q, _similarity_fit(cloud, fit, points)[1], points)
        if fit.cost < best.cost:
            best = fit
        if before is not None and np.array_equal(before, fit.pairs) and np.abs(move).max() < 1e-3:
            break
        before = fit.pairs
    return best


def _clamp_pose(model: Model, q: np.ndarray) -> np.ndarray:
    if model.nq != model.nv:
        return q
    return np.clip(q, np.asarray(model.lower), np.asarray(model.upper))


def _labels_by_point(fit: _LabelFit) -> dict[int, int]:
    return {int(marker): int(point) for point, marker in fit.pairs}


def _misshapen(fit: _LabelFit, points: np.ndarray, bodies: list[str]) -> set[int]:
    """Markers whose distances to the others of their body are not those of their points."""
    named = _labels_by_point(fit)
    wrong = set()
    for marker, point in named.items():
        mates = [m for m in named if m != marker and bodies[m] == bodies[marker]]
        own = np.linalg.norm(fit.markers[mates] - fit.markers[marker], axis=1)
        seen = np.linalg.norm(points[[named[m] for m in mates]] - points[point], axis=1)
        if mates and np.median(np.abs(own - seen)) > _MAX_SHAPE_ERROR_M:
            wrong.add(marker)
    return wrong


def _interchangeable(fit: _LabelFit, points: np.ndarray, bodies: list[str]) -> set[int]:
    """Markers whose point may as well be that of a hidden one beside them."""
    named = _labels_by_point(fit)
    hidden = [m for m in range(len(bodies)) if m not in named]
    return {
        marker
        for marker, point in named.items()
        for other in hidden
        if bodies[other] == bodies[marker]
        and np.linalg.norm(fit.markers[other] - points[point]) < _MIN_MARKER_SEPARATION_M
    }


def _confidence(fit: _LabelFit, points: np.ndarray) -> dict[int, float]:
    """How much nearer each marker is to its point than to any other, from 0 to 1."""
    sure = {}
    for point, marker in fit.pairs:
        distance = np.linalg.norm(points - fit.markers[marker], axis=1)
        own = distance[point]
        distance[point] = np.inf
        sure[int(marker)] = float(max(0.0, 1 - own / distance.min()))
    return sure
