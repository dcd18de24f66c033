"""The result of scaling: the model of a subject, what changed, and how certain it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from homodyn.capture.scaling.marker_kinds import MarkerKind
from homodyn.capture.scaling.shared_markers import list_text
from homodyn.capture.scaling.strength_law import StrengthLaw
from homodyn.foundation.record import Record, record
from homodyn.foundation.time_series import require_pandas
from homodyn.model import Model

if TYPE_CHECKING:
    import pandas as pd

PLAUSIBLE_SCALE_RANGE = (0.8, 1.2)
"""Plausible scale factors of a generic adult."""
MAX_MARKER_SHIFT_M = 0.05
"""Marker shift (m) above which a label is probably wrong."""
MAX_FIT_RMS_M = 0.02
"""Marker error (m, root mean square) above which a scaling is doubtful."""


class ScalingStatus(StrEnum):
    """How a scaling ended."""

    SCALED = "scaled"
    """Converged, with plausible factors and a small residual."""
    DOUBTFUL = "doubtful"
    """Converged, but check the warnings before use."""
    STALLED = "stalled"
    """The iteration limit was reached; the best result so far is returned."""


class MassSource(StrEnum):
    """Where the total mass of a scaled model comes from."""

    GIVEN = "given"
    """The mass of the subject was given."""
    DENSITY = "density"
    """The segments keep the densities of the generic model."""
    PLATES = "plates"
    """Force plates carry it."""


@record
class BodyScale(Record):
    """Scale factors of one body along the axes of its frame."""

    body: str
    scale: np.ndarray
    """(3,), relative to the generic size."""
    sd: np.ndarray
    """(3,): standard deviation of the factors; NaN where no uncertainty was computed."""
    measured: np.ndarray
    """(3,): True where markers determine the factor, False where the prior or another body does."""
    source: str = ""
    """What determines the factors, in words."""
    mass: float = 0.0
    """kg, after scaling."""
    mass_before: float = 0.0
    """kg, of the generic body."""


@record
class CenterShift(Record):
    """Joint center in the parent body, before and after scaling."""

    joint: str
    parent: str
    before: np.ndarray
    after: np.ndarray
    """(3,), m, in the axes of the parent."""
    sd: float = np.nan
    """Standard deviation of the position (m), root of the summed variances of three axes."""

    @property
    def shift(self) -> float:
        """Length of the shift (m)."""
        return float(np.linalg.norm(self.after - self.before))


@record
class MarkerShift(Record):
    """Shift of a marker from its position on the scaled generic model, and its residual."""

    marker: str
    body: str
    shift: np.ndarray
    """(3,), m, in the axes of the body."""
    sd: float
    """Standard deviation of the position (m), root of the summed variances of three axes."""
    rms_before: float
    """Marker error (m, rms) of the generic model in its best poses; NaN where not seen."""
    rms_after: float
    kind: MarkerKind = MarkerKind.LANDMARK
    """What its position on the generic model is worth."""

    @property
    def distance(self) -> float:
        """Length of the shift (m)."""
        return float(np.linalg.norm(self.shift))


@record
class ScalingResult(Record):
    """A generic model scaled to a subject by `scale` or `calibrate`.

    ``model`` is the scaled model; ``bodies``, ``joints`` and ``marker_shifts`` list what changed
    and how certain it is.
    """

    model: Model
    """The scaled model."""
    generic: Model
    """The generic model."""
    status: ScalingStatus
    bodies: tuple[BodyScale, ...]
    joints: tuple[CenterShift, ...]
    marker_shifts: tuple[MarkerShift, ...]
    rms_before: float
    """Marker error (m, rms) of the generic model in its best poses."""
    rms_after: float
    """Marker error (m, rms) of ``model``."""
    q: np.ndarray
    """Poses of ``model`` in the frames that were used."""
    frames: tuple[tuple[str, int], ...] = ()
    """Those frames: name of the trial and index in it."""
    iterations: int = 0
    warnings: tuple[str, ...] = ()
    """Reasons to doubt the result, one sentence each."""
    notes: tuple[str, ...] = ()
    """Decisions made, one sentence each."""
    method: str = ""
    """One sentence: how it was obtained."""
    mass_source: MassSource = MassSource.GIVEN
    """Where the total mass comes from."""
    strength: StrengthLaw = field(default_factory=StrengthLaw)
    """How the maximal isometric forces of muscles follow the subject."""
    noise_levels: Mapping[str, float] = field(default_factory=dict)
    """Estimated standard deviations (m): ``noise``, and ``landmark`` and ``tracking``, those of
    marker placement."""

    @property
    def scales(self) -> dict[str, np.ndarray]:
        """Scale factors (3,) of each body."""
        return {row.body: row.scale for row in self.bodies}

    @property
    def rms_by_kind(self) -> dict[MarkerKind, float]:
        """Marker error (m, rms over markers) after scaling, by kind of marker.

        Errors of tracking markers are soft-tissue artifacts; those of landmarks and joint centers
        say how well the skeleton fits.
        """
        errors: dict[MarkerKind, list[float]] = {}
        for row in self.marker_shifts:
            if np.isfinite(row.rms_after):
                errors.setdefault(row.kind, []).append(row.rms_after**2)
        return {
            kind: float(np.sqrt(np.mean(errors[kind]))) for kind in MarkerKind if kind in errors
        }

    @property
    def ok(self) -> bool:
        """Whether the scaling converged without warnings."""
        return self.status is ScalingStatus.SCALED

    @property
    def undetermined(self) -> tuple[str, ...]:
        """Scale factors that the markers do not determine: ``"hand_r x"``."""
        return tuple(
            f"{row.body} {axis}"
            for row in self.bodies
            for axis, measured in zip("xyz", row.measured, strict=True)
            if not measured
        )

    def headline(self) -> str:
        """Model, status, marker error and mass."""
        return (
            f"{self.generic.name}: {self.status.value}; marker rms "
            f"{1e3 * self.rms_before:.1f} -> {1e3 * self.rms_after:.1f} mm, mass "
            f"{self.generic.mass:.2f} -> {self.model.mass:.2f} kg"
        )

    def summary(self) -> str:
        """Status, warnings and notes, and tables of bodies, joints and markers.

        Returns:
            The text.
        """
        return "\n".join(_summary_lines(self))

    def to_pandas(self) -> pd.DataFrame:
        """Scale factors, their deviations and masses as a data frame, one row per body.

        Raises:
            HomodynError: pandas is not installed.
        """
        rows = [
            {
                **{f"scale {axis}": row.scale[k] for k, axis in enumerate("xyz")},
                **{f"sd {axis}": row.sd[k] for k, axis in enumerate("xyz")},
                **{f"measured {axis}": bool(row.measured[k]) for k, axis in enumerate("xyz")},
                "mass (kg)": row.mass,
                "generic mass (kg)": row.mass_before,
                "source": row.source,
            }
            for row in self.bodies
        ]
        pandas = require_pandas()
        names = pandas.Index([row.body for row in self.bodies], name="body")
        frame: pd.DataFrame = pandas.DataFrame(rows, index=names)
        return frame


def _summary_lines(result: ScalingResult) -> list[str]:
    lines = [result.headline()]
    lines += [result.method] if result.method else []
    lines += [f"warning: {warning}" for warning in result.warnings]
    lines += [f"note: {note}" for note in result.notes]
    by_kind = [f"{kind} {1e3 * rms:.1f} mm" for kind, rms in result.rms_by_kind.items()]
    lines += [f"marker rms by kind: {', '.join(by_kind)}"] if by_kind else []
    width = max((len(row.body) for row in result.bodies), default=4)
    lines += ["", f"{'body':<{width}}  scale x y z (sd; * not determined by markers)   mass [kg]"]
    for row in result.bodies:
        cells = [
            f"{s:.3f}{'' if np.isnan(sd) else f' ({sd:.3f})'}{' ' if known else '*'}"
            for s, sd, known in zip(row.scale, row.sd, row.measured, strict=True)
        ]
        lines.append(f"{row.body:<{width}}  {'  '.join(cells)}  {row.mass:7.3f}  {row.source}")
    width = max((len(row.joint) for row in result.joints), default=5)
    lines += ["", f"{'joint':<{width}}  center shift [mm] (sd)"]
    for joint in result.joints:
        sd = "" if np.isnan(joint.sd) else f" ({1e3 * joint.sd:.1f})"
        lines.append(f"{joint.joint:<{width}}  {1e3 * joint.shift:6.1f}{sd}")
    width = max((len(row.marker) for row in result.marker_shifts), default=6)
    lines += ["", f"{'marker':<{width}}  shift [mm] (sd)   rms before -> after [mm]"]
    for marker in result.marker_shifts:
        sd = "" if np.isnan(marker.sd) else f" ({1e3 * marker.sd:.1f})"
        residual = f"{1e3 * marker.rms_before:6.1f} -> {1e3 * marker.rms_after:.1f}"
        if np.isnan(marker.rms_after):
            residual = "not seen in the frames used"
        shift = f"{1e3 * marker.distance:6.1f}{sd:<9}"
        lines.append(f"{marker.marker:<{width}}  {shift}  {residual}  {marker.kind}")
    return lines


def scaling_warnings(
    bodies: Sequence[BodyScale], markers: Sequence[MarkerShift], rms_after: float
) -> list[str]:
    """Reasons to doubt a scaled model, one sentence each."""
    found = []
    low, high = PLAUSIBLE_SCALE_RANGE
    for row in bodies:
        outside = [
            f"{axis} {s:.3f}"
            for axis, s, known in zip("xyz", row.scale, row.measured, strict=True)
            if known and not low <= s <= high
        ]
        if outside:
            found.append(
                f"body {row.body!r}: scale {', '.join(outside)} outside {low:g} to {high:g}: "
                "check subject, units and labels"
            )
    shifted = [
        f"{row.marker} {1e3 * row.distance:.0f} mm"
        for row in markers
        if row.distance > MAX_MARKER_SHIFT_M and row.kind is not MarkerKind.TRACKING
    ]
    if shifted:
        found.append(
            f"markers far from their position on the model: {list_text(shifted)}; check for "
            "swapped labels or a different marker set"
        )
    if rms_after > MAX_FIT_RMS_M:
        found.append(
            f"the marker error is still {1e3 * rms_after:.0f} mm rms: check for swapped labels and "
            "for poses outside the range of the model"
        )
    return found


def center_shifts(
    generic: Model, scaled: Model, deviations: np.ndarray | None = None
) -> tuple[CenterShift, ...]:
    """Joint centers before and after scaling, without those of the root.

    Args:
        generic: The generic model.
        scaled: The scaled model.
        deviations: (joints,): standard deviations (m), if known.
    """
    sds = np.full(len(generic.joints), np.nan) if deviations is None else deviations
    return tuple(
        CenterShift(old.name, old.parent, old.placement.r, new.placement.r, float(sd))
        for old, new, sd, parent in zip(
            generic.joints, scaled.joints, sds, generic.parents, strict=True
        )
        if parent >= 0
    )
