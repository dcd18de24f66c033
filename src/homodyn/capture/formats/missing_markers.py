"""Detection of missing markers that a file gives numbers for, and of wrong units of length."""

from __future__ import annotations

import numpy as np

from homodyn.capture.trial import FRAMES_PER_PIECE
from homodyn.foundation.text import count_of

MAX_MARKER_DISTANCE_M = 10.0
"""Distance (m) from the other markers above which a point is not a marker of the subject."""

METERS_PER_UNIT = {
    "mm": 1e-3, "millimeter": 1e-3, "millimeters": 1e-3, "millimetre": 1e-3, "millimetres": 1e-3,
    "cm": 1e-2, "centimeter": 1e-2, "centimeters": 1e-2, "centimetres": 1e-2,
    "dm": 1e-1,
    "m": 1.0, "meter": 1.0, "meters": 1.0, "metre": 1.0, "metres": 1.0,
    "in": 0.0254, "inch": 0.0254, "inches": 0.0254,
    "ft": 0.3048, "feet": 0.3048,
}  # fmt: skip
"""Meters per unit of length, by its name in lower case."""

_BODY_SPREAD_RANGE_M = (0.02, 5.0)
"""Plausible spread of markers (m) on a person or on a part of one."""
_ADULT_SPREAD_M = 0.4
"""Spread (m) of the markers of an adult."""


def detect_length_unit(unit: str, positions: np.ndarray) -> tuple[float, list[str]]:
    """Meters per unit of a file, checked against the spread of the markers.

    If the markers would spread over hundreds of meters or less than a millimeter, the unit in which
    they have the size of a person is used, with a note.

    Args:
        unit: The unit that the file states.
        positions: (frames, markers, 3), in the unit of the file.

    Returns:
        Meters per unit, and notes.
    """
    stated = METERS_PER_UNIT.get(unit.strip().lower())
    spread = _median_spread(positions)
    if stated is not None and (spread is None or _is_body_spread(spread * stated)):
        return stated, []
    # One or two markers have no spread; their distance from the origin is used instead.
    size = spread or _median_distance(positions)
    fitting = [
        name for name in ("mm", "m", "cm") if size and _is_body_spread(size * METERS_PER_UNIT[name])
    ]
    text = repr(unit.strip()) if unit.strip() else "no unit"
    if size and fitting:
        name = min(
            fitting, key=lambda one: abs(np.log(size * METERS_PER_UNIT[one] / _ADULT_SPREAD_M))
        )
        reason = f", in which the markers would be {size * stated:.3g} m apart" if stated else ""
        return METERS_PER_UNIT[name], [
            f"lengths are read in {name}: the file states {text}{reason}; correct the unit in the "
            "file if this is wrong"
        ]
    if stated is None:
        return 1e-3, [
            f"lengths are read in mm: the file states {text}, and no unit gives the markers the "
            "size of a person"
        ]
    return stated, [
        f"the markers are {(spread or 0.0) * stated:.3g} m apart, unlike a person; check the unit "
        f"{text} of the file"
    ]


def _is_body_spread(spread: float) -> bool:
    return _BODY_SPREAD_RANGE_M[0] <= spread <= _BODY_SPREAD_RANGE_M[1]


def _median_distance(positions: np.ndarray) -> float | None:
    """Median distance of the points from the origin, in the unit of the file."""
    seen = positions[np.isfinite(positions).all(-1) & (positions != 0.0).any(-1)]
    return float(np.median(np.linalg.norm(seen, axis=-1))) if len(seen) else None


def _median_spread(positions: np.ndarray) -> float | None:
    """Median distance of the points from the median of their frame, in the unit of the file."""
    frames = positions[:: max(1, len(positions) // 100)]
    if frames.shape[1] < 3 or not len(frames):
        return None
    seen = np.isfinite(frames).all(-1) & (frames != 0.0).any(-1)
    distances = []
    for points, mask in zip(frames, seen, strict=True):
        if mask.sum() >= 3:
            shown = points[mask]
            distances.append(np.median(np.linalg.norm(shown - np.median(shown, axis=0), axis=-1)))
    spread = float(np.median(distances)) if distances else 0.0
    return spread or None


def mark_missing(positions: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Set positions (m) of missing markers to NaN in place; the positions, and notes with counts.

    A marker is missing at exactly (0, 0, 0), and where it is more than 10 m from nearly all others
    of its frame (Felis 2015: position zero, or implausibly far).
    """
    notes = []
    zero: np.ndarray = np.asarray(~positions.any(-1))
    if zero.any():
        positions[zero] = np.nan
        notes.append(f"{_count_text(zero)} at exactly (0, 0, 0) {_counts_as(zero)} missing")
    pieces = range(0, len(positions), FRAMES_PER_PIECE)
    found = [_distant_points(positions[first : first + FRAMES_PER_PIECE]) for first in pieces]
    distant = np.concatenate(found) if found else np.zeros(positions.shape[:2], dtype=bool)
    if distant.any():
        positions[distant] = np.nan
        notes.append(
            f"{_count_text(distant)} more than {MAX_MARKER_DISTANCE_M:g} m from the others "
            f"{_counts_as(distant)} missing"
        )
    return positions, notes


def _distant_points(positions: np.ndarray) -> np.ndarray:
    """(frames, points): True where a point is far from nearly all others.

    Up to a tenth of the points may be at one distant position; two people at the ends of a hall
    are not distant points.
    """
    seen = np.isfinite(positions).all(-1)
    distant = seen & (np.abs(np.where(seen[..., None], positions, 0.0)) > 1e6).any(-1)
    seen &= ~distant
    shown = np.where(seen[..., None], positions, np.nan)
    enough = seen.sum(axis=1) >= 3
    if not enough.any():
        return distant
    highest, lowest = np.fmax.reduce(shown, axis=1), np.fmin.reduce(shown, axis=1)
    wide = enough & (np.linalg.norm(highest - lowest, axis=-1) > MAX_MARKER_DISTANCE_M)
    for frame in np.flatnonzero(wide):
        shown_here = np.flatnonzero(seen[frame])
        points = shown[frame, shown_here]
        outer = np.linalg.norm(points - np.median(points, axis=0), axis=-1) > MAX_MARKER_DISTANCE_M
        distances = np.linalg.norm(points[outer, None] - points[None], axis=-1)
        neighbors = (distances <= MAX_MARKER_DISTANCE_M).sum(axis=1) - 1
        isolated = neighbors < max(1.0, 0.1 * (len(points) - 1))
        # Where all points are scattered, the subject is not known.
        if isolated.sum() < 0.5 * len(points):
            distant[frame, shown_here[outer][isolated]] = True
    return distant


def _counts_as(mask: np.ndarray) -> str:
    return "counts as" if mask.sum() == 1 else "count as"


def _count_text(mask: np.ndarray) -> str:
    count, markers = int(mask.sum()), int(mask.any(axis=0).sum())
    return f"{count_of(count, 'position')} of {count_of(markers, 'marker')}"
