"""Residuals removed by the smallest change."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture import inverse_dynamics
from homodyn.capture.kinetics import eliminate_residuals
from homodyn.capture.kinetics.plate_assignment import sole_distance
from homodyn.capture.kinetics.residual_elimination import (
    ANGULAR_ACCELERATION_SCALE_RAD_S2,
    FORCE_SCALE_SHARE,
    FREE_MOMENT_SCALE_M,
    LINEAR_ACCELERATION_SCALE_M_S2,
    PRESSURE_POINT_SCALE_M,
)
from homodyn.dynamics import inverse_dynamics as recursive_newton_euler
from homodyn.dynamics import position
from support.swaying import plates_for, sway
from support.walks import walk


@pytest.fixture(scope="module", params=["gait10dof", "gait23"])
def walked(request, shared_data):
    found = walk(shared_data, request.param)
    before = inverse_dynamics(found.motion, found.plates)
    return before, *eliminate_residuals(before)


def test_nothing_is_left_at_the_root(walked):
    before, after, change = walked
    assert np.abs(before.tau[:, list(before.root)]).max() > 30
    assert np.abs(after.tau[:, list(after.root)]).max() < 1e-8
    assert np.abs(after.residual_force).max() < 1e-8
    assert np.abs(after.residual_moment).max() < 1e-8
    np.testing.assert_array_equal(after.motion.q, before.motion.q)
    assert "residuals eliminated" in change.sentence


def test_centers_of_pressure_stay_under_the_feet(walked):
    before, after, _ = walked
    motion = before.motion
    for mine, theirs in zip(after.feet, before.feet, strict=True):
        (foot,) = hd.capture.kinetics.find_feet(motion.model, (mine.body,))
        points = foot.positions(motion.model, motion.q)
        up = np.array([0.0, 1.0, 0.0])
        was, now = (sole_distance(points, f.point, up) for f in (theirs, mine))
        assert (now <= np.maximum(was, 0.02) + 1e-9).all()
        assert (mine.force[:, 1] >= 0).all()
        np.testing.assert_array_equal(np.isnan(mine.point), np.isnan(theirs.point))


def test_no_smaller_change_does_it(walked):
    """Against a plain least-squares solve of one frame, its matrix by differences of the law."""
    before, after, _ = walked
    model, motion = before.motion.model, before.motion
    frame = next(
        k
        for k in range(40, len(motion.time))
        if all(np.isfinite(f.point[k]).all() for f in before.feet)
        and all(
            np.abs(a.point[k] - b.point[k]).max() > 1e-7
            for a, b in zip(after.feet, before.feet, strict=True)
        )
    )
    root, nv = list(before.root), model.nv
    q, v, a = (x[frame] for x in (motion.q, motion.v, motion.a))
    points = [f.point[frame] - position(model, q, f.body) for f in before.feet]

    def at_root(x):
        external = {}
        for k, foot in enumerate(before.feet):
            moment, force = x[nv + 6 * k : nv + 6 * k + 3], x[nv + 6 * k + 3 : nv + 6 * k + 6]
            full = foot.force[frame] + force
            about = foot.torque[frame] + moment + np.cross(points[k], full)
            external[foot.body] = np.concatenate([about, full])
        return recursive_newton_euler(model, q, v, a + x[:nv], external=external)[root]

    size = nv + 6 * len(before.feet)
    start = at_root(np.zeros(size))
    A = np.stack([at_root(unit) - start for unit in np.eye(size)], axis=-1)
    turns = [not name.endswith(("_tx", "_ty", "_tz")) for name in model.coordinate_names]
    sizes = [np.where(turns, ANGULAR_ACCELERATION_SCALE_RAD_S2, LINEAR_ACCELERATION_SCALE_M_S2)]
    for foot in before.feet:
        load = foot.force[frame, 1]
        sizes.append(
            load
            * np.array(
                [
                    PRESSURE_POINT_SCALE_M,
                    FREE_MOMENT_SCALE_M,
                    PRESSURE_POINT_SCALE_M,
                    FORCE_SCALE_SHARE,
                    FORCE_SCALE_SHARE,
                    FORCE_SCALE_SHARE,
                ]
            )
        )
    sizes = np.concatenate(sizes)
    smallest = sizes * np.linalg.lstsq(A * sizes, -start, rcond=None)[0]
    np.testing.assert_allclose(after.motion.a[frame] - a, smallest[:nv], rtol=1e-6, atol=1e-8)
    for k, (mine, theirs) in enumerate(zip(after.feet, before.feet, strict=True)):
        change = mine.force[frame] - theirs.force[frame]
        np.testing.assert_allclose(change, smallest[nv + 6 * k + 3 : nv + 6 * k + 6], atol=1e-6)


def test_what_is_consistent_is_not_changed():
    motion = sway(hd.catalog.heiman())
    found = inverse_dynamics(motion, plates_for(motion), cutoff=None, residual="eliminate")
    plain = inverse_dynamics(motion, plates_for(motion), cutoff=None)
    np.testing.assert_allclose(found.tau, plain.tau, atol=1e-8)
    np.testing.assert_allclose(found.motion.a, motion.a, atol=1e-10)


def test_inverse_dynamics_eliminates_residuals_on_request(shared_data):
    found = walk(shared_data, "gait10dof")
    answer = inverse_dynamics(found.motion, found.plates, residual="eliminate")
    assert np.abs(answer.tau[:, list(answer.root)]).max() < 1e-8
    assert "residuals eliminated" in answer.method
    assert "coordinates and velocities are unchanged" in answer.notes[-1]
    plain = inverse_dynamics(found.motion, found.plates)
    hips = [k for k, n in enumerate(found.motion.model.coordinate_names) if "ankle" in n]
    assert np.abs(answer.tau - plain.tau)[:, hips].max() < 10
