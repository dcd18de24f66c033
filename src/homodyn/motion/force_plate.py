"""Force plates: the wrench that the ground exerts on a person, sample by sample."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from homodyn.foundation.record import Record, record
from homodyn.motion.arrays import checked_array


@record
class PlateChannels(Record):
    """How analog channels combine into the wrench of a plate, as a C3D file states it.

    In the axes of the file. With it a trial is written back as it was recorded.
    """

    kind: int
    """Type of the plate, as C3D numbers them."""
    names: tuple[str, ...]
    """Names of its analog channels, in the order of the type."""
    corners: np.ndarray
    """(4, 3), m."""
    origin: np.ndarray
    """(3,), m: from the transducer to the middle of the surface, or as the type defines it."""
    length_unit: float = 1.0
    """m in the unit of position channels."""
    moment_unit: float = 1.0
    """N m in the unit of moment channels."""
    calibration: np.ndarray | None = None
    """Matrix from channels to forces and moments; None where the channels are those already."""
    correction: np.ndarray | None = None
    """(2, 6): polynomial of the error of the centre of pressure of Kistler's plates, mm."""
    sign: int = 1
    """-1 where the channels hold the force on the plate instead of that on the person."""

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
    in world axes. Where the plate is loaded, ``point`` is the centre of pressure and ``torque`` the
    free moment; elsewhere it may be any other point of the same wrench.
    """

    name: str
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
    """(4, 3), m; None where the file does not say."""
    channels: PlateChannels | None = None
    """How it was computed from analog channels; None where it was not."""
    body: str = ""
    """The body that the file applies it to; nothing where the file does not say."""

    def __post_init__(self) -> None:
        samples = len(self.force)
        for name in ("force", "point", "torque"):
            checked_array(self, name, (samples, 3), f"plate {self.name!r}")
        if self.corners is not None:
            checked_array(self, "corners", (4, 3), f"plate {self.name!r}")

    @cached_property
    def time(self) -> np.ndarray:
        """Instants of the samples (s)."""
        return self.start + np.arange(len(self.force)) / self.rate

    def headline(self) -> str:
        """Name, length and largest force."""
        peak = float(np.nanmax(np.linalg.norm(self.force, axis=1), initial=0.0))
        return f"ForcePlate {self.name!r}: {len(self.force)} samples, peak {peak:.4g} N"

    def rotate(self, rotation: np.ndarray) -> ForcePlate:
        """The same plate in other axes.

        Args:
            rotation: (3, 3): every vector is multiplied by it.
        """
        return replace(
            self,
            force=self.force @ rotation.T,
            point=self.point @ rotation.T,
            torque=self.torque @ rotation.T,
            corners=None if self.corners is None else self.corners @ rotation.T,
        )
