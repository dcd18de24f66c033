"""Dimensions of the manikin: de Leva's segments, scaled by one factor to fit the stature."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from homodyn.catalog.anthropometry import SegmentParameters, de_leva
from homodyn.catalog.data_tables import table_document
from homodyn.catalog.foot import two_part_foot
from homodyn.model import Body
from homodyn.model.side import Side
from homodyn.spatial import Array

MIDDLE = ("pelvis", "lumbar_spine", "thoracic_spine", "head")
"""Segments that extend upwards from their joints; the others are paired and extend downwards."""
_DE_LEVA = {
    "pelvis": ("lower trunk", "OMPH-MIDH"),
    "lumbar_spine": ("middle trunk", "XYPH-OMPH"),
    "thoracic_spine": ("upper trunk", "CERV-XYPH"),
    "head": ("head", "VERT-CERV"),
    "arm": ("upper arm", "SJC-EJC"),
    "forearm": ("forearm", "EJC-WJC"),
    "hand": ("hand", "WJC-DAC3"),
    "thigh": ("thigh", "HJC-KJC"),
    "leg": ("shank", "KJC-AJC"),
    "foot": ("foot", "HEEL-TTIP"),
}
"""De Leva's segment and its end points."""
_UPRIGHT = ("thigh", "leg", *MIDDLE)
"""Segments whose lengths add up to the stature, with the height of the ankle."""


@dataclass(frozen=True)
class ManikinDimensions:
    """Lengths (m) and bodies of one person, by the name of the segment without its side."""

    height: Array
    ankle: Array
    sole: tuple[Array, Array]
    length: Mapping[str, Array]
    body: Mapping[str, Body]

    @staticmethod
    def of(height: Array, mass: Array, sex: str) -> ManikinDimensions:
        """The dimensions of a person of ``height`` (m) and ``mass`` (kg)."""
        table = table_document("manikin")
        segments = {name: de_leva(part, sex, ends) for name, (part, ends) in _DE_LEVA.items()}
        size = height / table["height"]
        ankle, sole = table["ankle"] * size, [extent * size for extent in table["sole"]]
        scale = (height - ankle) / sum(segments[name].length for name in _UPRIGHT)
        length = {name: segment.length * scale for name, segment in segments.items()}
        rise = de_leva("upper trunk", sex, "SUPR-XYPH").length * scale
        length |= {
            "foot": sole[0],
            "ball": (1 - table["heel"] - table["toes"]) * sole[0],
            "toes": table["toes"] * sole[0],
            "shoulder": rise + table["shoulder_rise"] * height,
            "grip": de_leva("hand", sex, "WJC-MET3").length * scale,
            "head_center": (1 - segments["head"].com) * length["head"],
        }
        total = sum(one.mass * (1 if name in MIDDLE else 2) for name, one in segments.items())
        bodies = {
            name: _body(name, segment, length[name], mass / total)
            for name, segment in segments.items()
            if name != "foot"
        }
        bodies["neck"] = Body("neck")
        bodies["foot"], bodies["toes"] = two_part_foot(
            _whole_foot(segments["foot"], sole[0], ankle, mass / total),
            ("foot", "toes"),
            ball=[length["ball"], 0.0, -ankle],
            toes=[length["toes"], sole[1], ankle / 4],
            share=table["toe_mass"],
        )
        return ManikinDimensions(height, ankle, (sole[0], sole[1]), length, bodies)

    def joint_place(self, name: str, side: str) -> list[Array]:
        """Position of a segment's joint in its parent (m)."""
        table, length = table_document("manikin"), self.length
        y = Side(side).sign if side else 0.0
        places: dict[str, list[Array]] = {
            "lumbar_spine": [0.0, 0.0, length["pelvis"]],
            "thoracic_spine": [0.0, 0.0, length["lumbar_spine"]],
            "neck": [0.0, 0.0, length["thoracic_spine"]],
            "head": [0.0, 0.0, length["head_center"]],
            "arm": [0.0, y * table["half_shoulder"] * self.height, length["shoulder"]],
            "forearm": [0.0, 0.0, -length["arm"]],
            "hand": [0.0, 0.0, -length["forearm"]],
            "thigh": [0.0, y * table["half_hip"] * self.height, 0.0],
            "leg": [0.0, 0.0, -length["thigh"]],
            "foot": [0.0, 0.0, -length["leg"]],
            "toes": [length["ball"], 0.0, -self.ankle],
        }
        return places[name]


def _body(name: str, segment: SegmentParameters, length: Array, mass: Array) -> Body:
    """A segment in its own frame, whose origin is its joint; the center of mass for the head."""
    if name not in MIDDLE:
        return segment.body(name, 1.0, mass, length=length)
    body = segment.from_distal_end().body(name, 1.0, mass, length=length, upwards=True)
    return replace(body, com=(0.0, 0.0, 0.0)) if name == "head" else body


def _whole_foot(segment: SegmentParameters, length: Array, ankle: Array, mass: Array) -> Body:
    """De Leva's foot with its origin at the ankle and its long axis along x."""
    heel = table_document("manikin")["heel"] * length
    own = segment.mass * mass
    upright, across, along = (own * (radius * length) ** 2 for radius in segment.gyration)
    center = [segment.com * length - heel, 0.0, -ankle / 2]
    return Body("foot", own, center, [along, across, upright])
