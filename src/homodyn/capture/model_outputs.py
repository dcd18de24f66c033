"""Points of a recording that a biomechanical model wrote: virtual points, angles, forces, powers.

Vicon's Plug-in Gait stores its results as points of the C3D file, next to the markers. Each segment
has an origin and three axis points (``PELO``, ``PELA``, ``PELL``, ``PELP``); joints have angles,
forces, moments and powers (``LKneeAngles``, ``LKneeMoment``). They are results, not measurements.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum

import numpy as np

from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of


class OutputKind(StrEnum):
    """Quantity of a model output."""

    POINT = "point"
    """Position in the world (m)."""
    ANGLE = "angle"
    FORCE = "force"
    MOMENT = "moment"
    POWER = "power"
    SCALAR = "scalar"


@record
class ModelOutput(Record):
    """One result that the software of the laboratory stored in the file."""

    name: str
    """Name in the file."""
    kind: OutputKind
    unit: str
    """Unit of ``values``: ``m`` for points, else that of the file (``deg``, ``N/kg``, ...)."""
    values: np.ndarray
    """(frames, 3); NaN where the model has no result. Points are in the axes of the trial."""

    def headline(self) -> str:
        """Name, kind, unit and frames."""
        frames = count_of(len(self.values), "frame")
        return f"{self.name}: {self.kind} in {self.unit or 'no unit'}, {frames}"


KIND_BY_GROUP = {
    "ANGLES": OutputKind.ANGLE,
    "FORCES": OutputKind.FORCE,
    "MOMENTS": OutputKind.MOMENT,
    "POWERS": OutputKind.POWER,
    "SCALARS": OutputKind.SCALAR,
    "MODELED_MARKERS": OutputKind.POINT,
    "MODELED_MARKERS_ANGLES": OutputKind.ANGLE,
}
"""Kind of the points that a parameter of the C3D group POINT lists."""

_KIND_BY_WORD = {
    "angle": OutputKind.ANGLE,
    "force": OutputKind.FORCE,
    "moment": OutputKind.MOMENT,
    "power": OutputKind.POWER,
}
_QUANTITY = re.compile(
    r"[LR]?(Hip|Knee|Ankle|AbsAnkle|Shoulder|Elbow|Wrist|Neck|Spine|Head|Thorax|Pelvis|Waist|"
    r"FootProgress|GroundReaction|NormalisedGR|ForeFoot)(Angle|Force|Moment|Power)s?"
)
_SEGMENT_POINT = re.compile(r"([LR](?:CL|FE|FO|HN|HU|RA|TI|TO)|PEL|HED|TRX)([OALP])")
_CENTER_OF_MASS = re.compile(r"Cent(re|er)OfMass(Floor)?")
MIN_SEGMENT_POINTS = 3
"""Points of one segment (origin and axes) that make names such as ``LTOP`` those of a model."""


def model_output_kinds(labels: Sequence[str]) -> Mapping[str, OutputKind]:
    """Labels that are results of a model by their names.

    Points of segments are recognized if most of the four points of the segment are there, or if it
    is the origin of the pelvis, head or trunk: ``LTOP`` alone may be a marker.

    Args:
        labels: Labels of the points of a file, with or without a subject prefix.

    Returns:
        Kinds by label.
    """
    names = {label: label.rsplit(":", 1)[-1].strip() for label in labels}
    segments: dict[str, int] = {}
    for name in set(names.values()):
        if match := _SEGMENT_POINT.fullmatch(name):
            segments[match[1]] = segments.get(match[1], 0) + 1
    found: dict[str, OutputKind] = {}
    for label, name in names.items():
        point = _SEGMENT_POINT.fullmatch(name)
        is_origin = name in ("PELO", "HEDO", "TRXO") or bool(_CENTER_OF_MASS.fullmatch(name))
        if match := _QUANTITY.fullmatch(name):
            found[label] = _KIND_BY_WORD[match[2].lower()]
        elif is_origin or (point and segments[point[1]] >= MIN_SEGMENT_POINTS):
            found[label] = OutputKind.POINT
    return found


DEFAULT_UNITS = {
    OutputKind.POINT: "m",
    OutputKind.ANGLE: "deg",
    OutputKind.FORCE: "N",
    OutputKind.MOMENT: "Nmm",
    OutputKind.POWER: "W",
    OutputKind.SCALAR: "",
}
"""Units in which Vicon stores each kind when the file does not say."""
