"""Detection of the vertical axis of a recording from plates, markers and file parameters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from homodyn.capture.trial import Y_UP_TO_Z_UP
from homodyn.errors import CaptureError

_CYCLIC_PERMUTATION = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])

ROTATION_BY_UP_AXIS = {
    "z": np.eye(3),
    "-z": np.diag([1.0, -1.0, -1.0]),
    "y": Y_UP_TO_Z_UP,
    "-y": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]),
    "x": _CYCLIC_PERMUTATION,
    "-x": np.diag([1.0, -1.0, -1.0]) @ _CYCLIC_PERMUTATION,
}
"""Rotation from the axes of a file to Z-up axes, by the axis of the file that points up. Every
entry is 0, 1 or -1, so that rotating there and back changes no bit."""

_HIGH_LANDMARKS = re.compile(
    r"HEAD|HED|[LR](F|B)HD|HDF|HDB|VERTEX|C7|CV7|CLAV|STRN|STERNUM|SHO|ACR|SJN|SNJ|SXS|T10|TV8|"
    r"ELB|SCAP|NECK"
)
_LOW_LANDMARKS = re.compile(
    r"HEE|TOE|ANK|MALL|MAL$|CAL|FCC|MT[1-5]|MET|FOOT|FM[125]|TAM|FAL|MIDFOOT|AJC"
)
_PELVIS_LANDMARKS = re.compile(r"ASI|PSI|SACR|PELV|IAS|IPS|TROCH|FTC|HJC")

MAX_FRAMES = 20_000
"""Frames, evenly spaced, from which the axis of a longer recording is detected."""
MIN_AXIS_ALIGNMENT = 0.8
"""Smallest cosine between a direction and an axis that it is identified with."""


@dataclass(frozen=True)
class UpAxis:
    """The axis of a file that points up, and the reason."""

    axis: str
    reason: str

    @property
    def axes(self) -> np.ndarray:
        """Rotation from the axes of the file to Z-up axes."""
        return ROTATION_BY_UP_AXIS[self.axis]

    @property
    def note(self) -> str:
        """The decision in words."""
        return f"up is {self.axis} of the file: {self.reason}"


def parse_up_axis(up: str) -> UpAxis:
    """The axis that the user gives: ``x``, ``y``, ``z``, with or without a sign."""
    axis = up.strip().lower().removeprefix("+")
    if axis not in ROTATION_BY_UP_AXIS:
        raise CaptureError(f"up={up!r} is not an axis; accepted: x, y, z, -x, -y, -z")
    return UpAxis(axis, "as requested")


def detect_up_axis(
    positions: np.ndarray,
    labels: Sequence[str],
    *,
    corners: Sequence[np.ndarray] = (),
    screen: str = "",
    expected: str = "z",
    convention: str = "the default of the format",
) -> UpAxis:
    """Detect which axis of the file points up.

    In this order: the normal of the force plates on the side of the markers; the direction from the
    feet to the head by the labels; the vertical screen axis of the file; the axis along which the
    markers extend furthest, if that is the height of a person; else the expected axis.

    Args:
        positions: (frames, markers, 3), m, in the axes of the file.
        labels: Labels of the markers.
        corners: Corners (4, 3), m, of each force plate.
        screen: Vertical screen axis of the file, such as ``"+Z"``.
        expected: Axis by the convention of the format.
        convention: Reason for the expected axis.

    Returns:
        The axis and the reason.
    """
    positions = positions[:: max(1, len(positions) // MAX_FRAMES)]
    found = [
        _by_plates(corners, positions),
        _by_labels(positions, labels),
        _by_screen(screen) if expected == "z" else None,
        _by_extent(positions),
    ]
    known = [axis for axis in found if axis]
    # The extent is a weak indication: it does not overrule the convention of the format.
    if expected != "z" and known and known[0] is found[3]:
        known = []
    if not known:
        return UpAxis(expected, convention)
    first, *others = known
    conflicting = [
        other for other in others if other.axis[-1] != first.axis[-1] and other is not found[3]
    ]
    if conflicting:
        return UpAxis(first.axis, f"{first.reason} (though {conflicting[0].reason})")
    return first


def _axis_name(direction: np.ndarray) -> str | None:
    """The axis along which a direction points; None if it is not close to one."""
    length = np.linalg.norm(direction)
    if not np.isfinite(length) or not length:
        return None
    largest = int(np.abs(direction).argmax())
    if abs(direction[largest]) < MIN_AXIS_ALIGNMENT * length:
        return None
    return ("-" if direction[largest] < 0.0 else "") + "xyz"[largest]


def _by_plates(corners: Sequence[np.ndarray], positions: np.ndarray) -> UpAxis | None:
    votes: dict[str, int] = {}
    middle = _median(positions.reshape(-1, 3))
    for plate in corners:
        down = np.cross(plate[0] - plate[1], plate[0] - plate[3])
        normal = -down
        if middle is not None and np.linalg.norm(down):
            height = (middle - plate.mean(axis=0)) @ down / np.linalg.norm(down)
            # Markers are above the plates; otherwise the order of the corners decides.
            if height > 0.1:
                normal = down
        axis = _axis_name(normal)
        if axis and middle is None:
            # Corners in the wrong order are more common than an axis that points down.
            axis = axis[-1]
        if axis:
            votes[axis] = votes.get(axis, 0) + 1
    if not votes:
        return None
    axis = max(votes, key=lambda name: votes[name])
    side = " on the side of the markers" if middle is not None else ""
    return UpAxis(axis, f"the normal of the force plates{side}")


def _by_labels(positions: np.ndarray, labels: Sequence[str]) -> UpAxis | None:
    names = [re.sub(r"[^A-Z0-9]", "", label.split(":")[-1].upper()) for label in labels]
    low = [k for k, name in enumerate(names) if _LOW_LANDMARKS.search(name)]
    high = [k for k, name in enumerate(names) if _HIGH_LANDMARKS.search(name) and k not in low]
    reason = "the direction from the feet to the head"
    if not high or not low:
        middle = [k for k, name in enumerate(names) if _PELVIS_LANDMARKS.search(name)]
        low, high, reason = (
            (low, middle, "the direction from the feet to the pelvis")
            if low
            else (middle, high, "the direction from the pelvis to the head")
        )
    if not low or not high:
        return None
    bottom, top = (_mean_path(positions[:, chosen]) for chosen in (low, high))
    both = np.isfinite(bottom).all(-1) & np.isfinite(top).all(-1)
    if not both.any():
        return None
    axis = _axis_name((top - bottom)[both].mean(axis=0))
    return UpAxis(axis, reason) if axis else None


def _by_screen(screen: str) -> UpAxis | None:
    axis = screen.strip().lower().removeprefix("+")
    if axis not in ROTATION_BY_UP_AXIS:
        return None
    # The screen axis of some systems points down; the floor is below in either case.
    return UpAxis(axis[-1], f"POINT:Y_SCREEN is {screen.strip()}")


def _by_extent(positions: np.ndarray) -> UpAxis | None:
    if positions.shape[0] == 0 or positions.shape[1] < 4:
        return None
    with np.errstate(invalid="ignore"):
        highest = np.fmax.reduce(positions, axis=1)
        lowest = np.fmin.reduce(positions, axis=1)
    extent = _median(highest - lowest)
    middle = _median(positions.reshape(-1, 3))
    if extent is None or middle is None:
        return None
    order = np.argsort(extent)
    longest = int(order[-1])
    if not 0.7 < extent[longest] < 2.5 or extent[longest] < 1.5 * extent[order[-2]]:
        return None
    axis = ("-" if middle[longest] < 0.0 else "") + "xyz"[longest]
    return UpAxis(axis, f"the markers extend furthest along it ({extent[longest]:.2f} m)")


def _mean_path(positions: np.ndarray) -> np.ndarray:
    """Mean of the visible markers in each frame; NaN where there are none."""
    seen = np.isfinite(positions).all(-1)
    count = seen.sum(axis=1)
    total = np.where(seen[..., None], positions, 0.0).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return total / count[:, None]


def _median(points: np.ndarray) -> np.ndarray | None:
    seen = points[np.isfinite(points).all(-1)]
    return np.median(seen, axis=0) if len(seen) else None
