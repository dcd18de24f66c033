"""Force plates: the wrench of the ground on a person, per sample."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of
from homodyn.motion.arrays import checked_array


@record
class PlateChannels(Record):
    """How analog channels combine into the wrench of a plate, in the axes of a C3D file.

    It allows a trial to be written back as it was recorded.
    """

    kind: int
    """Type of the plate in C3D files."""
    names: tuple[str, ...]
    """Names of its analog channels, in the order of the type."""
    corners: np.ndarray
    """(4, 3), m."""
    origin: np.ndarray
    """(3,), m: from the transducer to the middle of the surface, or as the type defines it."""
    length_unit: float = 1.0
    """Unit of position channels (m)."""
    moment_unit: float = 1.0
    """Unit of moment channels (N m)."""
    calibration: np.ndarray | None = None
    """Matrix from channels to forces and moments; None where channels are forces and moments."""
    correction: np.ndarray | None = None
    """(2, 6): polynomial of the error of the center of pressure (mm) of Kistler plates."""
    sign: int = 1
    """-1 where the channels are the force on the plate, not on the person."""

    def __post_init__(self) -> None:
        checked_array(self, "corners", (4, 3), "channels of a plate")
        checked_array(self, "origin", (3,), "channels of a plate")
        for name in ("calibration", "correction"):
            if (matrix := getattr(self, name)) is not None:
                checked_array(self, name, np.shape(matrix), "channels of a plate")


@record
class ForcePlate(Record):
    """The wrench that one plate, or one column group of a force file, measured.

    The wrench on the person at each sample is ``force`` at ``point`` and the couple ``torque``, all
    in world axes. Where the plate is loaded, ``point`` is the center of pressure and ``torque`` the
    free moment; elsewhere it may be any point of reference of the same wrench.
    """

    name: str
    """Name of the plate."""
    rate: float
    """Samples per second (Hz)."""
    force: np.ndarray
    """(samples, 3), N, on the person."""
    point: np.ndarray
    """(samples, 3), m."""
    torque: np.ndarray
    """(samples, 3), N m, on the person."""
    start: float = 0.0
    """Time of the first sample (s)."""
    corners: np.ndarray | None = None
    """(4, 3), m; None where not known."""
    channels: PlateChannels | None = None
    """The analog channels that it was computed from; None where there are none."""
    body: str = ""
    """The body that the force acts on according to the file; empty where not known."""

    def __post_init__(self) -> None:
        samples = len(self.force)
        for name in ("force", "point", "torque"):
            checked_array(self, name, (samples, 3), f"plate {self.name!r}")
        if self.corners is not None:
            checked_array(self, "corners", (4, 3), f"plate {self.name!r}")

    @cached_property
    def time(self) -> np.ndarray:
        """(samples,), s: times of the samples."""
        return self.start + np.arange(len(self.force)) / self.rate

    def headline(self) -> str:
        """Name, length and largest force."""
        peak = float(np.nanmax(np.linalg.norm(self.force, axis=1), initial=0.0))
        return f"ForcePlate {self.name!r}: {count_of(len(self.force), 'sample')}, peak {peak:.4g} N"

    def rotate(self, rotation: np.ndarray) -> ForcePlate:
        """The same plate in other axes.

        Args:
            rotation: (3, 3): rotation matrix that multiplies all vectors.

        Returns:
            The plate in the new axes.
        """
        return replace(
            self,
            force=self.force @ rotation.T,
            point=self.point @ rotation.T,
            torque=self.torque @ rotation.T,
            corners=None if self.corners is None else self.corners @ rotation.T,
        )
