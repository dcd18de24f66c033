"""Force plates of a C3D file: from channels to force, point of application and free moment.

The frame of a plate has x from the second corner to the first, y from the fourth to the first, z
into the floor, and the middle of the corners as its origin. Channels are in that frame. Types of
the C3D format:

1. force, center of pressure and free moment;
2. force and moment at the transducer;
3. eight forces of a Kistler plate;
4. as 2, after a calibration matrix (6 x 6);
5. eight channels and a calibration matrix (6 x 8) to force and moment;
7. as 3, after a calibration matrix (8 x 8).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from homodyn.motion import (
    STANCE_THRESHOLD,
    ForcePlate,
    PlateChannels,
)

CHANNEL_COUNTS = {1: 6, 2: 6, 3: 8, 4: 6, 5: 8, 7: 8}
"""Channels by type."""

_MOMENT_UNITS = {
    "nmm": 1e-3, "n.mm": 1e-3, "n*mm": 1e-3, "n-mm": 1e-3, "n mm": 1e-3, "newton-mm": 1e-3,
    "nm": 1.0, "n.m": 1.0, "n*m": 1.0, "n-m": 1.0, "n m": 1.0,
    "ncm": 1e-2, "n.cm": 1e-2, "n*cm": 1e-2,
}  # fmt: skip


def moment_unit(units: Sequence[str], length: float) -> float:
    """Factor from the unit of the moment channels to N m; by default N times the unit of length."""
    for unit in units:
        factor = _MOMENT_UNITS.get(unit.replace("·", ".").strip().lower())
        if factor:
            return factor
    return length


def plate_axes(corners: np.ndarray) -> np.ndarray | None:
    """The axes of a plate as columns; None if the corners are not a plausible rectangle."""
    if not np.isfinite(corners).all():
        return None
    sides = np.linalg.norm(np.roll(corners, -1, axis=0) - corners, axis=-1)
    if sides.min() < 1e-2 or sides.max() > 20.0:
        return None
    x, y = corners[0] - corners[1], corners[0] - corners[3]
    z = np.cross(x, y)
    if np.linalg.norm(z) < 0.5 * np.linalg.norm(x) * np.linalg.norm(y):
        return None
    y = np.cross(z, x)
    axes: np.ndarray = np.stack([axis / np.linalg.norm(axis) for axis in (x, y, z)], axis=-1)
    return axes


def plate_wrench(
    layout: PlateChannels, samples: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Force (N), point (m) and torque (N m) at each sample, in the axes of the file.

    Where the normal force exceeds `StanceThreshold.center_of_pressure_n`, the point is the center
    of pressure and the torque the free moment; elsewhere the point is the middle of the plate. The
    wrench is the same.
    """
    axes = plate_axes(layout.corners)
    if axes is None:
        raise ValueError("a plate needs four corners of a rectangle")
    force, moment = _surface_wrench(layout, samples)
    loaded = np.abs(force[:, 2]) > STANCE_THRESHOLD.center_of_pressure_n
    normal = np.where(loaded, force[:, 2], 1.0)
    point = np.zeros_like(force)
    point[:, 0] = np.where(loaded, -moment[:, 1] / normal, 0.0)
    point[:, 1] = np.where(loaded, moment[:, 0] / normal, 0.0)
    if layout.correction is not None:
        point[loaded] -= _center_of_pressure_error(layout.correction, point[loaded])
    torque = moment - np.cross(point, force)
    # At the center of pressure the other components are rounding errors, or errors of the
    # transducers that the correction of the manufacturer removes.
    torque[loaded, :2] = 0.0
    middle = layout.corners.mean(axis=0)
    sign = float(layout.sign)
    return sign * force @ axes.T, middle + point @ axes.T, sign * torque @ axes.T


def _surface_wrench(layout: PlateChannels, samples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Force (N) and moment (N m) at the middle of the surface, in the frame of the plate."""
    raw = samples
    if layout.calibration is not None and layout.kind in (4, 5, 7):
        raw = raw @ layout.calibration.T
    origin = layout.origin
    if layout.kind == 1:
        force = raw[:, :3]
        point = np.zeros_like(force)
        point[:, :2] = raw[:, 3:5] * layout.length_unit
        moment = np.cross(point, force)
        moment[:, 2] += raw[:, 5] * layout.moment_unit
        return force, moment
    # From the transducer to the surface; z points down, so the offset is negative.
    lift = -origin if origin[2] > 0.0 else origin
    if layout.kind in (3, 7):
        x12, x34, y14, y23, z1, z2, z3, z4 = raw.T
        a, b = np.abs(origin[:2])
        force = np.stack([x12 + x34, y14 + y23, z1 + z2 + z3 + z4], axis=-1)
        moment = np.stack(
            [b * (z1 + z2 - z3 - z4), a * (z2 + z3 - z1 - z4), b * (x34 - x12) + a * (y14 - y23)],
            axis=-1,
        )
        return force, moment + np.cross(force, [0.0, 0.0, lift[2]])
    force = raw[:, :3]
    return force, raw[:, 3:6] * layout.moment_unit + np.cross(force, lift)


def _center_of_pressure_error(coefficients: np.ndarray, point: np.ndarray) -> np.ndarray:
    """Error (m) of the center of pressure of a Kistler plate, by the polynomial FPCOPPOLY (mm)."""
    x, y = 1e3 * point[:, 0], 1e3 * point[:, 1]
    a, b = coefficients
    error = np.zeros_like(point)
    error[:, 0] = (a[0] * y**4 + a[1] * y**2 + a[2]) * x**3 + (a[3] * y**4 + a[4] * y**2 + a[5]) * x
    error[:, 1] = (b[0] * x**4 + b[1] * x**2 + b[2]) * y**3 + (b[3] * x**4 + b[4] * x**2 + b[5]) * y
    return 1e-3 * error


def plate_from_channels(
    name: str, layout: PlateChannels, samples: np.ndarray, rate: float, start: float
) -> ForcePlate:
    """The plate in the axes of the file."""
    force, point, torque = plate_wrench(layout, samples)
    return ForcePlate(name, rate, force, point, torque, start, layout.corners, layout)
