"""A model from one file to another, with a sentence for everything that stays behind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from homodyn.errors import FormatError
from homodyn.model.formats import save
from homodyn.model.joint import WORLD
from homodyn.model.model import Model

EARTH = (0.0, 0.0, -9.81)


@dataclass(frozen=True)
class FormatLimits:
    """What a format has no place for: parts of a model, and numbers of coordinates."""

    name: str
    parts: tuple[str, ...]
    numbers: tuple[str, ...] = ()
    gravity: bool = False
    notes: bool = False


_ANATOMY = ("muscles", "ligaments", "wraps", "meshes")
_MJCF = FormatLimits(
    "MJCF",
    (*_ANATOMY, "contact_sets"),
    ("default", "max_velocity", "locked", "actuated"),
    notes=True,
)
FORMAT_LIMITS = {
    ".toml": FormatLimits("Homodyn's TOML", ()),
    ".lua": FormatLimits("LuaModel", _ANATOMY),
    ".urdf": FormatLimits(
        "URDF",
        (*_ANATOMY, "contact_sets"),
        ("default", "stiffness", "armature", "locked", "actuated"),
        gravity=True,
        notes=True,
    ),
    ".mjcf": _MJCF,
    ".xml": _MJCF,
}
"""By suffix, what the writers leave out; what would move differently they refuse."""

_WORDS = {
    "wraps": "wrapping surfaces",
    "meshes": "mesh names",
    "contact_sets": "contact sets",
    "default": "defaults",
    "max_velocity": "largest speeds",
    "stiffness": "springs",
    "armature": "rotor inertias",
    "locked": "locks",
    "actuated": "missing actuators",
}
_DEFAULT_VALUES = {"default": 0.0, "max_velocity": np.inf, "locked": False, "actuated": True}


def convert(
    model: Model, target: str | Path, *, like: str | Path | None = None, overwrite: bool = False
) -> list[str]:
    """Write a model into a file and return what was lost, a sentence each.

    An existing file is refused unless ``overwrite``; it is replaced as a whole. ``like`` names
    the LuaModel that the model came from; see `save`.
    """
    target = Path(target)
    if target.exists() and not overwrite:
        raise FormatError("the file exists already; replace it with --overwrite", str(target))
    keep = like if like is not None and target.suffix.lower() == ".lua" else None
    save(model, target, like=keep)
    return list(losses(model, target.suffix))


def losses(model: Model, suffix: str) -> Iterator[str]:
    """What a file of this suffix has no place for, of what the model has."""
    gaps = FORMAT_LIMITS[suffix.lower()]
    for part in gaps.parts:
        count = len(getattr(model, part))
        if count:
            yield f"{_count_phrase(count, _WORDS.get(part, part))} no place in {gaps.name}"
    for number in gaps.numbers:
        usual = _DEFAULT_VALUES.get(number, 0.0)
        names = [c.name for c in model.coordinates if getattr(c, number) != usual]
        if names:
            shown = ", ".join(names[:3]) + (", ..." if names[3:] else "")
            word = _WORDS.get(number, number)
            yield f"{word} of coordinates have no place in {gaps.name}: {shown}"
    if model.root_joints is not None and gaps.name not in ("Homodyn's TOML", "LuaModel"):
        yield f"the declared root joints have no place in {gaps.name}"
    if gaps.gravity and tuple(model.gravity) != EARTH:
        told = ", ".join(f"{entry:g}" for entry in model.gravity)
        yield f"gravity has no place in {gaps.name}; here it is ({told}) m/s2"
    if gaps.name == "URDF":
        for joint in model.joints:
            if joint.parent == WORLD and joint.kind == "free":
                yield f"the free joint {joint.name!r} is left to the program that reads the URDF"
    if gaps.notes and model.notes:
        yield f"{_count_phrase(len(model.notes), 'notes')} no place in {gaps.name}"


def _count_phrase(count: int, words: str) -> str:
    return f"1 {words.removesuffix('s')} has" if count == 1 else f"{count} {words} have"
