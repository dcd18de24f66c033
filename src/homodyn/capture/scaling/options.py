"""Options of scaling and calibration: the subject, tied scale factors and priors."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from typing import TypedDict

import numpy as np

from homodyn.capture.plug_in_gait_centers import PlugInGaitSubject
from homodyn.capture.scaling.hip_regression import HipRegression
from homodyn.capture.scaling.scaling_prior import ScalingPrior
from homodyn.capture.scaling.strength_law import StrengthLaw
from homodyn.errors import CaptureError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import unknown_name
from homodyn.muscle.strength_scaling import LAWS, MASS_LAW

HEIGHT_RANGE_M = (0.3, 2.8)
"""Heights of people (m), babies included."""

MarkerPair = tuple[str, str]
"""Names of two markers."""
BodyPairs = Sequence[MarkerPair] | Mapping[str, Sequence[MarkerPair]]
"""Marker pairs of a body, for all its axes, or by axes such as ``"x"`` or ``"yz"``."""


class SubjectScalingKeywords(TypedDict, total=False):
    """The fields of `SubjectScalingOptions` as keywords."""

    mass: float | None
    height: float | None
    symmetric: bool
    scale_groups: Sequence[Collection[str]]
    prior: ScalingPrior
    keep_shares: bool
    plug_in_gait: PlugInGaitSubject | None
    hip_regression: HipRegression
    strength: str


class ScalingKeywords(SubjectScalingKeywords, total=False):
    """The fields of `ScalingOptions` as keywords of `scale`."""

    pairs: Mapping[str, BodyPairs] | None
    fixed_markers: Collection[str]
    move_markers: bool


class CalibrationKeywords(SubjectScalingKeywords, total=False):
    """The fields of `CalibrationOptions` as keywords of `calibrate`."""

    uniform: bool
    frames: int | Sequence[int]
    huber_distance: float | None


@record
class SubjectScalingOptions(Record):
    """What `scale` and `calibrate` share: the subject, tied scale factors and the prior.

    Raises:
        CaptureError: The mass or the height is not that of a person, or the hip regression or a
            law is unknown.
    """

    mass: float | None = None
    """Mass of the subject (kg); None keeps the densities of the model."""
    height: float | None = None
    """Height of the subject (m); narrows the prior of the overall size."""
    symmetric: bool = True
    """Whether left and right have the same scale factors."""
    scale_groups: Sequence[Collection[str]] = ()
    """Groups of bodies that share their scale factors: ``[("ulna_r", "radius_r")]``."""
    prior: ScalingPrior = field(default_factory=ScalingPrior)
    """Standard deviations of sizes, marker placement and noise."""
    keep_shares: bool = False
    """Whether each segment keeps its share of the total mass; otherwise masses follow volumes."""
    plug_in_gait: PlugInGaitSubject | None = None
    """Measured legs of a subject with the markers of Plug-in Gait; None assumes the widths of knees
    and ankles from the length of the legs."""
    hip_regression: HipRegression = HipRegression.HARRINGTON
    """Regression of the hip centers on the pelvis, where the pelvis has markers on ASIS and PSIS
    and no hip centers were recorded."""
    strength: str = MASS_LAW
    """Law of the maximal isometric forces of muscles, of `homodyn.muscle.scale_strengths`:
    ``"mass"`` (body mass to the power 2/3), ``"volume"`` (muscle volume by mass and stature), or
    ``"keep"``."""

    def __post_init__(self) -> None:
        if self.mass is not None and not 0 < self.mass < np.inf:
            raise CaptureError(f"mass: a number above zero (kg) is needed, got {self.mass!r}")
        low, high = HEIGHT_RANGE_M
        if self.height is not None and not low < self.height < high:
            raise CaptureError(
                f"height: a number of meters is needed, such as 1.75; got {self.height!r}"
            )
        known = [str(one) for one in HipRegression]
        if self.hip_regression not in known:
            raise CaptureError(
                f"hip_regression: {self.hip_regression!r} is unknown; accepted: {', '.join(known)}"
            )
        object.__setattr__(self, "hip_regression", HipRegression(self.hip_regression))
        if self.strength not in LAWS:
            raise CaptureError(f"strength: {unknown_name('law', self.strength, LAWS)}")
        groups = tuple(tuple(group) for group in self.scale_groups)
        object.__setattr__(self, "scale_groups", groups)

    @property
    def strength_law(self) -> StrengthLaw:
        """How the muscles of the scaled model become as strong as those of the subject."""
        return StrengthLaw(self.strength, self.height)


@record
class ScalingOptions(SubjectScalingOptions):
    """How `scale` scales a model to a subject in a static trial."""

    pairs: Mapping[str, BodyPairs] | None = None
    """Marker pairs by body, instead of the automatic ones, for all axes or by axis:
    ``{"shank": [("KNE", "ANK")], "foot": {"x": [("HEE", "TOE")], "yz": [("MT1", "MT5")]}}``. Each
    axis takes the mean ratio of its pairs."""
    fixed_markers: Collection[str] = ()
    """Markers that keep their position on the model."""
    move_markers: bool = True
    """Whether markers move to their measured positions."""


@record
class CalibrationOptions(SubjectScalingOptions):
    """How `calibrate` estimates the sizes of a subject from moving trials."""

    uniform: bool = False
    """Whether each body has one scale factor for its three axes."""
    frames: int | Sequence[int] = 30
    """Number of frames to use, selected for diversity, or their indices over all trials."""
    huber_distance: float | None = None
    """Marker error (m) beyond which the influence of a marker is reduced (Huber loss); None: pure
    least squares."""
