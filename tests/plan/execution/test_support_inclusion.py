"""V32 of Qiu (2012): the planning polytope is inside the simulated one under small foot errors."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.balance import Stance, wrench_set
from homodyn.errors import ModelError
from homodyn.motion.supports import ContactPatch, sole_contact
from homodyn.plan import robust_scene
from homodyn.plan.execution.support_inclusion import (
    corner_wrenches,
    inclusion_residual,
    is_included,
)

FRICTION = 1.0
SOLE = sole_contact("sole", (0.4, -0.2, 0.1), (0.28, 0.12), friction=0.7, orientation=0.3)


def shrunk(margin: float = 0.015) -> ContactPatch:
    scene = hd.motion.Scene(supports={"sole": SOLE})
    return robust_scene(scene, margin, 0.9).supports["sole"]


def displaced(x: float, y: float, yaw: float) -> np.ndarray:
    c, s = np.cos(yaw), np.sin(yaw)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    return SOLE.middle + (SOLE.corners - SOLE.middle) @ turn.T + [x, y, 0.0]


@pytest.mark.parametrize(
    ("x", "y", "yaw"), [(0, 0, 0), (0.01, 0, 0), (0, -0.01, 0), (0.005, 0.005, 0.03)]
)
def test_a_smaller_planned_sole_is_inside_under_small_foot_errors(x, y, yaw):
    assert is_included(shrunk(), displaced(x, y, yaw), FRICTION)


def test_what_is_not_available_is_found():
    assert not is_included(SOLE, displaced(0.01, 0, 0), FRICTION), "same size, moved"
    assert not is_included(shrunk(), displaced(0.03, 0, 0), FRICTION), "moved too far"
    assert not is_included(shrunk(), displaced(0, 0, 0), 0.8), "edges of the pyramid need 0.89"


def test_corner_wrenches_are_those_of_the_wrench_set():
    """Random sums of corner wrenches are inside the wrench set of balance, at its border too."""
    patch = replace(SOLE, limit=1000.0)
    wrenches = corner_wrenches(patch)
    known = wrench_set(Stance((patch,)))
    rng = np.random.default_rng(0)
    for k in range(wrenches.shape[1]):
        moment, force = 999.0 * wrenches[:3, k], 999.0 * wrenches[3:, k]
        assert known.contains(force, moment)
        assert not known.contains(1.01 * force * 1000 / 999, 1.01 * moment * 1000 / 999)
    weights = rng.uniform(size=wrenches.shape[1])
    sample = wrenches @ (900 * weights / weights.sum())
    assert known.contains(sample[3:], sample[:3])


def test_inclusion_agrees_with_the_wrench_sets_of_whole_stances():
    """All vertices of the planned set of two soles lie in the set of the larger soles."""
    planned = [
        shrunk(),
        replace(shrunk(), name="other", corners=np.add(shrunk().corners, (0.3, 0.4, 0.2))),
    ]
    real = [
        replace(
            SOLE,
            name=p.name,
            corners=displaced(0.005, 0.004, 0.02) + (p.middle - SOLE.middle),
            friction=1.0,
            sides=16,
            pyramid="inner",
        )
        for p in planned
    ]
    small = wrench_set(Stance(tuple(planned), limit=1000.0))
    vertices = small.polytope.vertices
    available = np.hstack([corner_wrenches(patch) for patch in real])
    from scipy.optimize import nnls

    for vertex in vertices[:60]:
        moment = vertex[:3] + np.cross(small.reference, vertex[3:])
        wanted = np.r_[moment, vertex[3:]]
        assert nnls(available, wanted)[1] < 1e-6 * max(np.linalg.norm(wanted), 1.0)
    for p, r in zip(planned, real, strict=True):
        assert inclusion_residual(p, r.corners, 1.0) < 1e-9


def test_soles_that_are_too_narrow_are_refused():
    with pytest.raises(ModelError, match="leaves nothing"):
        robust_scene(hd.motion.Scene(supports={"sole": SOLE}), 0.06)
