"""Points that were not seen though a file gives numbers for them, and lengths of a wrong unit."""

from __future__ import annotations

import numpy as np

MAX_MARKER_DISTANCE_M = 10.0
"""Distance (m) from all others at which a point is no marker of the subject."""

METRES_PER_UNIT = {
    "mm": 1e-3, "millimeter": 1e-3, "millimeters": 1e-3, "millimetre": 1e-3, "millimetres": 1e-3,
    "cm": 1e-2, "centimeter": 1e-2, "centimeters": 1e-2, "centimetres": 1e-2,
    "dm": 1e-1,
    "m": 1.0, "meter": 1.0, "meters": 1.0, "metre": 1.0, "metres": 1.0,
    "in": 0.0254, "inch": 0.0254, "inches": 0.0254,
    "ft": 0.3048, "feet": 0.3048,
}  # fmt: skip
"""Metres in a unit of length, by its name in small letters."""

_BODY_SPREAD_RANGE_M = (0.02, 5.0)
"""Spread of markers (m) that a person, or a part of one, can have."""


_ADULT_SPREAD_M = 0.4
"""Spread (m) of the markers of an adult."""


def detect_length_unit(unit: str, positions: np.ndarray) -> tuple[float, list[str]]:
    """Metres in the unit of a file, checked against what the markers look like.

    A file whose markers would spread over hundreds of metres or less than a millimetre is read in
    the unit that makes them a person, and a note says so.
    """
    claimed = METRES_PER_UNIT.get(unit.strip().lower())
    spread = _median_spread(positions)
    if claimed is not None and (spread is None or _is_body_spread(spread * claimed)):
        return claimed, []
    # One or two markers have no spread to speak of, but they are in a room.
    size = spread or _median_distance(positions)
    fitting = [
        name for name in ("mm", "m", "cm") if size and _is_body_spread(size * METRES_PER_UNIT[name])
    ]
    said = unit.strip() or "nothing"
    if size and fitting:
        name = min(
            fitting, key=lambda one: abs(np.log(size * METRES_PER_UNIT[one] / _ADULT_SPREAD_M))
        )
        against = f", in which the markers would be {size * claimed:.3g} m apart" if claimed else ""
        return METRES_PER_UNIT[name], [
            f"lengths are taken in {name}: the file says {said!r}{against}; "
            "correct the unit in the file if that is wrong"
        ]
    if claimed is None:
        return 1e-3, [f"lengths are taken in mm: the file says {said!r} and the markers nothing"]
    return claimed, [
        f"the markers are {(spread or 0.0) * claimed:.3g} m apart, unlike a person; check the unit "
        f"{said!r} of the file"
    ]


def _is_body_spread(spread: float) -> bool:
    return _BODY_SPREAD_RANGE_M[0] <= spread <= _BODY_SPREAD_RANGE_M[1]


def _median_distance(positions: np.ndarray) -> float | None:
    """Median distance of the points from the origin, in the unit of the file."""
    seen = positions[np.isfinite(positions).all(-1) & (positions != 0.0).any(-1)]
    return float(np.median(np.linalg.norm(seen, axis=-1))) if len(seen) else None


def _median_spread(positions: np.ndarray) -> float | None:
    """Median distance of the points from the middle of their frame, in the unit of the file."""
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
    """Positions (m) with NaN where a number stands for nothing seen, and how many were found.

    Nothing was seen at exactly (0, 0, 0), and where a point is further than 10 m from nearly all
    others of its frame (Felis 2015: position zero, or implausibly far).
    """
    positions = positions.copy()
    notes = []
    zero = (positions == 0.0).all(-1)
    if zero.any():
        positions[zero] = np.nan
        notes.append(f"{_count_text(zero)} at exactly (0, 0, 0) count as missing")
    far = _distant_points(positions)
    if far.any():
        positions[far] = np.nan
        notes.append(
            f"{_count_text(far)} more than {MAX_MARKER_DISTANCE_M:g} m from the others count as "
            "missing"
        )
    return positions, notes


def _distant_points(positions: np.ndarray) -> np.ndarray:
    """(frames, points): True where a point is far from nearly all others.

    Up to a tenth of the points may be parked in one place and still count as far; two people at
    the ends of a hall do not.
    """
    seen = np.isfinite(positions).all(-1)
    far = seen & (np.abs(np.where(seen[..., None], positions, 0.0)) > 1e6).any(-1)
    seen &= ~far
    shown = np.where(seen[..., None], positions, np.nan)
    enough = seen.sum(axis=1) >= 3
    if not enough.any():
        return far
    highest, lowest = np.fmax.reduce(shown, axis=1), np.fmin.reduce(shown, axis=1)
    wide = enough & (np.linalg.norm(highest - lowest, axis=-1) > MAX_MARKER_DISTANCE_M)
    for frame in np.flatnonzero(wide):
        shown_here = np.flatnonzero(seen[frame])
        points = shown[frame, shown_here]
        outer = np.linalg.norm(points - np.median(points, axis=0), axis=-1) > MAX_MARKER_DISTANCE_M
        apart = np.linalg.norm(points[outer, None] - points[None], axis=-1)
        lonely = (apart <= MAX_MARKER_DISTANCE_M).sum(axis=1) - 1 < max(
            1.0, 0.1 * (len(points) - 1)
        )
        # Where everything is scattered, nothing tells which of it is the subject.
        if lonely.sum() < 0.5 * len(points):
            far[frame, shown_here[outer][lonely]] = True
    return far


def _count_text(mask: np.ndarray) -> str:
    count, markers = int(mask.sum()), int(mask.any(axis=0).sum())
    positions = "position" if count == 1 else "positions"
    return f"{count} {positions} of {markers} marker{'s' if markers > 1 else ''}"
