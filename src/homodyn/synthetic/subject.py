"""A person nobody has measured: HeiMan with segment lengths and markers of their own."""

from __future__ import annotations

import numpy as np

from homodyn.catalog import heiman
from homodyn.catalog.heiman_tables import heiman_parameters
from homodyn.errors import ModelError
from homodyn.foundation.text import unknown_name
from homodyn.model import Model

LENGTH_SD_RATIO = 0.03
"""Standard deviation of a segment's length around that of the table, as a part of it."""
MARKER_SD_M = 0.005
"""Standard deviation of a marker's place around that of the table (m, each axis)."""

_UPPER_TRUNK_HEIGHTS = ("UpperTrunkHeight", "ShoulderHeight", "SuprasternaleHeight")
_STATURE_SEGMENTS = (
    "ShankLength",
    "ThighLength",
    "PelvisHeight",
    "MiddleTrunkHeight",
    "NeckLength",
)
"""With the upper trunk, the foot's height and the head these add up to the stature."""
_OTHER_SEGMENTS = ("UpperArmLength", "LowerArmLength", "ClaviculaLength", "HipWidth", "FootLength")


def random_subject(
    *,
    height: float,
    mass: float,
    sex: str,
    rng: np.random.Generator,
    variation: float = 1.0,
) -> Model:
    """A person of that stature (m) and mass (kg) whose proportions are not those of the tables.

    Lengths vary by 3 % and markers by 5 mm (standard deviations), times ``variation``; left and
    right are alike, and the stature stays what was asked for.
    """
    usual = heiman_parameters(height, mass, sex)
    sized: dict[str, float] = {
        name: usual[name if name in usual else _right_name(name)]
        for name in (*_STATURE_SEGMENTS, *_OTHER_SEGMENTS)
    }
    sized["UpperTrunkHeight"] = usual["UpperTrunkHeight"]
    spread = np.clip(rng.normal(size=len(sized)), -2.0, 2.0) * LENGTH_SD_RATIO * variation
    chosen = {name: size * (1 + s) for (name, size), s in zip(sized.items(), spread, strict=True)}
    stacked = (*_STATURE_SEGMENTS, "UpperTrunkHeight")
    stature = sum(sized[name] for name in stacked) / sum(chosen[name] for name in stacked)
    for name in stacked:
        chosen[name] *= stature
    for name in _UPPER_TRUNK_HEIGHTS:
        chosen[name] = chosen["UpperTrunkHeight"]
    model = heiman(height=height, mass=mass, sex=sex, overrides=chosen)
    moved = {
        f"{marker.name}.position": np.asarray(marker.position, float)
        + rng.normal(size=3) * MARKER_SD_M * variation
        for marker in model.markers
    }
    return model.with_numbers(moved)


def check_walking_model(model: Model) -> None:
    """Refuse a model that lacks what the walk is built from: HeiMan's coordinates and soles."""
    needed = heiman()
    for what, have, want in (
        ("coordinate", model.coordinate_names, needed.coordinate_names),
        ("contact", [c.name for c in model.contacts], [c.name for c in needed.contacts]),
    ):
        for name in want:
            if name not in have:
                raise ModelError(
                    f"model {model.name!r} cannot walk here: it has "
                    f"{unknown_name(what, name, have)}. "
                    "Walks are made for homodyn.catalog.heiman and what is scaled from it"
                )


def _right_name(name: str) -> str:
    for part in ("Length", "Width", "Height"):
        if name.endswith(part):
            return name.removesuffix(part) + "Right" + part
    return name
