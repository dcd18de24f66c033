"""Kernels that serve several event-driven runs of one geometry."""

import numpy as np

from homodyn.model import Assembly, Body, joints
from homodyn.motion.obstacles import PlaneObstacle, SphereObstacle
from homodyn.simulate import EventDrivenContact, run
from homodyn.simulate.geometry import scene_geometry
from homodyn.simulate.rigid.contact_state import contact_kernel
from homodyn.simulate.rigid.geometry_cache import (
    _KERNELS,
    MAX_CACHED_KERNELS,
    geometry_kernel,
    geometry_key,
)


def ball():
    body = Body("ball", 1.0, [0, 0, 0], [0.01, 0.01, 0.01])
    return (
        Assembly("ball").add(body, joints.free()).contact("tip", "ball", position=(0, 0, 0)).model()
    )


def test_planes_are_recognized_by_their_values():
    model = ball()
    assert geometry_key(scene_geometry(model)) == geometry_key(scene_geometry(model))
    low = scene_geometry(model, PlaneObstacle((0, 0, 1), 0.1))
    assert geometry_key(low) != geometry_key(scene_geometry(model))
    assert geometry_key(scene_geometry(model, SphereObstacle(radius=0.1))) is None


def test_kernels_are_traced_once_and_their_number_is_bounded():
    model = ball()
    traced = []

    def compute(geometry):
        def trace():
            traced.append(geometry)
            return contact_kernel(geometry)

        return trace

    flat = scene_geometry(model)
    first = geometry_kernel(flat, "a", compute(flat))
    again = scene_geometry(model)
    assert geometry_kernel(again, "a", compute(again)) is first
    assert len(traced) == 1
    assert geometry_kernel(flat, None, compute(flat)) is not first
    for k in range(MAX_CACHED_KERNELS + 3):
        other = scene_geometry(model, PlaneObstacle((0, 0, 1), 0.01 * k))
        geometry_kernel(other, "a", lambda: first)
    assert len(_KERNELS.of(model)) <= MAX_CACHED_KERNELS


def test_runs_on_other_planes_and_with_other_limits_do_not_share_results():
    model = ball()
    start = model.neutral()
    start[2] = 0.3
    law = EventDrivenContact(restitution=0.0)

    def height(scene=None):
        return run(model, start, None, 0.5, 0.1, contact=law, scene=scene).q[-1, 2]

    first = height()
    raised = height(PlaneObstacle((0, 0, 1), 0.1))
    np.testing.assert_allclose(first, 0.0, atol=1e-6)
    np.testing.assert_allclose(abs(raised), 0.1, atol=1e-6)
    assert height() == first
