"""Matching of unlabeled points to markers, by fitting the model to one upright frame."""

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
from homodyn.foundation.arguments import require_type
from homodyn.foundation.text import count_of
from homodyn.model import Model

MIN_POINTS = 6
"""Points, and markers of the model, that a match by geometry needs."""
MAX_AMBIGUOUS_SHARE = 0.3
"""Share of markers that may differ between two good fits."""
MIN_MARKER_CONFIDENCE = 0.3
"""Confidence above which a marker is matched."""
_HEADING_COUNT = 24
"""Number of headings of the body that are tried."""
_REFINED_FIT_COUNT = 6
"""Number of the best headings that are fitted with all joints."""
_MAX_PAIR_DISTANCE_M = 0.25
"""Distance (m) above which all pairs have the same cost."""
_UNPAIRED_COST_M = 0.12
"""Cost (m) of an unpaired point in a fit."""
_CERTAIN_PAIR_DISTANCE_M = 0.06
"""Distance (m) below which pairs are always accepted."""
_ERROR_RESOLUTION_M = 0.005
"""Difference of errors (m) that is not significant."""
_MAX_SHAPE_ERROR_M = 0.03
"""Largest deviation (m) of distances within a body from those of the model."""
_MIN_MARKER_SEPARATION_M = 0.08
"""Distance (m) from a point below which a hidden marker of the body may be meant."""
_NEUTRAL_STIFFNESS_M_RAD = 0.05
"""Weight (m/rad) of deviations from the neutral pose."""


@dataclass
class _LabelFit:
    """A pose of the model fitted to the points, and the pairs of points and markers."""

    q: np.ndarray
    markers: np.ndarray
    """(markers, 3), m: markers at this pose, scaled and registered to the points."""
    pairs: np.ndarray
    """(pairs, 2): index of the point, index of the marker."""
    cost: float
    """Rms distance of all pairs, capped for distant ones (m)."""
    error: float
    """Rms distance of the accepted pairs (m)."""


def match_geometry(
    model: Model,
    trial: Trial,
    *,
    frame: int | None = None,
    max_error: float = 0.06,
    min_confidence: float = 0.75,
) -> LabelMatching:
    """Match unlabeled points to the markers of a model by their positions.

    One frame in which the person stands upright is used. The model in its neutral pose is scaled to
    the height of the points and rotated to each heading; points and markers are paired with the
    least sum of squared distances, the pose is fitted to the pairs, and both steps are repeated
    until the pairs stay. There may be more or fewer points than markers. Markers whose point is
    ambiguous stay absent.

    Args:
        model: The model.
        trial: The recording.
        frame: Frame number, as in the recording; by default the first of those with most points.
        max_error: Largest rms distance of the fit, m.
        min_confidence: Largest ratio of the error of the fit to that of the best fit with other
            labels.

    Returns:
        The matching, with a confidence per marker.

    Raises:
        CaptureError: No fit is good enough, or two different ones are equally good.
        HomodynError: ``model`` has another type.
    """
    require_type("model", model, Model)
    names = tuple(marker.name for marker in model.markers)
    row = _select_frame(trial, frame)
    seen = np.flatnonzero(trial.seen[row])
    if len(seen) < MIN_POINTS or len(names) < MIN_POINTS:
        raise CaptureError(
            f"{count_of(len(seen), 'point')} and {count_of(len(names), 'marker')} of the model: "
            f"{MIN_POINTS} of each are needed to distinguish them; name them in a map"
        )
    points = trial.positions[row, seen]
    fits = _fits(points, model)
    best = fits[0]
    if best.error > max_error or len(best.pairs) < 0.6 * min(len(points), len(names)):
        raise CaptureError(
            f"frame {trial.first_frame + row} of trial {trial.name!r} does not fit the model: "
            f"the best fit has {count_of(len(best.pairs), 'pair')} with an error of "
            f"{1000 * best.error:.0f} mm; choose a frame in which the person stands upright with "
            "frame=, or name the points in a map"
        )
    bodies = [marker.body for marker in model.markers]
    ambiguous = (
        _ambiguous_markers(fits, min_confidence, trial.name)
        | _misshapen(best, points, bodies)
        | _interchangeable(best, points, bodies)
    )
    certainty = _confidence(best, points)
    matched = {
        names[marker]: trial.markers[seen[point]]
        for point, marker in best.pairs
        if certainty[int(marker)] > MIN_MARKER_CONFIDENCE and int(marker) not in ambiguous
    }
    confidence = {names[m]: value for m, value in certainty.items() if names[m] in matched}
    return label_matching(trial, names, matched, dict.fromkeys(matched, "geometry"), confidence)


