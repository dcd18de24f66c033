"""Poses from sitting to standing."""

import casadi as ca
import numpy as np
import pytest

import homodyn as hd
from homodyn.dynamics import center_of_mass, position
from homodyn.simulate.rising_path import (
    COM_BEFORE_ANKLE_M,
    LEAN_S,
    RISE_S,
    RisingPath,
    keep_coordinates,
    sagittal_human,
)


@pytest.fixture(scope="module")
def path():
    return RisingPath(sagittal_human())


def test_the_center_of_mass_stays_above_the_feet(path):
    model = path.model
    for part in (0.0, 0.35, 0.7, 1.0):
        q = np.asarray(ca.evalf(path.pose(ca.SX(LEAN_S), ca.SX(part)))).ravel()
        ankle = position(model, q, "right_foot")
        ahead = center_of_mass(model, q)[0] - ankle[0]
        assert ahead == pytest.approx(COM_BEFORE_ANKLE_M, abs=5e-3)
        assert ankle[0] == pytest.approx(0, abs=1e-9)
        # The soles are flat on the ground.
        for marker in ("right_toe", "right_heel"):
            contact = next(c for c in model.contacts if c.name == marker)
            at = position(model, q, "right_foot", np.asarray(contact.position))
            assert at[2] == pytest.approx(0, abs=1e-6)


def test_the_plan_starts_and_ends_at_rest(path):
    plan = [float(ca.evalf(path.planned_part(ca.SX(t)))) for t in (0, LEAN_S, LEAN_S + RISE_S, 9)]
    assert plan == [0, 0, 1, 1]
    rate = float(ca.evalf(path.knee_rate(ca.SX(LEAN_S + 1.0))))
    step = [float(ca.evalf(path.knee(ca.SX(LEAN_S + 1.0 + d)))) for d in (-1e-5, 1e-5)]
    assert rate == pytest.approx(np.diff(step)[0] / 2e-5, rel=1e-6)
    assert float(ca.evalf(path.knee_rate(ca.SX(0.0)))) == 0


def test_fixed_coordinates_keep_the_pose():
    human = hd.catalog.human36()
    pose = {"right_hip_flexion": 0.7, "right_shoulder_abduction": 0.3}
    small = keep_coordinates(human, ("right_knee_extension", "right_hip_abduction"), pose)
    assert small.coordinate_names == ("right_hip_abduction", "right_knee_extension")
    q = human.pose({**pose, "right_hip_abduction": 0.2, "right_knee_extension": -0.5})
    for body in ("right_foot", "right_hand", "head"):
        expected = position(human, q, body)
        np.testing.assert_allclose(position(small, [0.2, -0.5], body), expected, atol=1e-12)
    with pytest.raises(hd.HomodynError, match="knee"):
        keep_coordinates(human, ("knee",), {})
