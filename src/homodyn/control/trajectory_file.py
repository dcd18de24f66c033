"""Trajectories of stable and intermediate positions, and their ``.traj3`` files.

After HuMAnS (INRIA 2006, section 8.2): positions are alternately stable (reached at rest, with
zero acceleration, at a given time) and intermediate (passed in between, with a contact code). The
file has three labeled blocks. The separators of the original are lost; this format is declared
here: one number per line in the first two blocks, one row per position in the third.
"""

from __future__ import annotations

from enum import IntEnum
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from homodyn.errors import FormatError, ModelError
from homodyn.foundation.files import write_text
from homodyn.foundation.record import Record, record

COUNT_LABEL = "Nombre de points"
DATA_LABEL = "Temps et contacts"
POSITIONS_LABEL = "Coordonnees points"
MAX_FILE_BYTES = 50_000_000
"""Size of a file above which it is refused."""


class ContactCode(IntEnum):
    """Which supports act while an intermediate position is passed."""

    RIGHT = 1
    LEFT = 2
    DOUBLE = 3
    SUSPENSION = 4
    TRANSITION = 5
    """Between double and single support."""


@record
class TrajectoryPoints(Record):
    """Stable and intermediate positions in turn, from a stable one to a stable one.

    Raises:
        ModelError: The number of positions is even, times do not increase, a code is unknown, or a
            number is not finite.
    """

    positions: np.ndarray
    """(points, coordinates): rows 0, 2, 4, ... are stable."""
    times: np.ndarray
    """(stable points,), s, increasing."""
    contacts: tuple[ContactCode, ...]
    """One per intermediate position."""

    def __post_init__(self) -> None:
        positions = np.array(self.positions, dtype=float)
        times = np.array(self.times, dtype=float)
        if positions.ndim != 2 or len(positions) % 2 == 0:
            raise ModelError(
                "a trajectory has an odd number of positions, from a stable one to a stable one, "
                f"got shape {positions.shape}"
            )
        stable = (len(positions) + 1) // 2
        if times.shape != (stable,) or len(self.contacts) != stable - 1:
            raise ModelError(
                f"{len(positions)} positions need {stable} times and {stable - 1} contact codes, "
                f"got {times.shape} and {len(self.contacts)}"
            )
        if not (np.isfinite(positions).all() and np.isfinite(times).all()):
            raise ModelError("positions and times of a trajectory are finite numbers")
        if (np.diff(times) <= 0).any():
            raise ModelError(f"times of stable positions increase, got {times.tolist()}")
        try:
            codes = tuple(ContactCode(int(code)) for code in self.contacts)
        except ValueError as error:
            known = ", ".join(f"{code.value} ({code.name.lower()})" for code in ContactCode)
            raise ModelError(f"{error}; contact codes are {known}") from None
        object.__setattr__(self, "positions", positions)
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "contacts", codes)

    def headline(self) -> str:
        """Number of positions and duration."""
        span = f"{self.times[0]:g} to {self.times[-1]:g} s"
        return f"TrajectoryPoints: {len(self.positions)} positions, {span}"

    def contact(self, t: float) -> ContactCode:
        """The contact code at a time; the last code at the end.

        Args:
            t: Time, s.
        """
        k = int(
            np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, len(self.contacts) - 1)
        )
        return self.contacts[k]

    def interpolate(self, t: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Positions, velocities and accelerations at given times.

        Between two stable positions each coordinate is the polynomial of degree 6 that is at rest
        with zero acceleration at both ends and passes the intermediate position halfway. The
        document does not state the interpolation: this is a declared assumption. Before the first
        and after the last time the position rests.

        Args:
            t: (...), s.

        Returns:
            Three arrays (..., coordinates).
        """
        t = np.asarray(t, dtype=float)
        if len(self.times) == 1:
            rest = np.broadcast_to(self.positions[0], (*t.shape, self.positions.shape[1]))
            return rest.copy(), 0 * rest, 0 * rest
        k = np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, len(self.times) - 2)
        span = self.times[k + 1] - self.times[k]
        s = np.clip((t - self.times[k]) / span, 0.0, 1.0)[..., None]
        start, middle, end = (self.positions[2 * k + j] for j in (0, 1, 2))
        way, bulge = end - start, 64.0 * (middle - (start + end) / 2)
        span = span[..., None]
        share = s**3 * (10 - 15 * s + 6 * s**2)
        rate = 30 * s**2 * (1 - s) ** 2
        bend = 60 * s * (1 - s) * (1 - 2 * s)
        bump = (s * (1 - s)) ** 3
        bump_rate = 3 * (s * (1 - s)) ** 2 * (1 - 2 * s)
        bump_bend = 6 * s * (1 - s) * (1 - 2 * s) ** 2 - 6 * (s * (1 - s)) ** 2
        return (
            start + share * way + bump * bulge,
            (rate * way + bump_rate * bulge) / span,
            (bend * way + bump_bend * bulge) / span**2,
        )


def write_trajectory(path: str | Path, points: TrajectoryPoints) -> None:
    """Write a ``.traj3`` file, completely or not at all.

    Args:
        path: The file; an existing one is replaced.
        points: The positions.

    Raises:
        FormatError: The file cannot be written.
    """
    data: list[str] = []
    for k, time in enumerate(points.times):
        data.append(repr(float(time)))
        if k < len(points.contacts):
            data.append(str(int(points.contacts[k])))
    rows = [" ".join(repr(float(x)) for x in row) for row in points.positions]
    lines = [COUNT_LABEL, str(len(points.positions)), DATA_LABEL, *data, POSITIONS_LABEL, *rows]
    write_text(Path(path), "\n".join(lines) + "\n")


def read_trajectory(path: str | Path) -> TrajectoryPoints:
    """Read a ``.traj3`` file.

    Args:
        path: The file.

    Returns:
        The positions.

    Raises:
        FormatError: The file is missing, too large, or no trajectory; the message has the line.
    """
    path = Path(path)
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise FormatError(f"larger than {MAX_FILE_BYTES} bytes", str(path))
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(f"cannot be read: {error}", str(path)) from None
    lines = [line.strip() for line in lines]
    places = []
    for label in (COUNT_LABEL, DATA_LABEL, POSITIONS_LABEL):
        if label not in lines:
            raise FormatError(f"the block {label!r} is missing", str(path))
        places.append(lines.index(label))
    if places != sorted(places):
        raise FormatError("the blocks are not in their order", str(path))
    count = _numbers(path, lines, places[0] + 1, places[1])
    data = _numbers(path, lines, places[1] + 1, places[2])
    rows = _numbers(path, lines, places[2] + 1, len(lines))
    if len(count) != 1 or len(count[0]) != 1 or count[0][0] != len(rows):
        raise FormatError(
            f"{COUNT_LABEL} is one number, that of the {len(rows)} rows of {POSITIONS_LABEL}",
            str(path),
            f"line {places[0] + 2}",
        )
    flat = [number for row in data for number in row]
    widths = {len(row) for row in rows}
    if len(flat) != len(rows) or len(widths) > 1:
        raise FormatError(
            f"{len(rows)} positions of one length and as many numbers under {DATA_LABEL} are "
            f"needed, got {len(flat)} numbers and rows of {sorted(widths)} numbers",
            str(path),
        )
    codes = flat[1::2]
    if any(code != int(code) for code in codes if np.isfinite(code)):
        raise FormatError("contact codes are whole numbers from 1 to 5", str(path))
    try:
        return TrajectoryPoints(np.array(rows), np.array(flat[::2]), tuple(codes))  # type: ignore[arg-type]
    except (ModelError, ValueError, OverflowError) as error:
        raise FormatError(str(error), str(path)) from None


def _numbers(path: Path, lines: list[str], start: int, end: int) -> list[list[float]]:
    """Numbers of the lines of a block that are not empty."""
    rows = []
    for k in range(start, end):
        if not lines[k]:
            continue
        try:
            rows.append([float(word) for word in lines[k].split()])
        except ValueError:
            raise FormatError(
                f"numbers are needed, got {lines[k][:40]!r}", str(path), f"line {k + 1}"
            ) from None
    return rows