def _ambiguous_markers(fits: list[_LabelFit], min_confidence: float, trial: str) -> set[int]:
    """Markers that another fit, about as good as the best, pairs with other points."""
    best, *others = fits
    points = _points_by_marker(best)
    ambiguous: set[int] = set()
    for other in others:
        differing = {m for m, point in points.items() if _points_by_marker(other).get(m) != point}
        if not differing or best.cost + _ERROR_RESOLUTION_M <= min_confidence * (
            other.cost + _ERROR_RESOLUTION_M
        ):
            continue
        if len(differing) > MAX_AMBIGUOUS_SHARE * len(points):
            raise CaptureError(
                f"the points of trial {trial!r} fit the model in two ways, with errors of "
                f"{1000 * best.cost:.0f} and {1000 * other.cost:.0f} mm, that differ in "
                f"{count_of(len(differing), 'marker')}; name some of them in a map"
            )
        ambiguous |= differing
    return ambiguous


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
    rough = []
    for heading in 2 * np.pi * np.arange(_HEADING_COUNT) / _HEADING_COUNT:
        cos, sin = np.cos(heading), np.sin(heading)
        rotated = scale * cloud @ np.array([[cos, sin, 0], [-sin, cos, 0], [0, 0, 1.0]])
        center = (points.max(axis=0) + points.min(axis=0)) / 2
        rotated += center - (rotated.max(axis=0) + rotated.min(axis=0)) / 2
        fit = _pair_points(neutral, rotated, points)
        for _ in range(6):
            fit = _place_cloud(fit, cloud, points)
        rough.append(fit)
    rough.sort(key=lambda fit: fit.cost)
    refined = [
        _refine_fit(fit, points, model, axes) for fit in _distinct(rough)[:_REFINED_FIT_COUNT]
    ]
    return sorted(refined, key=lambda fit: fit.cost)


def _distinct(fits: list[_LabelFit]) -> list[_LabelFit]:
    """Fits with different pairs, the first of each."""
    kept: dict[tuple[tuple[int, int], ...], _LabelFit] = {}
    for fit in fits:
        kept.setdefault(tuple(sorted(map(tuple, fit.pairs.tolist()))), fit)
    return list(kept.values())


def _pair_points(q: np.ndarray, markers: np.ndarray, points: np.ndarray) -> _LabelFit:
    """Pair points and markers with the smallest sum of squared distances."""
    squared = ((points[:, None] - markers[None]) ** 2).sum(axis=2)
    capped = np.minimum(squared, _MAX_PAIR_DISTANCE_M**2)
    pairs = np.stack(linear_sum_assignment(capped), axis=1)
    distances = squared[pairs[:, 0], pairs[:, 1]]
    # A point far from its marker is a stray reflection, or its marker is hidden.
    typical = 4 * float(np.sqrt(np.median(distances)))
    limit = min(_MAX_PAIR_DISTANCE_M, max(_CERTAIN_PAIR_DISTANCE_M, typical))
    near = distances < limit**2
    cost = float(np.sqrt(np.minimum(distances, _UNPAIRED_COST_M**2).mean()))
    error = float(np.sqrt(distances[near].mean())) if near.any() else np.inf
    return _LabelFit(q, markers, pairs[near], cost, error)


