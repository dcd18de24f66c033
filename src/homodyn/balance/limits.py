"""What gives way at the border of balance: which support slips, tips, lifts or is overloaded."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from homodyn.balance.contacts import Patch
from homodyn.balance.linear_program import maximum
from homodyn.balance.wrenches import WrenchSet

FREE = 1e-7


class Mode(StrEnum):
    """How a support limits."""

    SLIP = "slip"
    """Every loaded corner pushes along the border of its friction pyramid."""
    TIP = "tip"
    """Only some corners are loaded: the support turns about them."""
    LIFT = "lift"
    """No corner is loaded: the support comes off."""
    FORCE = "force"
    """A limit of force or moment is reached."""


VERBS = {Mode.SLIP: "slips", Mode.TIP: "tips", Mode.LIFT: "lifts off", Mode.FORCE: "is overloaded"}


@dataclass(frozen=True)
class Limit:
    """How one support limits; no mode where it has something left."""

    support: str
    modes: tuple[Mode, ...]

    def __str__(self) -> str:
        verbs = [VERBS[mode] for mode in self.modes] or ["holds"]
        return f"{self.support} {' and '.join(verbs)}"


def limits_at(wrenches: WrenchSet, side: int) -> tuple[Limit, ...]:
    """What every support does on one side of the set, a row of ``WrenchSet.rows``.

    The farthest wrenches along the normal of a side are made of the generators whose worth equals
    the price of the limits they are under; prices are the duals of a linear program. Supports that
    limit come first, those that lift last.
    """
    forces, stance = wrenches.forces, wrenches.stance
    moment, force = wrenches.all_rows
    normal = np.r_[moment[side], force[side]]
    worth = forces.wrenches @ normal
    k = len(worth)
    unit = float(np.abs(forces.d).max(initial=0.0)) or 1.0
    scale = float(np.abs(worth).max()) or 1.0
    rows = np.vstack([-np.eye(k), forces.C])
    found = maximum(worth / scale, rows, np.r_[np.zeros(k), forces.d / unit])
    prices = found.rows[k:] * scale
    active = worth - prices @ forces.C > -FREE * scale
    told = []
    for number, support in enumerate(stance.supports):
        mine = forces.owner == number
        paid = bool((prices[(forces.C[:, mine] != 0).any(axis=1)] > FREE * scale).any())
        modes: tuple[Mode, ...]
        if isinstance(support, Patch):
            modes = _patch_modes(support, active[mine], forces.corner[mine], paid)
        else:
            modes = (Mode.FORCE,) if paid else ()
        told.append(Limit(support.name, modes))
    return tuple(sorted(told, key=lambda limit: (not limit.modes, Mode.LIFT in limit.modes)))


def _patch_modes(
    support: Patch, active: np.ndarray, corner: np.ndarray, paid: bool
) -> tuple[Mode, ...]:
    loaded = np.unique(corner[active])
    if not len(loaded):
        return (Mode.LIFT,)
    modes = []
    partly = [active[corner == c].sum() < len(support.edges) for c in loaded]
    if support.friction == 0 or all(partly):
        modes.append(Mode.SLIP)
    if len(loaded) < len(support.corners):
        modes.append(Mode.TIP)
    if paid:
        modes.append(Mode.FORCE)
    return tuple(modes)
