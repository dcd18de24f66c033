"""The manikin of the work on balance in clutter: 19 segments, 45 degrees of freedom.

Thesis of X. Qiu, table 2.1 and table B.1, with what it leaves open from de Leva (1996). The root is
six coordinates, three slides and yaw, pitch and roll, as in its section 2.2; 39 joint angles are
actuated. x is forward, y to the left and z up; at zero the manikin stands upright with arms
hanging and palms forward.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import pi
from typing import Any

from homodyn.catalog.foot import two_part_foot
from homodyn.catalog.ranges import LIMITS, motion_range
from homodyn.catalog.registry import entry
from homodyn.catalog.table import document, rows
from homodyn.errors import ModelError
from homodyn.model import Assembly, Body, Model, joints
from homodyn.model.naming import missing
from homodyn.spatial import Array

ASSUMPTIONS = (
    "The source gives segments, freedoms, stature, mass, sole and ankle height, and nothing else.",
    "Masses (divided by their sum), centres of mass and radii of gyration are de Leva's (1996).",
    "Lengths are de Leva's, all changed alike so that with the ankle 10 cm above the sole the "
    "stature is right.",
    "Hips and shoulders are where Human36 of HuMAnS has them.",
    "The joints of the spine are at omphalion, xiphion and cervicale; the neck has no mass, for "
    "de Leva's head includes it.",
    "Ball joints turn by flexion, then abduction, then rotation; abduction of the arm ends before "
    "the right angle, where that order is singular, and flexion reaches overhead.",
    "The ankle is above a quarter of the sole and the ball above three; a tenth of the foot's mass "
    "is in the toes.",
    "Each of the two joints of the back has half the range of the back.",
    "Capsules are as thick as mass and length make them at 1000 kg/m3.",
)
DENSITY = 1000.0
SIDES = {"right": -1.0, "left": 1.0}
_MIRRORED = {"x": "-x", "-x": "x", "z": "-z", "-z": "z", "y": "y", "-y": "-y"}
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
"""Which of de Leva's segments is meant, between which of his landmarks."""
_MIDDLE = ("pelvis", "lumbar_spine", "thoracic_spine", "head")
_UPRIGHT = ("thigh", "leg", "pelvis", "lumbar_spine", "thoracic_spine", "head")
"""Whose lengths make the stature, with the height of the ankle."""


@entry(
    source="thesis of X. Qiu on balance in clutter; lengths, masses and inertias of de Leva 1996",
    limits=LIMITS,
    assumed=ASSUMPTIONS,
)
def manikin(height: Array = 1.75, mass: Array = 79.0, sex: str = "male") -> Model:
    """Digital human for cluttered scenes: 19 segments, 45 degrees of freedom, soles and grips.

    ``height`` in m, ``mass`` in kg, ``sex`` ``"male"`` or ``"female"`` (for de Leva's tables).
    """
    measures = _Measures.of(height, mass, sex)
    source = f"Manikin after the thesis of X. Qiu, completed with the tables of de Leva ({sex})."
    assembly = Assembly("manikin", notes=(source, *ASSUMPTIONS))
    for segment, side in _segments():
        assembly = _with_segment(assembly, segment, side, measures)
    return _with_landmarks(assembly, measures).model()


def segment_numbers() -> dict[int, str]:
    """The bodies of the manikin by the numbers that the source gives its segments."""
    return {
        segment["id"][0 if side != "left" else 1]: _sided(segment["name"], side)
        for segment, side in _segments()
    }