def _similarity_fit(
    cloud: np.ndarray, fit: _LabelFit, points: np.ndarray
) -> tuple[float, np.ndarray]:
    """Scale, and the cloud scaled and registered to the points that it is paired with."""
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
    """Fit joints and pairs in turn until the pairs do not change."""
    neutral = np.asarray(model.neutral(), dtype=float)
    step = 1e-5
    best = fit
    previous: np.ndarray | None = None
    for _ in range(40):
        if len(fit.pairs) < 6:
            break
        perturbed = np.array([model.integrate(fit.q, step * row) for row in np.eye(model.nv)])
        clouds = np.asarray(marker_positions(model, np.vstack([fit.q[None], perturbed]))) @ axes.T
        scale, registered = _similarity_fit(clouds[0], fit, points)
        own = fit.pairs[:, 1]
        rotation, _ = register_points(scale * clouds[0][own], points[fit.pairs[:, 0]])
        slopes = scale * (clouds[1:, own] - clouds[0, own]) @ rotation.T / step
        jacobian = slopes.reshape(model.nv, -1).T
        error = (points[fit.pairs[:, 0]] - registered[own]).ravel()
        to_neutral = model.difference(fit.q, neutral)
        normal = jacobian.T @ jacobian + _NEUTRAL_STIFFNESS_M_RAD**2 * np.eye(model.nv)
        right = jacobian.T @ error + _NEUTRAL_STIFFNESS_M_RAD**2 * to_neutral
        change = np.linalg.solve(normal, right)
        q = _clamp_pose(model, model.integrate(fit.q, np.clip(change, -0.4, 0.4)))
        cloud = np.asarray(marker_positions(model, q)) @ axes.T
        fit = _pair_points(q, _similarity_fit(cloud, fit, points)[1], points)
        if fit.cost < best.cost:
            best = fit
        same_pairs = previous is not None and np.array_equal(previous, fit.pairs)
        if same_pairs and np.abs(change).max() < 1e-3:
            break
        previous = fit.pairs
    return best


def _clamp_pose(model: Model, q: np.ndarray) -> np.ndarray:
    if model.nq != model.nv:
        return q
    return np.clip(q, np.asarray(model.lower), np.asarray(model.upper))


def _points_by_marker(fit: _LabelFit) -> dict[int, int]:
    return {int(marker): int(point) for point, marker in fit.pairs}


def _misshapen(fit: _LabelFit, points: np.ndarray, bodies: list[str]) -> set[int]:
    """Markers whose distances within their body differ from those of their points."""
    paired = _points_by_marker(fit)
    wrong = set()
    for marker, point in paired.items():
        others = [m for m in paired if m != marker and bodies[m] == bodies[marker]]
        own = np.linalg.norm(fit.markers[others] - fit.markers[marker], axis=1)
        seen = np.linalg.norm(points[[paired[m] for m in others]] - points[point], axis=1)
        if others and np.median(np.abs(own - seen)) > _MAX_SHAPE_ERROR_M:
            wrong.add(marker)
    return wrong


def _interchangeable(fit: _LabelFit, points: np.ndarray, bodies: list[str]) -> set[int]:
    """Markers whose point may also belong to a hidden marker next to them."""
    paired = _points_by_marker(fit)
    hidden = [m for m in range(len(bodies)) if m not in paired]
    return {
        marker
        for marker, point in paired.items()
        for other in hidden
        if bodies[other] == bodies[marker]
        and np.linalg.norm(fit.markers[other] - points[point]) < _MIN_MARKER_SEPARATION_M
    }


def _confidence(fit: _LabelFit, points: np.ndarray) -> dict[int, float]:
    """By marker, 1 minus the ratio of the distances to its point and to the next one."""
    confidence = {}
    for point, marker in fit.pairs:
        distance = np.linalg.norm(points - fit.markers[marker], axis=1)
        own = distance[point]
        distance[point] = np.inf
        confidence[int(marker)] = float(max(0.0, 1 - own / distance.min()))
    return confidence
