"""Limits of file formats: the parts and numbers of a model that a format cannot express."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of, enumerate_names
from homodyn.model.model import Model

STANDARD_GRAVITY_M_S2 = (0.0, 0.0, -9.81)
"""Gravity of files that do not state it."""
ANATOMY = ("muscles", "ligaments", "wraps", "meshes")
"""Parts that few formats have."""
MAX_LISTED_COORDINATES = 3

_PART_NAMES = {
    "wraps": "wrapping surfaces",
    "meshes": "mesh names",
    "contact_sets": "contact sets",
    "couplers": "coupled coordinates",
}
_NUMBER_NAMES = {
    "default": "default values",
    "max_velocity": "velocity limits",
    "max_force": "force limits",
    "stiffness": "springs",
    "armature": "rotor inertias",
    "locked": "locks",
    "actuated": "missing actuators",
}
_DEFAULT_VALUES = {
    "default": 0.0,
    "max_velocity": np.inf,
    "max_force": np.inf,
    "locked": False,
    "actuated": True,
}


@record(eq=True)
class FormatLimits(Record):
    """What files of a format cannot contain; the writer leaves it out.

    A writer refuses a model that would move differently; it leaves out what only loses information.
    """

    parts: tuple[str, ...] = ()
    """Fields of the model, such as ``"muscles"``."""
    numbers: tuple[str, ...] = ()
    """Numbers of coordinates, such as ``"stiffness"``."""
    gravity: bool = False
    """Whether gravity is left out."""
    notes: bool = False
    """Whether the notes of the model are left out."""
    root_joints: bool = False
    """Whether the declaration of root joints is left out."""


def limit_losses(model: Model, name: str, limits: FormatLimits) -> Iterator[str]:
    """What a file loses of a model, one sentence per kind of loss.

    Args:
        model: The model.
        name: Name of the format.
        limits: Its limits.

    Yields:
        Sentences without a full stop.
    """
    for part in limits.parts:
        count = len(getattr(model, part))
        if count:
            plural = _PART_NAMES.get(part, part)
            what = count_of(count, plural.removesuffix("s"), plural)
            yield f"{what} cannot be stored in {name}"
    for number in limits.numbers:
        default = _DEFAULT_VALUES.get(number, 0.0)
        names = [c.name for c in model.coordinates if getattr(c, number) != default]
        if names:
            listed = enumerate_names(names, MAX_LISTED_COORDINATES)
            what = _NUMBER_NAMES.get(number, number)
            yield f"{what} of coordinates cannot be stored in {name}: {listed}"
    if limits.root_joints and model.root_joints is not None:
        yield f"the declared root joints cannot be stored in {name}"
    if limits.gravity and tuple(model.gravity) != STANDARD_GRAVITY_M_S2:
        components = ", ".join(f"{entry:g}" for entry in model.gravity)
        yield f"gravity cannot be stored in {name}; that of the model is ({components}) m/s2"
    if limits.notes and model.notes:
        yield f"{count_of(len(model.notes), 'note')} cannot be stored in {name}"
