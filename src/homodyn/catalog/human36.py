"""Human36, the human of HuMAnS: 17 segments, 42 degrees of freedom, 28 tags.

After the HuMAnS toolbox (INRIA, User Documentation of 23 October 2006, chapter 3). In the document
x is forward, y up and z to the right; here x is forward, y to the left and z up, in the world and,
when all coordinates are zero, in each segment. Joint angles have the meaning and sign of the
document; `homodyn.catalog.humans_order` converts between the order of the model and q1 to q42 of
the document.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any

from homodyn.catalog.data_tables import table_document
from homodyn.catalog.joint_ranges import LIMITS, motion_ranges
from homodyn.catalog.registry import entry
from homodyn.errors import ModelError
from homodyn.model import Assembly, Body, Model, joints
from homodyn.spatial import Array

VARIANTS = ("document", "code")
_AXES = {"x": "x", "-x": "-x", "y": "z", "-y": "-z", "z": "-y", "-z": "y"}
"""Axes of the document in the axes of the model."""

ASSUMPTIONS = (
    "The document has no joint ranges; those of AAOS (1965) and others are used.",
    "Signs of joints that figure 2.4 does not show follow by symmetry.",
    "Inertias about joint origins include all terms of the parallel axis theorem; the document "
    "sets products of inertia to zero, which contradicts foot and thorax.",
    "Radii of gyration of the lower trunk ignore the distance between its two parts, as in the "
    "document.",
    "Contacts at the sides of the hips and at the finger tips are at the tags; the document lists "
    "such contacts without a position. Capsules are for drawings and distances only.",
)


@entry(
    source="HuMAnS (INRIA, 2006), chapter 3, after de Leva, Clauser, Dempster and Zatsiorsky",
    limits=LIMITS,
    assumed=ASSUMPTIONS,
)
def human36(
    size: Array = 1.741,
    mass: Array = 73.0,
    *,
    variant: str = "document",
    lengths: Mapping[str, Array] | None = None,
) -> Model:
    """Human36 of HuMAnS: 17 segments, 42 degrees of freedom, 28 tags, for any stature and mass.

    Args:
        size: Stature (m); a number or a symbol.
        mass: Body mass (kg); a number or a symbol.
        variant: ``"document"``, or ``"code"`` for the published program, in which five depths scale
            with the stature and the cervicale lies at C7.
        lengths: Lengths (m) by name that replace those of `human36_lengths`; tags placed by them
            follow.

    Returns:
        The model, with the tags as markers and 12 contact points.

    Raises:
        ModelError: ``variant`` or a name in ``lengths`` is unknown.
    """
    known = _lengths(size, variant, lengths or {})
    content = table_document("human36")
    assembly = Assembly("human36", notes=(_source_note(variant), *ASSUMPTIONS))
    for segment in content["segment"]:
        assembly = _with_segment(assembly, segment, known, mass)
    for name, tag in content["tags"].items():
        assembly = assembly.marker(name, tag["on"], _point(_entry_of(tag, variant, "at"), known))
    for name, tag_name in content["contacts"].items():
        tag = content["tags"][tag_name]
        at = _point(_entry_of(tag, variant, "at"), known)
        assembly = assembly.contact(name, tag["on"], position=at)
    return assembly.model()


def human36_lengths(size: Array = 1.741, *, variant: str = "document") -> dict[str, Array]:
    """The 31 anatomical lengths (m) by name, in the order L1 to L31 of the document."""
    known = _lengths(size, variant, {})
    return {rule["name"]: known[rule["id"]] for rule in table_document("human36")["length"]}


def humans_order() -> tuple[str, ...]:
    """Coordinates in the document's order q1 to q42, with a minus where the sign is opposite."""
    names = {
        rotation["q"]: f"{segment['joint']}_{rotation['name']}"
        for segment in table_document("human36")["segment"]
        for rotation in segment.get("turns", ())
    }
    root = ("root_tx", "root_tz", "-root_ty", "root_rx", "root_rz", "-root_ry")
    return (*(names[number] for number in sorted(names)), *root)


def _with_segment(
    assembly: Assembly, segment: dict[str, Any], known: dict[str, Array], mass: Array
) -> Assembly:
    """Add a segment, its joint and its capsules."""
    name = segment["name"]
    body = Body(name)
    if segment["mass"]:
        own = segment["mass"] * mass
        radii = [share * known[segment["along"]] for share in segment["gyration"]]
        inertia = [own * radii[axis] ** 2 for axis in (0, 2, 1)]
        body = Body(name, own, _point(segment["com"], known), inertia)
    if "parent" not in segment:
        height = known["L14"] + known["L15"] + known["L16"]
        root = joints.euler_free("yzx")
        assembly = assembly.add(body, root, at=[0.0, 0.0, height], joint_name="root")
    else:
        at = _point(segment["at"], known)
        assembly = assembly.add(
            body, _joint(segment), segment["parent"], at=at, joint_name=segment["joint"]
        )
    for k, capsule in enumerate(segment["capsules"]):
        start, end = (_point(capsule[key], known) for key in ("start", "end"))
        label = f"{name}_{k + 1}" if k else name
        assembly = assembly.capsule(label, name, start, end, capsule["radius"] * known["size"])
    return assembly


def _joint(segment: dict[str, Any]) -> joints.JointType:
    """Rotations about z, y and x of the document, as many as the joint has."""
    turns = segment["turns"]
    axes = [_AXES[turn["axis"]] for turn in turns]
    settings: dict[str, Any] = motion_ranges(*(turn["range"] for turn in turns))
    settings["names"] = [f"{segment['joint']}_{turn['name']}" for turn in turns]
    if len(axes) == 1:
        return joints.revolute(axes[0], **settings)
    if len(axes) == 2:
        return joints.universal(*axes, **settings)
    return joints.custom(*(joints.turn(axis, k) for k, axis in enumerate(axes)), **settings)


def _lengths(size: Array, variant: str, overrides: Mapping[str, Array]) -> dict[str, Array]:
    """All lengths (m) by number, and the stature and one meter by name."""
    if variant not in VARIANTS:
        raise ModelError(f"human36 has no variant {variant!r}; accepted: {', '.join(VARIANTS)}")
    rules = {rule["id"]: rule for rule in table_document("human36")["length"]}
    names = [rule["name"] for rule in rules.values()]
    unknown = [name for name in overrides if name not in names]
    if unknown:
        raise ModelError(
            f"human36 has no length {', '.join(unknown)}; accepted: {', '.join(names)}"
        )
    known: dict[str, Array] = {"size": size, "m": 1.0}
    for number, rule in rules.items():
        shared = rules[rule["like"]] if "like" in rule else rule
        known[number] = overrides.get(rule["name"], _sum(_entry_of(shared, variant, "of"), known))
    return known


def _entry_of(row: dict[str, Any], variant: str, key: str) -> Any:
    """The entry of a variant: ``code`` if the variant is the program and has one, else ``key``."""
    return row["code"] if variant == "code" and "code" in row else row[key]


def _sum(terms: Mapping[str, float], known: Mapping[str, Array]) -> Array:
    return reduce(lambda total, term: total + term[1] * known[term[0]], terms.items(), 0.0)


def _point(sums: list[dict[str, float]], known: Mapping[str, Array]) -> list[Array]:
    """A position of the document in the axes of the model (m)."""
    forward, up, right = (_sum(terms, known) for terms in sums)
    return [forward, -right, up]


def _source_note(variant: str) -> str:
    source = "the document" if variant == "document" else "the published program"
    return f"Human36 of HuMAnS (INRIA, 2006), lengths and tags as in {source}."
