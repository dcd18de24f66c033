"""Limiting contacts: supports that tip, slip, lift off and are overloaded."""

import numpy as np

from homodyn.balance import (
    Grasp,
    Stance,
    limiting_contacts,
    sole_contact,
    wrench_margins,
    wrench_set,
)
from homodyn.balance.wrenches import FailureMode

FOOT = {"size": (0.28, 0.12), "friction": 0.7}


def test_supports_that_tip_slip_lift_and_are_overloaded_are_distinguished():
    foot = sole_contact("foot", (0, 0, 0), limit=1000.0, **FOOT)
    found = wrench_set(Stance((foot,)))
    com = np.array([0.0, 0.0, 0.9])

    def nearest(force, moment=(0, 0, 0)) -> set[FailureMode]:
        margins = wrench_margins(
            found, np.array(force), np.array(moment) + np.cross(com, force), com=com
        )
        return set(limiting_contacts(found, int(margins.side))[0].modes)

    assert nearest([0, 0, 600.0], [0, 70.0, 0]) == {FailureMode.TIP}
    assert nearest([0, 0, 999.0]) == {FailureMode.FORCE}
    low = np.array([0.0, 0.0, 0.0])
    margins = wrench_margins(found, np.array([400.0, 0, 600]), np.zeros(3), com=low)
    assert set(limiting_contacts(found, int(margins.side))[0].modes) == {FailureMode.SLIP}
    both = Stance((foot, sole_contact("other", (0, 0.4, 0), **FOOT)), 1200)
    wide = wrench_set(both)
    force = np.array([0, 0, 600.0])
    at = np.array([0, 0.44, 0.9])
    edge = wrench_margins(wide, force, np.cross(at, force), com=at)
    limits = {limit.support: set(limit.modes) for limit in limiting_contacts(wide, int(edge.side))}
    assert limits == {"foot": {FailureMode.LIFT}, "other": {FailureMode.TIP}}
    with_grasp = wrench_set(Stance((foot, Grasp("hand", (0.3, 0, 1), 50.0))))
    margins = wrench_margins(
        with_grasp,
        np.array([60.0, 0, 600]),
        np.array([0, 80.0, 0]) + np.cross(com, [60, 0, 600]),
        com=com,
    )
    assert (
        FailureMode.FORCE
        in {x.support: x.modes for x in limiting_contacts(with_grasp, int(margins.side))}["hand"]
    )