@dataclass(frozen=True)
class _Measures:
    """Lengths (m), masses (kg) and bodies of one person, by segment without its side."""

    height: Array
    ankle: Array
    sole: tuple[Array, Array]
    length: Mapping[str, Array]
    body: Mapping[str, Body]

    @staticmethod
    def of(height: Array, mass: Array, sex: str) -> _Measures:
        table = document("manikin")
        known = sorted({row["sex"] for row in rows("de_leva_1996")})
        if sex not in known:
            raise ModelError(f"manikin: {missing('sex', sex, known)}")
        found = {
            (row["segment"], row["endpoints"]): {
                key: float(row[key])
                for key in ("length", "mass", "com", "sagittal", "transverse", "longitudinal")
            }
            for row in rows("de_leva_1996")
            if row["sex"] == sex
        }
        own = {name: found[key] for name, key in _DE_LEVA.items()}
        size = height / table["height"]
        ankle, sole = table["ankle"] * size, tuple(part * size for part in table["sole"])
        scale = (height - ankle) / sum(own[name]["length"] for name in _UPRIGHT)
        length = {name: row["length"] * scale for name, row in own.items()} | {"foot": sole[0]}
        rise = found["upper trunk", "SUPR-XYPH"]["length"] * scale
        length["shoulder"] = rise + table["shoulder_rise"] * height
        length["grip"] = found["hand", "WJC-MET3"]["length"] * scale
        length["head_center"] = (1 - own["head"]["com"]) * length["head"]
        whole_mass = sum(row["mass"] * (1 if name in _MIDDLE else 2) for name, row in own.items())
        bodies = {
            name: _body(name, row, length[name], mass / whole_mass) for name, row in own.items()
        }
        whole = bodies["foot"]
        at = [whole.com[0] - table["heel"] * sole[0], 0.0, -ankle / 2]
        toes = [table["toes"] * sole[0], sole[1], ankle / 4]
        length |= {"ball": (1 - table["heel"] - table["toes"]) * sole[0], "toes": toes[0]}
        bodies["foot"], bodies["toes"] = two_part_foot(
            Body("foot", whole.mass, at, whole.inertia),
            ("foot", "toes"),
            ball=[length["ball"], 0.0, -ankle],
            toes=toes,
            share=table["toe_mass"],
        )
        bodies["neck"] = Body("neck")
        return _Measures(height, ankle, (sole[0], sole[1]), length, bodies)

    def joint_place(self, name: str, side: str) -> list[Array]:
        """Where a segment's joint is in its parent (m)."""
        table, length = document("manikin"), self.length
        y = SIDES.get(side, 0.0)
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


def _body(name: str, row: Mapping[str, float], length: Array, mass: Array) -> Body:
    """A segment of de Leva's in its own frame, which lies in its joint or, of the head, centre."""
    own = row["mass"] * mass
    across = [own * (row[axis] * length) ** 2 for axis in ("sagittal", "transverse")]
    along = own * (row["longitudinal"] * length) ** 2
    if name == "foot":
        return Body(name, own, [row["com"] * length, 0.0, 0.0], [along, across[1], across[0]])
    if name == "head":
        return Body(name, own, [0.0, 0.0, 0.0], [*across, along])
    center = (1 - row["com"]) * length if name in _MIDDLE else -row["com"] * length
    return Body(name, own, [0.0, 0.0, center], [*across, along])


def _segments() -> Iterator[tuple[dict[str, Any], str]]:
    """The segments in the order of their numbers, each with its side or none."""
    listed = [
        (number, segment, side)
        for segment in document("manikin")["segment"]
        for number, side in zip(
            segment["id"], ("right", "left") if len(segment["id"]) > 1 else ("",), strict=True
        )
    ]
    for _, segment, side in sorted(listed, key=lambda item: item[0]):
        yield segment, side


def _sided(name: str, side: str) -> str:
    paired = any(s["name"] == name and len(s["id"]) > 1 for s in document("manikin")["segment"])
    return f"{side}_{name}" if paired else name


def _with_segment(
    assembly: Assembly, segment: dict[str, Any], side: str, measures: _Measures
) -> Assembly:
    name = segment["name"]
    made = measures.body[name]
    body = Body(_sided(name, side), made.mass, made.com, made.inertia)
    if "parent" not in segment:
        height = measures.ankle + measures.length["leg"] + measures.length["thigh"]
        root = joints.euler_free("zyx", default=(0.0, 0.0, height, 0.0, 0.0, 0.0))
        assembly = assembly.add(body, root, joint_name="root")
    else:
        joint = f"{side}_{segment['joint']}" if side else segment["joint"]
        assembly = assembly.add(
            body,
            _joint(segment, joint, side),
            _sided(segment["parent"], side),
            at=measures.joint_place(name, side),
            joint_name=joint,
        )
    return _with_capsule(assembly, name, body, measures)


