"""The step of Felis (2015): its four stages, their constraints, bounds and weights.

Section 5.3.3 lists the constraints for stance on the right foot; a step on the left foot is the
mirror image.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from homodyn.catalog.heiman_tables import typical_torques, walking_bounds
from homodyn.gait.contact_schedule import FootContact, FootContactPhase
from homodyn.model import Model
from homodyn.motion import Side
from homodyn.optimal.statement.path_constraints import (
    PathConstraint,
    height,
    require,
    unilateral,
    velocity,
)
from homodyn.spatial import stack

STAGES = (
    (FootContact.FLAT, FootContact.SWING),
    (FootContact.FOREFOOT, FootContact.SWING),
    (FootContact.FOREFOOT, FootContact.HEEL),
    (FootContact.FOREFOOT, FootContact.FLAT),
)
"""Stance foot and swing foot; a touchdown follows the second stage and the third."""

_MIRRORED_AXES = ("TY", "RX", "RZ")


def stance_side(contact_phases: Sequence[FootContactPhase]) -> Side:
    """The side of the stance foot in the first phase; the right one if both are on the ground."""
    return Side.LEFT if contact_phases[0].right is FootContact.SWING else Side.RIGHT


def is_felis2015_step(contact_phases: Sequence[FootContactPhase]) -> bool:
    """Whether a step has exactly the four stages."""
    stance = stance_side(contact_phases)
    stages = [(phase.feet[stance], phase.feet[stance.other]) for phase in contact_phases]
    return stages == list(STAGES)


def zero_normal_force(*frames: str) -> PathConstraint:
    """Zero normal force on contacts that are about to leave the ground."""
    return require(
        "unloaded",
        lambda i: stack(*(i.ground_force(frame)[2] for frame in frames)),
        labels=frames,
    )


def stage_constraints(stage: int, stance_side: Side) -> list[PathConstraint]:
    """Constraints of one of the four stages, besides contacts in place and at rest."""
    stance, swing = stance_side.title, stance_side.other.title
    heel, toes = f"Heel{stance}", (f"Hallux{stance}", f"Meta5{stance}")
    other_heel, hallux, lateral = f"Heel{swing}", f"Hallux{swing}", f"Meta5{swing}"
    if stage == 0:
        return [
            height(hallux, lower=0.0, upper=0.0).at("start"),
            *_from_start(unilateral(heel, *toes)),
            zero_normal_force(heel).at("end"),
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
    touchdown = unilateral(other_heel, hallux, lateral)
    return [
        *_from_start(height(heel)),
        *_from_start(unilateral(*toes, other_heel, hallux, lateral)),
        height(heel).at("end"),
        zero_normal_force(*toes).at("end"),
        touchdown.at("end"),
    ]


def _from_start(constraint: PathConstraint) -> tuple[PathConstraint, PathConstraint]:
    """At the first node and inside; the last node belongs to the next stage."""
    return constraint.at("start"), constraint.at("inside")


def _falling(frame: str) -> PathConstraint:
    return velocity(frame, "z", lower=-np.inf, upper=0.0).at("end")


def felis2015_bounds(model: Model, which: str, stance: Side) -> dict[str, tuple[float, float]]:
    """Bounds by coordinate of the model: positions of table 5.1 or torques of table 5.2.

    ``which`` is ``"reconstruction"`` or ``"torque"``. Coordinates without bounds are left out.
    """
    table = walking_bounds(which)
    bounds = {}
    for name in model.coordinate_names:
        low, high = table.get(name, (-np.inf, np.inf))
        if stance is Side.LEFT:
            low, high = table.get(_other(name), (-np.inf, np.inf))
            if name.rpartition("_")[2] in _MIRRORED_AXES:
                low, high = -high, -low
        if np.isfinite([low, high]).any():
            bounds[name] = (low, high)
    return bounds


def torque_scale(model: Model) -> np.ndarray:
    """One over squared typical torques (1/(N m)2), those of table 6.3 where the model has them.

    For other coordinates a tenth of the largest torque is taken as typical.
    """
    typical = typical_torques()
    strong = np.isfinite(model.max_force) & (model.max_force > 0)
    strength = np.where(strong, model.max_force, 100.0) / 10
    known = [typical.get(n, s) for n, s in zip(model.coordinate_names, strength, strict=True)]
    return 1 / np.array(known) ** 2


def _other(name: str) -> str:
    for side in Side:
        if side.title in name:
            return name.replace(side.title, side.other.title)
    return name
