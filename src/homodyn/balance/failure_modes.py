"""Limiting contacts: which support slips, tips, lifts off or is overloaded at a facet."""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from homodyn.balance.force_generators import pyramid_edges
from homodyn.balance.polytopes.linear_program import maximize
from homodyn.balance.wrench_polytope import WrenchSet
from homodyn.errors import ModelError
from homodyn.foundation.record import Record, record
from homodyn.motion.supports import ContactPatch

RELATIVE_COST_TOLERANCE = 1e-7
"""Fraction of the largest cost below which a reduced cost or a dual value counts as zero."""

MAX_ROUNDING = 1e-12
"""Fraction of the product of two lengths below which their scalar product is rounding."""


class FailureMode(StrEnum):
    """How a support fails at the boundary of the wrench set."""

    SLIP = "slip"
    """Every loaded corner force lies on the boundary of its friction pyramid."""
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


@record(eq=True)
class LimitingContact(Record):
    """Failure modes of one support; none where it does not limit the wrench."""

    support: str
    modes: tuple[FailureMode, ...]

    def headline(self) -> str:
        """Support and failure modes in words."""
        verbs = [MODE_VERBS[mode] for mode in self.modes] or ["holds"]
        return f"{self.support} {' and '.join(verbs)}"

    def __str__(self) -> str:
        return self.headline()


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

    Raises:
        ModelError: The wrench set is that of forces without a stance.
    """
    forces, stance = wrenches.forces, wrenches.stance
    if stance is None:
        raise ModelError("limiting contacts need the wrench set of a stance; this one has forces")
    moment, force = wrenches.all_rows
    normal = np.r_[moment[side], force[side]]
    cost = forces.wrenches @ normal
    # On the plane of a flat set all costs are zero except for rounding, which the scale below would
    # enlarge to a direction without bound.
    size = np.linalg.norm(forces.wrenches, axis=1) * np.linalg.norm(normal)
    cost = np.where(np.abs(cost) <= MAX_ROUNDING * size, 0.0, cost)
    k = len(cost)
    unit = float(np.abs(forces.d).max(initial=0.0)) or 1.0
    scale = float(np.abs(cost).max()) or 1.0
    rows = np.vstack([-np.eye(k), forces.C])
    optimum = maximize(cost / scale, rows, np.r_[np.zeros(k), forces.d / unit])
    dual = optimum.rows[k:] * scale
    active = cost - dual @ forces.C > -RELATIVE_COST_TOLERANCE * scale
    limits = []
    for number, support in enumerate(stance.supports):
        own = forces.owner == number
        own_dual = dual[(forces.C[:, own] != 0).any(axis=1)]
        overloaded = bool((own_dual > RELATIVE_COST_TOLERANCE * scale).any())
        modes: tuple[FailureMode, ...]
        if isinstance(support, ContactPatch):
            modes = _patch_modes(support, active[own], forces.corner[own], overloaded)
        else:
            modes = (FailureMode.FORCE,) if overloaded else ()
        limits.append(LimitingContact(support.name, modes))
    return tuple(
        sorted(limits, key=lambda limit: (not limit.modes, FailureMode.LIFT in limit.modes))
    )


def _patch_modes(
    support: ContactPatch, active: np.ndarray, corner: np.ndarray, overloaded: bool
) -> tuple[FailureMode, ...]:
    loaded = np.unique(corner[active])
    if not len(loaded):
        return (FailureMode.LIFT,)
    modes = []
    edges = len(pyramid_edges(support))
    on_boundary = [active[corner == c].sum() < edges for c in loaded]
    if support.friction == 0 or all(on_boundary):
        modes.append(FailureMode.SLIP)
    if len(loaded) < len(support.corners):
        modes.append(FailureMode.TIP)
    if overloaded:
        modes.append(FailureMode.FORCE)
    return tuple(modes)
