"""What gives way at the border of balance: which support slips, tips, lifts or is overloaded."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from homodyn.balance.contacts import ContactPatch
from homodyn.balance.polytopes.linear_program import maximize
from homodyn.balance.wrench_polytope import WrenchSet

RELATIVE_PRICE_TOLERANCE = 1e-7


class FailureMode(StrEnum):
    """How a support fails at the border of the wrench set."""

    SLIP = "slip"
    """Every loaded corner force lies on the border of its friction pyramid."""
    TIP = "tip"
    """Only some corners are loaded: the support rotates about them."""
    LIFT = "lift"
    """No corner is loaded: the contact opens."""
    FORCE = "force"
    """A limit on force or moment is reached."""


MODE_VERBS = {
    FailureMode.SLIP: "slips",
    FailureMode.TIP: "tips",
    FailureMode.LIFT: "lifts off",
    FailureMode.FORCE: "is overloaded",
}


@dataclass(frozen=True)
class LimitingContact:
    """Failure modes of one support; none where it does not limit the wrench."""

    support: str
    modes: tuple[FailureMode, ...]

    def __str__(self) -> str:
        verbs = [MODE_VERBS[mode] for mode in self.modes] or ["holds"]
        return f"{self.support} {' and '.join(verbs)}"


def limiting_contacts(wrenches: WrenchSet, side: int) -> tuple[LimitingContact, ...]:
    """Find how each support limits the wrench at one facet of a wrench set.

    The extreme wrenches along the facet normal use only the generators whose reduced cost is zero
    in a linear program; its dual values show which force limits are active.

    Args:
        wrenches: Wrench set of a stance.
        side: Index of the facet, a row of ``WrenchSet.rows``; for example
            ``WrenchMargins.side``.

    Returns:
        Failure modes of every support: supports that limit first, then those that lift off, then
        those without a failure mode.
    """
    forces, stance = wrenches.forces, wrenches.stance
    moment, force = wrenches.all_rows
    normal = np.r_[moment[side], force[side]]
    worth = forces.wrenches @ normal
    k = len(worth)
    unit = float(np.abs(forces.d).max(initial=0.0)) or 1.0
    scale = float(np.abs(worth).max()) or 1.0
    rows = np.vstack([-np.eye(k), forces.C])
    found = maximize(worth / scale, rows, np.r_[np.zeros(k), forces.d / unit])
    prices = found.rows[k:] * scale
    active = worth - prices @ forces.C > -RELATIVE_PRICE_TOLERANCE * scale
    told = []
    for number, support in enumerate(stance.supports):
        mine = forces.owner == number
        paid = bool(
            (prices[(forces.C[:, mine] != 0).any(axis=1)] > RELATIVE_PRICE_TOLERANCE * scale).any()
        )
        modes: tuple[FailureMode, ...]
        if isinstance(support, ContactPatch):
            modes = _patch_modes(support, active[mine], forces.corner[mine], paid)
        else:
            modes = (FailureMode.FORCE,) if paid else ()
        told.append(LimitingContact(support.name, modes))
    return tuple(sorted(told, key=lambda limit: (not limit.modes, FailureMode.LIFT in limit.modes)))


def _patch_modes(
    support: ContactPatch, active: np.ndarray, corner: np.ndarray, paid: bool
) -> tuple[FailureMode, ...]:
    loaded = np.unique(corner[active])
    if not len(loaded):
        return (FailureMode.LIFT,)
    modes = []
    partly = [active[corner == c].sum() < len(support.edges) for c in loaded]
    if support.friction == 0 or all(partly):
        modes.append(FailureMode.SLIP)
    if len(loaded) < len(support.corners):
        modes.append(FailureMode.TIP)
    if paid:
        modes.append(FailureMode.FORCE)
    return tuple(modes)
