"""Springs from markers of the model to recorded positions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

import numpy as np
from numpy.typing import ArrayLike

from homodyn.errors import ModelError
from homodyn.foundation import Record, record
from homodyn.model import Model
from homodyn.simulate.rows.spring_law import SpringLaw
from homodyn.simulate.rows.targets import (
    IsotropicSpring,
    RowInput,
    TargetRow,
    TargetRows,
    point_rows,
)

VALUES_PER_MARKER = 7
"""Position (m), velocity (m/s) and weight of a marker in the inputs of a step."""


@record
class MarkerSprings(Record, TargetRows):
    """Springs from markers of the model to recorded positions: bodies of infinite mass that move.

    Between samples the markers move linearly. Where a sample is not finite, the marker is missing
    and its rows have no force.

    Raises:
        ModelError: Times do not increase, or shapes do not fit.
    """

    markers: Sequence[str]
    """Names of markers or frames of the model."""
    time: ArrayLike
    """(samples,), s, increasing."""
    positions: ArrayLike
    """(samples, markers, 3), or (batch, samples, markers, 3); m, world."""
    law: SpringLaw = field(default_factory=lambda: SpringLaw(erp=0.2, cfm=1e-4))
    points: Mapping[str, ArrayLike] = field(default_factory=dict)
    """Places of markers in the axes of their frames (m), by name; zero by default."""
    frames: Mapping[str, str] = field(default_factory=dict)
    """Frames of markers that the model does not have, by name."""

    def __post_init__(self) -> None:
        time, positions = np.array(self.time, float), np.array(self.positions, float)
        names = tuple(self.markers)
        if time.ndim != 1 or not len(time) or np.any(np.diff(time) <= 0):
            raise ModelError("times of marker targets must be increasing numbers")
        if positions.ndim not in (3, 4) or positions.shape[-3:] != (len(time), len(names), 3):
            raise ModelError(
                f"marker targets need ({len(time)}, {len(names)}, 3) positions, got shape "
                f"{positions.shape}"
            )
        object.__setattr__(self, "markers", names)
        object.__setattr__(self, "time", time)
        object.__setattr__(self, "positions", positions)

    def names(self, model: Model) -> tuple[str, ...]:
        """Marker and direction.

        Args:
            model: The model.

        Returns:
            Three names per marker.
        """
        return tuple(f"{marker} {axis}" for marker in self.markers for axis in "xyz")

    @property
    def sampled_size(self) -> int:
        """Number of sampled values that a step needs."""
        return VALUES_PER_MARKER * len(self.markers)

    def sample(self, times: np.ndarray) -> np.ndarray:
        """Positions, velocities to the next time, and weights of the markers.

        Args:
            times: Starts of the steps (s), (n,).

        Returns:
            (n, 7 markers), or (batch, n, 7 markers).
        """
        ends = np.append(times[1:], times[-1] + (times[-1] - times[-2] if len(times) > 1 else 1.0))
        start, end = self._interpolate(times), self._interpolate(ends)
        step = (ends - times)[:, None, None]
        return marker_values(start, (end - start) / step)

    def _interpolate(self, times: np.ndarray) -> np.ndarray:
        known, values = np.asarray(self.time), np.asarray(self.positions)
        if len(known) == 1:
            return np.repeat(values, len(times), axis=-3)
        index = np.clip(np.searchsorted(known, times, side="right") - 1, 0, len(known) - 2)
        gap = known[index + 1] - known[index]
        part = np.clip((times - known[index]) / gap, 0.0, 1.0)[:, None, None]
        before, after = values[..., index, :, :], values[..., index + 1, :, :]
        # A sample that is missing does not hide its neighbor at the time of the neighbor.
        return np.where(
            part == 0, before, np.where(part == 1, after, (1 - part) * before + part * after)
        )

    def build(self, at: RowInput) -> list[TargetRow | IsotropicSpring]:
        """The rows at a state.

        Args:
            at: State and inputs of the step.

        Returns:
            Three rows per marker.
        """
        rows: list[TargetRow | IsotropicSpring] = []
        for k, marker in enumerate(self.markers):
            values = at.sampled[VALUES_PER_MARKER * k : VALUES_PER_MARKER * (k + 1)]
            frame = self.frames.get(marker, marker)
            point = tuple(np.asarray(self.points.get(marker, (0.0, 0.0, 0.0)), float))
            rows += point_rows(
                at, frame, point, "xyz", self.law, values[:3], values[3:6], values[6], marker
            )
        return rows


def marker_values(positions: np.ndarray, velocities: np.ndarray) -> np.ndarray:
    """The sampled values of markers: zero, with weight zero, where they are not finite.

    Args:
        positions: (..., markers, 3), m.
        velocities: (..., markers, 3), m/s.

    Returns:
        (..., 7 markers).
    """
    known = np.isfinite(positions).all(-1) & np.isfinite(velocities).all(-1)
    parts = [
        np.where(known[..., None], positions, 0.0),
        np.where(known[..., None], velocities, 0.0),
        known[..., None].astype(float),
    ]
    joined = np.concatenate(parts, axis=-1)
    return joined.reshape(*joined.shape[:-2], -1)
