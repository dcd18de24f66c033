"""Filters of designs before simulation, against four-bar geometry by hand."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.codesign import DesignVerdict, attach_device, check_designs, topologies
from homodyn.codesign.leg_poses import normative_poses
from homodyn.codesign.loop_closure import LegLoops

PERSON = hd.catalog.winter_human()
HIP, KNEE, ANKLE = 0.954, 0.513, 0.0702
TORSO_TOP = HIP + 0.288 * 1.8


@pytest.fixture(scope="module")
def device():
    return attach_device(PERSON, topologies()[0])  # two independent four-bar linkages


def share_at(height, low, high):
    return (height - low) / (high - low)


def four_bars(hip_joint, knee_joint, torso=1.05, thigh=0.8, shank=0.35):
    """A design of topology 1 with attachments at given heights."""
    shares = [
        share_at(torso, HIP, TORSO_TOP),
        share_at(thigh, KNEE, HIP),
        share_at(shank, ANKLE, KNEE),
    ]
    return (1, 3), shares, [hip_joint, knee_joint]


def check(device, *designs):
    pairs, shares, places = zip(*designs, strict=True)
    return check_designs(device, np.array(pairs), np.array(shares), np.array(places))


def test_a_regular_design_is_accepted_and_others_say_why(device):
    checks = check(
        device,
        four_bars((-0.2, 0.95), (-0.15, 0.55)),
        four_bars((-0.15, 1.29), (-0.15, 0.55), torso=0.96, thigh=0.55),
        # Bars of 0.05 m and 0.22 m: too unequal where flexion shortens the span below 0.17 m.
        four_bars((0.03, 1.01), (-0.15, 0.55)),
    )
    assert checks.verdicts == [
        DesignVerdict.ACCEPTED,
        DesignVerdict.BAR_TOO_LONG,
        DesignVerdict.ACCEPTED,
    ]
    assert checks.reason(0).startswith("accepted")
    assert "m exceeds 0.7 m" in checks.reason(1)


def test_a_stretched_four_bar_is_singular(device):
    """Figure 5.7: with the free joint between its attachments the bars are in line upright."""
    stretched = four_bars((0.0, 0.925), (-0.15, 0.55))
    checks = check(device, stretched)
    assert checks.verdicts == [DesignVerdict.SINGULAR]
    assert "% of the gait cycle" in checks.reason(0)
    # In the pose itself the loop allows one motion more.
    loops = LegLoops(device)
    values = device.parameter_values(*(np.array([x]) for x in stretched))
    numbers = np.stack([values[name] for name in device.model.parameter_names], axis=-1)
    basis, condition = loops.motions(device.model.neutral()[None], numbers)
    assert abs(condition[0]) < 1e-9
    assert np.linalg.svd(basis[0, :2], compute_uv=False)[-1] < 1e-9


def test_reach_is_that_of_two_circles(device):
    """The hip loop closes if its bars span the distance of the attachments, and only then."""
    poses = normative_poses(PERSON)
    hip = np.array([0.0, HIP])
    rng = np.random.default_rng(4)
    designs = [
        four_bars((rng.uniform(-0.15, 0.15), rng.uniform(0.8, 1.2)), (-0.15, 0.55))
        for _ in range(30)
    ]
    checks = check(device, *designs)
    for k, (_, _, places) in enumerate(designs):
        free = np.array(places[0])
        torso, thigh = np.array([0.0, 1.05]), np.array([0.0, 0.8])
        bars = np.linalg.norm(free - torso), np.linalg.norm(free - thigh)
        angle = poses.cycle[:, None, 0] + poses.offsets[None, :, 0]  # about +Y: forward is negative
        arm = thigh - hip
        turned = hip + np.stack([arm[1] * np.sin(angle), arm[1] * np.cos(angle)], axis=-1)
        distance = np.linalg.norm(turned - torso, axis=-1)
        inside = (distance <= sum(bars)) & (distance >= abs(bars[0] - bars[1]))
        near_limit = np.abs(np.stack([distance - sum(bars), distance - abs(bars[0] - bars[1])]))
        if near_limit.min() > 2e-3:
            knee = check(device, four_bars((-0.2, 0.95), tuple(places[1]))).reached[0]
            assert knee == 1.0
            assert checks.reached[k] == pytest.approx(inside.mean())
    assert 0 < sum(checks.reached < 1) < 30


def test_loop_closure_keeps_hip_and_knee(device):
    loops = LegLoops(device)
    values = device.parameter_values(
        *(np.array([x]) for x in four_bars((-0.2, 0.95), (-0.15, 0.55)))
    )
    numbers = np.stack([values[name] for name in device.model.parameter_names], axis=-1)
    q, closed = loops.close(device.model.neutral()[None], np.array([-0.3, 0.6]), numbers)
    assert closed.all()
    assert np.allclose(q[0, loops.human], [-0.3, 0.6])
    # The basis spans differences of closed poses.
    basis, _ = loops.motions(q, numbers)
    step = 1e-4
    ahead, _ = loops.close(q, np.array([-0.3 + step, 0.6]), numbers)
    rate = (ahead[0] - q[0])[[*loops.human, *loops.robot]] / step
    outside = rate - basis[0] @ (basis[0].T @ rate)
    assert np.linalg.norm(outside) < 1e-3 * np.linalg.norm(rate)


def test_normative_poses_have_the_signs_of_the_model():
    poses = normative_poses(PERSON)
    assert poses.coordinates == ("left_hip", "left_knee")
    hip, knee = np.rad2deg(poses.cycle).T
    assert hip.min() < -20  # flexion is negative in this model
    assert 55 < knee.max() < 65
    assert poses.cycle.shape == (20, 2)
    assert not poses.offsets[0].any()
