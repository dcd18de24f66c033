"""Force plates: the wrench that the ground exerts on a person, sample by sample."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from homodyn.motion.arrays import settle


@dataclass(frozen=True, eq=False)
class Wiring:
    """How the channels of a plate make its wrench: what a C3D file tells, in the axes of the file.

    With it a trial is written back as it was recorded.
    """

    kind: int
    """Type of the plate, as C3D numbers them."""
    channels: tuple[str, ...]
    """Names of its analog channels, in the order of the type."""
    corners: np.ndarray
    """(4, 3), m."""
    origin: np.ndarray
    """(3,), m: from the transducer to the middle of the surface, or what the type means by it."""
    length: float = 1.0
    """m in the unit of position channels."""
    moment: float = 1.0
    """N m in the unit of moment channels."""
    calibration: np.ndarray | None = None
    """Matrix that turns channels into forces and moments; None where the channels are those."""
    correction: np.ndarray | None = None
    """(2, 6): polynomial of the error of the centre of pressure of Kistler's plates, mm."""
    sign: int = 1
    """-1 where the channels hold the force on the plate instead of that on the person."""

    def __post_init__(self) -> None:
        settle(self, "corners", (4, 3), "wiring of a plate")
        settle(self, "origin", (3,), "wiring of a plate")
        for name in ("calibration", "correction"):
            if (matrix := getattr(self, name)) is not None:
                settle(self, name, np.shape(matrix), "wiring of a plate")


@dataclass(frozen=True, eq=False)
class ForcePlate:
    """What one plate, or one column group of a force file, says the ground did to the person.

    The wrench on the person at each sample is ``force`` at ``point`` and the couple ``torque``, all
    in world axes. Where the plate is loaded, ``point`` is the centre of pressure and ``torque`` the
    free moment; elsewhere any other point of the same wrench may stand.
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
    wiring: Wiring | None = None
    """How it was computed from analog channels; None where it was not."""
    body: str = ""
    """The body that the file applies it to; nothing where the file does not say."""

    def __post_init__(self) -> None:
        samples = len(self.force)
        for name in ("force", "point", "torque"):
            settle(self, name, (samples, 3), f"plate {self.name!r}")
        if self.corners is not None:
            settle(self, "corners", (4, 3), f"plate {self.name!r}")

    @cached_property
    def time(self) -> np.ndarray:
        """Instants of the samples (s)."""
        return self.start + np.arange(len(self.force)) / self.rate

    def turned(self, rotation: np.ndarray) -> ForcePlate:
        """The same plate with every vector turned by a rotation matrix."""
        return replace(
            self,
            force=self.force @ rotation.T,
            point=self.point @ rotation.T,
            torque=self.torque @ rotation.T,
            corners=None if self.corners is None else self.corners @ rotation.T,
        )
