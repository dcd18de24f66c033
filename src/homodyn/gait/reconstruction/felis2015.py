"""The step of Felis (2015): its four stages, what holds in each, its bounds and weights.

Section 5.3.3 lists the conditions for a right foot that stands while the left one swings; a step on
the left foot is the mirror image.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from homodyn.catalog.heiman_tables import typical_torques, walking_bounds
from homodyn.gait.contact_schedule import SIDES, Footing, Standing
from homodyn.model import Model
from homodyn.optimal.conditions import Condition, height, require, unilateral, velocity
from homodyn.spatial import stack

STAGES = (
    (Standing.FLAT, Standing.SWING),
    (Standing.FOREFOOT, Standing.SWING),
    (Standing.FOREFOOT, Standing.HEEL),
    (Standing.FOREFOOT, Standing.FLAT),
)
"""Standing and swinging foot; a touchdown follows the second stage and the third."""

_TURNED = ("TY", "RX", "RZ")


def stance_side(footings: Sequence[Footing]) -> str:
    """The foot that stands first: ``"Right"`` or ``"Left"``; the right one if both do."""
    return "Left" if footings[0].right is Standing.SWING else "Right"


def is_thesis_step(footings: Sequence[Footing]) -> bool:
    """Whether a step has just the four stages."""
    right = stance_side(footings) == "Right"
    seen = [(f.right, f.left) if right else (f.left, f.right) for f in footings]
    return seen == list(STAGES)


def unloaded(*frames: str) -> Condition:
    """No upward force on contacts that are about to leave the ground."""
    return require(
        "unloaded",
        lambda i: stack(*(i.ground_force(frame)[2] for frame in frames)),
        labels=frames,
    )


def stage_conditions(stage: int, stance: str) -> list[Condition]:
    """What holds in one of the four stages, besides contacts in place and at rest."""
    swing = next(side for side in SIDES if side != stance)
    heel, toes = f"Heel{stance}", (f"Hallux{stance}", f"Meta5{stance}")
    other_heel, hallux, lateral = f"Heel{swing}", f"Hallux{swing}", f"Meta5{swing}"
    if stage == 0:
        return [
            height(hallux, lower=0.0, upper=0.0).at("start"),
            *_from_start(unilateral(heel, *toes)),
            unloaded(heel).at("end"),
        ]
    if stage == 1:
        return [
            height(other_heel, hallux).at("start"),
            height(other_heel, hallux, heel).at("inside"),
            *_from_start(unilateral(*toes)),
            height(lateral, hallux, heel).at("end"),
            _falling(other_heel),
            unilateral(*toes).at("end"),
        ]
    if stage == 2:
        return [
            *_from_start(height(hallux, heel)),
            *_from_start(unilateral(*toes, other_heel)),
            height(heel).at("end"),
            *(_falling(point) for point in (hallux, lateral)),
            unilateral(*toes, other_heel).at("end"),
        ]
    landed = unilateral(other_heel, hallux, lateral)
    return [
        *_from_start(height(heel)),
        *_from_start(unilateral(*toes, other_heel, hallux, lateral)),
        height(heel).at("end"),
        unloaded(*toes).at("end"),
        landed.at("end"),
    ]


def _from_start(condition: Condition) -> tuple[Condition, Condition]:
    """At the first node and inside; the last node belongs to what follows."""
    return condition.at("start"), condition.at("inside")


def _falling(frame: str) -> Condition:
    return velocity(frame, "z", lower=-np.inf, upper=0.0).at("end")


def thesis_bounds(model: Model, which: str, stance: str) -> dict[str, tuple[float, float]]:
    """Bounds by coordinate of the model: positions of table 5.1 or torques of table 5.2.

    ``which`` is ``"reconstruction"`` or ``"torque"``. Empty for coordinates without any.
    """
    table = walking_bounds(which)
    found = {}
    for name in model.coordinate_names:
        low, high = table.get(name, (-np.inf, np.inf))
        if stance == "Left":
            low, high = table.get(_other(name), (-np.inf, np.inf))
            if name.rpartition("_")[2] in _TURNED:
                low, high = -high, -low
        if np.isfinite([low, high]).any():
            found[name] = (low, high)
    return found


def torque_scale(model: Model) -> np.ndarray:
    """One over squared typical torques (1/(N m)2), those of table 6.3 where the model has them.

    Other motors count by their strength, of which a tenth is taken for typical.
    """
    typical = typical_torques()
    strong = np.isfinite(model.max_force) & (model.max_force > 0)
    strength = np.where(strong, model.max_force, 100.0) / 10
    known = [typical.get(n, s) for n, s in zip(model.coordinate_names, strength, strict=True)]
    return 1 / np.array(known) ** 2


def _other(name: str) -> str:
    for one, two in (SIDES, SIDES[::-1]):
        if one in name:
            return name.replace(one, two)
    return name
