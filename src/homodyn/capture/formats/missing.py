"""Points that were not seen though a file gives numbers for them, and lengths of a wrong unit."""

from __future__ import annotations

import numpy as np

FAR = 10.0
"""Distance (m) from all others at which a point is no marker of the subject."""

UNITS = {
    "mm": 1e-3, "millimeter": 1e-3, "millimeters": 1e-3, "millimetre": 1e-3, "millimetres": 1e-3,
    "cm": 1e-2, "centimeter": 1e-2, "centimeters": 1e-2, "centimetres": 1e-2,
    "dm": 1e-1,
    "m": 1.0, "meter": 1.0, "meters": 1.0, "metre": 1.0, "metres": 1.0,
    "in": 0.0254, "inch": 0.0254, "inches": 0.0254,
    "ft": 0.3048, "feet": 0.3048,
}  # fmt: skip
"""Metres in a unit of length, by its name in small letters."""

_BODY = (0.02, 5.0)
"""Spread of markers (m) that a person, or a part of one, can have."""


_TYPICAL = 0.4
"""Spread (m) of the markers of an adult."""


def metres_in(unit: str, positions: np.ndarray) -> tuple[float, list[str]]:
    """Metres in the unit of a file, checked against what the markers look like.

    A file whose markers would spread over hundreds of metres or less than a millimetre is read in
    the unit that makes them a person, and a note says so.
    """
    claimed = UNITS.get(unit.strip().lower())
    spread = _spread(positions)
    notes = []
    factor = 1e-3 if claimed is None else claimed
    if spread is None:
        if claimed is None:
            notes.append(f"the unit of length is {unit!r}; millimetres are assumed")
        return factor, notes
    if claimed is not None and _BODY[0] <= spread * claimed <= _BODY[1]:
        return claimed, notes
    fitting = sorted(
        (name for name in ("mm", "m", "cm") if _BODY[0] <= spread * UNITS[name] <= _BODY[1]),
        key=lambda name: abs(np.log(spread * UNITS[name] / _TYPICAL)),
    )
    if fitting:
        factor = UNITS[fitting[0]]
        size = f"{spread * claimed:.3g} m apart" if claimed is not None else "of unknown unit"
        notes.append(
            f"lengths are taken in {fitting[0]}: the file says {unit.strip() or 'nothing'!r}, "
            f"in which the markers would be {size}; correct POINT:UNITS if that is wrong"
        )
    elif claimed is None:
        notes.append(f"the unit of length is {unit!r}; millimetres are assumed")
    else:
        notes.append(
            f"the markers are {spread * claimed:.3g} m apart, unlike a person; check the unit "
            f"{unit!r} of the file"
        )
    return factor, notes


def _spread(positions: np.ndarray) -> float | None:
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
        notes.append(f"{_told(zero)} at exactly (0, 0, 0) count as missing")
    far = _far(positions)
    if far.any():
        positions[far] = np.nan
        notes.append(f"{_told(far)} further than {FAR:g} m from the others count as missing")
    return positions, notes


def _far(positions: np.ndarray) -> np.ndarray:
    """(frames, points): True where a point is far from nearly all others.

    Up to a tenth of the points may be parked in one place and still count as far; two people at
    the ends of a hall do not.
    """
    seen = np.isfinite(positions).all(-1)
    far = seen & (np.abs(np.where(seen[..., None], positions, 0.0)) > 1e6).any(-1)
    seen &= ~far
    shown = np.where(seen[..., None], positions, np.nan)
    enough = seen.sum(axis=1) >= 4
    if not enough.any():
        return far
    highest, lowest = np.fmax.reduce(shown, axis=1), np.fmin.reduce(shown, axis=1)
    wide = enough & (np.linalg.norm(highest - lowest, axis=-1) > FAR)
    for frame in np.flatnonzero(wide):
        points = shown[frame, seen[frame]]
        apart = np.linalg.norm(points[:, None] - points[None], axis=-1)
        near = (apart <= FAR).sum(axis=1) - 1
        far[frame, np.flatnonzero(seen[frame])[near < max(1.0, 0.1 * (len(points) - 1))]] = True
    return far


def _told(mask: np.ndarray) -> str:
    count, markers = int(mask.sum()), int(mask.any(axis=0).sum())
    positions = "position" if count == 1 else "positions"
    return f"{count} {positions} of {markers} marker{'s' if markers > 1 else ''}"