def _joint(segment: dict[str, Any], name: str, side: str) -> joints.JointType:
    turns = segment["turns"]
    axes = [_MIRRORED[turn["axis"]] if side == "left" else turn["axis"] for turn in turns]
    part = segment.get("part", 1.0)
    ranges = [motion_range(turn["range"]) for turn in turns]
    settings: dict[str, Any] = {
        "names": [f"{name}_{turn['name']}" for turn in turns],
        "lower": [part * least for least, _ in ranges],
        "upper": [part * most for _, most in ranges],
    }
    if not axes:
        return joints.fixed()
    if len(axes) == 1:
        return joints.revolute(axes[0], **settings)
    if len(axes) == 2:
        return joints.universal(*axes, **settings)
    return joints.custom(*(joints.turn(axis, k) for k, axis in enumerate(axes)), **settings)


def _with_capsule(assembly: Assembly, name: str, body: Body, measures: _Measures) -> Assembly:
    """A capsule as long as the segment and as thick as its mass makes it."""
    length = measures.length
    if name == "neck":
        return assembly
    if name in ("foot", "toes"):
        radius = measures.ankle / 4
        back = -document("manikin")["heel"] * length["foot"] + radius if name == "foot" else 0.0
        floor = radius - measures.ankle if name == "foot" else radius
        front = length["ball"] if name == "foot" else length["toes"] - radius
        start, end = [back, 0.0, floor], [front, 0.0, floor]
        return assembly.capsule(body.name, body.name, start, end, radius)
    radius = (body.mass / (DENSITY * pi * length[name])) ** 0.5
    bottom = 0.0 if name in _MIDDLE else -length[name]
    if name == "head":
        bottom = -length["head_center"]
    start, end = [0.0, 0.0, bottom], [0.0, 0.0, bottom + length[name]]
    return assembly.capsule(body.name, body.name, start, end, radius)


def _with_landmarks(assembly: Assembly, measures: _Measures) -> Assembly:
    """De Leva's landmarks as markers, grips as frames, corners of the soles as contacts."""
    length, (sole, breadth) = measures.length, measures.sole
    heel = document("manikin")["heel"] * sole
    assembly = assembly.marker("VERT", "head", [0.0, 0.0, length["head"] - length["head_center"]])
    assembly = assembly.marker("CERV", "neck").marker("XYPH", "thoracic_spine")
    assembly = assembly.marker("OMPH", "lumbar_spine").marker("MIDH", "pelvis")
    for side, y in SIDES.items():
        for name, body, at in (
            ("SJC", "arm", [0.0, 0.0, 0.0]),
            ("EJC", "forearm", [0.0, 0.0, 0.0]),
            ("WJC", "hand", [0.0, 0.0, 0.0]),
            ("DAC3", "hand", [0.0, 0.0, -length["hand"]]),
            ("HJC", "thigh", [0.0, 0.0, 0.0]),
            ("KJC", "leg", [0.0, 0.0, 0.0]),
            ("AJC", "foot", [0.0, 0.0, 0.0]),
            ("HEEL", "foot", [-heel, 0.0, -measures.ankle]),
            ("TTIP", "toes", [length["toes"], 0.0, 0.0]),
        ):
            assembly = assembly.marker(f"{side[0].upper()}{name}", f"{side}_{body}", at)
        grip = [0.0, 0.0, -length["grip"]]
        assembly = assembly.frame(f"{side}_grip", f"{side}_hand", grip)
        assembly = assembly.contact(f"{side}_palm", f"{side}_hand", position=grip)
        for name, body, x, z in (
            ("heel", "foot", -heel, -measures.ankle),
            ("ball", "foot", length["ball"], -measures.ankle),
            ("toe", "toes", length["toes"], 0.0),
        ):
            for edge, way in (("outer", y), ("inner", -y)):
                at = [x, way * breadth / 2, z]
                assembly = assembly.contact(f"{side}_{name}_{edge}", f"{side}_{body}", position=at)
    return assembly
