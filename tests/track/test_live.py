"""Live tracking of a block with an arm: forces that are known, and frames as they really come."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.track import FrameStatus, Live
from support.standing_block import RATE

pytestmark = pytest.mark.usefixtures("interpreted")


def markers_of(model, q):
    return np.asarray(hd.dynamics.marker_positions(model, q))


def follow(live, frames, start=0.0):
    return [live.step(start + k / RATE, positions) for k, positions in enumerate(frames)]


@pytest.fixture(scope="module")
def standing(block, still):
    """90 frames of a block that stands still."""
    live = Live(block, rate=RATE, start=still)
    return live, follow(live, [markers_of(block, still)] * 90)


def test_the_ground_carries_the_weight_and_the_motor_the_arm(block, standing):
    """The moment of a rod of 2 kg and 0.5 m, 30 degrees above the horizontal: m g l/2 cos 30."""
    live, frames = standing
    last = frames[-1]
    assert [f.status for f in frames[:10]] == [FrameStatus.STARTED] * 10
    assert {f.status for f in frames[10:]} == {FrameStatus.TRACKED}
    weight = block.mass * 9.81
    assert live.feet == ("block",)
    np.testing.assert_allclose(last.feet[0].force, [[0, 0, weight]], atol=1e-2)
    # The center of pressure is below the center of mass, but for the torque of the residual joint.
    center = np.asarray(hd.dynamics.center_of_mass(block, last.driven_q))
    moment = last.residual[block.coordinate_index("root_ry")]
    point = last.feet[0].point[0]
    assert (center[0] - point[0]) * weight == pytest.approx(-moment, abs=0.05)
    assert point[1] == pytest.approx(center[1], abs=1e-4)
    moment = 2.0 * 9.81 * 0.25 * np.cos(np.radians(30))
    assert last.torques[-1] == pytest.approx(-moment, rel=2e-3)
    np.testing.assert_array_equal(last.torques[:6], 0.0)
    assert np.nanmax(last.marker_error) < 1e-3
    assert last.effort == pytest.approx(0.0, abs=1e-3)


def test_frames_that_are_out_of_order_or_invalid_change_nothing(block, still, standing):
    live = Live(block, rate=RATE, start=still)
    follow(live, [markers_of(block, still)] * 20)
    before = live.step(20 / RATE, markers_of(block, still))
    for time in (0.1, before.time, np.nan, np.inf):
        frame = live.step(time, markers_of(block, still))
        assert frame.status is FrameStatus.REFUSED
    again = live.step(21 / RATE, markers_of(block, still))
    assert again.status is FrameStatus.TRACKED
    np.testing.assert_allclose(again.q, before.q, atol=1e-6)


def test_missing_markers_are_bridged_and_then_the_body_is_placed_again(block, still):
    live = Live(block, rate=RATE, start=still)
    shown = markers_of(block, still)
    follow(live, [shown] * 30)
    hidden = np.full_like(shown, np.nan)
    lost = follow(live, [hidden] * 60, 30 / RATE)
    statuses = [frame.status for frame in lost]
    changes = [s for k, s in enumerate(statuses) if k == 0 or s != statuses[k - 1]]
    assert changes == [FrameStatus.BRIDGED, FrameStatus.LOST]
    back = follow(live, [shown] * 30, 90 / RATE)
    assert back[0].status is FrameStatus.STARTED
    assert back[-1].status is FrameStatus.TRACKED
    assert all(np.isfinite(frame.q).all() for frame in [*lost, *back])


def test_some_hidden_markers_leave_the_pose_continuous(block, still):
    """Document 001, check 32: markers that vanish for 0.2 s in turn."""
    live = Live(block, rate=RATE, start=still)
    rng = np.random.default_rng(1)
    poses = []
    for k in range(90):
        q = still.copy()
        q[-1] += 0.3 * np.sin(2 * np.pi * k / RATE)
        positions = markers_of(block, q)
        if k >= 36:
            if k % 12 == 0:
                chosen = rng.choice(len(positions), 4, replace=False)
            positions[chosen] = np.nan
        frame = live.step(k / RATE, positions)
        poses.append(frame.q)
        assert frame.status in (FrameStatus.STARTED, FrameStatus.TRACKED)
        if k > 30:
            assert abs(frame.q[-1] - q[-1]) < 0.02
    assert np.abs(np.diff(poses[30:], axis=0)).max() < 0.06


def test_markers_are_taken_by_name_too(block, still):
    live = Live(block, rate=RATE, start=still)
    positions = markers_of(block, still)
    named = dict(zip(live.markers, positions, strict=True)) | {"other": np.zeros(3)}
    frame = live.step(0.0, named)
    assert frame.status is FrameStatus.STARTED
    with pytest.raises(hd.CaptureError, match="three coordinates"):
        live.step(0.1, {"B0": [1.0, 2.0]})
    with pytest.raises(hd.CaptureError, match="11, 3"):
        live.step(0.1, positions[:3])


def test_a_body_without_ground_or_markers_is_refused(block):
    from dataclasses import replace

    with pytest.raises(hd.ModelError, match="with_sole_contacts"):
        Live(replace(block, contacts=()))
    with pytest.raises(hd.ModelError, match="no markers"):
        Live(replace(block, markers=()))
    with pytest.raises(hd.ModelError, match="rate"):
        Live(block, rate=0.0)
    with pytest.raises(hd.ModelError, match="coordinate of the root"):
        Live(block, residual_limits={"shoulder": 3.0})
