"""One record of movement: names, parts, resampling and conversion."""

import json
from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.errors import HomodynError
from homodyn.motion import (
    ContactForce,
    Event,
    Motion,
    MotionSource,
    Side,
    motion_from_poses,
    motion_from_states,
)

MODEL = hd.catalog.heiman(height=1.79, mass=76)
TIME = np.linspace(0.0, 1.0, 101)


def bending(frequency=2.0):
    q = np.tile(MODEL.neutral(), (len(TIME), 1))
    column = MODEL.position_index[MODEL.coordinate_index("KneeRight_RY")]
    q[:, column] = 0.3 * np.sin(frequency * TIME)
    return motion_from_poses(MODEL, TIME, q, method="by hand", source=MotionSource.SYNTHETIC)


@pytest.fixture(scope="module")
def motion():
    computed = bending()
    force = np.outer(TIME, [0.0, 0.0, 100.0])
    point = np.where(TIME[:, None] > 0.5, [0.1, 0.2, 0.0], np.nan)
    foot = ContactForce("FootRight", Side.RIGHT, force, point, np.zeros_like(force))
    events = (Event(0.25, "Foot Strike", "Right"), Event(0.75, "Foot Off", "Right"))
    return Motion(
        MODEL,
        TIME,
        computed.q,
        computed.v,
        computed.a,
        contact_forces=(foot,),
        events=events,
        tau=computed.v,
    )


def test_rates_follow_from_poses():
    computed = bending()
    knee = MODEL.coordinate_index("KneeRight_RY")
    inside = slice(2, -2)
    np.testing.assert_allclose(computed.v[inside, knee], 0.6 * np.cos(2 * TIME)[inside], atol=1e-3)
    np.testing.assert_allclose(computed.a[inside, knee], -1.2 * np.sin(2 * TIME)[inside], atol=1e-2)
    assert np.abs(np.delete(computed.v, knee, axis=1)).max() == 0.0


def test_rates_follow_from_unevenly_spaced_poses():
    time = np.sort(np.r_[0.0, 1.0, np.random.default_rng(1).random(200)])
    q = np.tile(MODEL.neutral(), (len(time), 1))
    q[:, 0] = time**2
    computed = motion_from_poses(MODEL, time, q)
    np.testing.assert_allclose(computed.v[1:-1, 0], 2 * time[1:-1], atol=1e-9)


@pytest.mark.parametrize(
    "name",
    ["right knee flexion", "Right Knee Flexion", "right_knee_flexion", "knee_angle_r"],
)
def test_clinical_and_opensim_names_mean_the_same_coordinate(motion, name):
    curve = motion[name]
    assert curve.name == "Right knee flexion"
    assert motion.resolve_column(name) == "KneeRight_RY"
    np.testing.assert_array_equal(np.abs(curve.values), np.abs(motion["KneeRight_RY"].values))
    np.testing.assert_array_equal(motion[name].values, motion["right knee flexion"].values)


def test_flexion_is_positive_whatever_the_model_calls_positive(motion):
    """The heel comes closer to the hip when the knee flexes, for either sign of the coordinate."""
    curve = motion["right knee flexion"].values
    bent, straight = motion.q[np.argmax(curve)], motion.q[np.argmin(np.abs(curve))]
    heel = [hd.dynamics.position(MODEL, q, "FootRight") for q in (bent, straight)]
    hip = [hd.dynamics.position(MODEL, q, "ThighRight") for q in (bent, straight)]
    assert np.linalg.norm(heel[0] - hip[0]) < np.linalg.norm(heel[1] - hip[1])
    assert heel[0][0] < heel[1][0]  # backwards


def test_extension_is_the_opposite_of_flexion(motion):
    np.testing.assert_array_equal(
        motion["lumbar_extension"].values, -motion["trunk flexion"].values
    )


def test_a_fit_prints_its_marker_error_and_its_first_note(motion):
    assert "rms" not in repr(motion)
    fitted = replace(
        motion, residual=np.full((motion.frames, 2), 0.012), notes=("LKNE is noisy.", "Second.")
    )
    lines = repr(fitted).splitlines()
    assert lines[0].endswith("marker rms 12 mm")
    assert any("LKNE is noisy. (and 1 more)" in line for line in lines)
    assert len(lines) <= 10


def test_unknown_coordinates_list_what_is_accepted(motion):
    with pytest.raises(HomodynError, match=r"no coordinate 'knee_angel_r'.*Right knee flexion"):
        motion["knee_angel_r"]


def test_data_frames_have_units(motion):
    frame = motion.to_pandas()
    assert frame.shape == (101, MODEL.nq)
    np.testing.assert_array_equal(frame["KneeRight_RY (rad)"], motion["KneeRight_RY"].values)
    assert "Pelvis_TZ (m)" in frame
    assert frame.index.name == "time (s)"


def test_it_prints_in_ten_lines(motion):
    assert len(repr(motion).splitlines()) <= 10
    assert repr(motion).startswith(f"Motion of {MODEL.name!r}: 101 frames, 0 to 1 s at 100 Hz")
    assert motion.q.flags.writeable is False


def test_parts_keep_everything_that_is_known(motion):
    part = motion.crop(0.5, 0.8)
    assert (part.frames, part.time[0], part.time[-1]) == (31, 0.5, 0.8)
    assert [event.label for event in part.events] == ["Foot Off"]
    np.testing.assert_array_equal(
        part.contact_forces[0].force, motion.contact_forces[0].force[50:81]
    )
    np.testing.assert_array_equal(part.tau, motion.tau[50:81])
    with pytest.raises(HomodynError, match="no frame from 2 to 3 s"):
        motion.crop(2, 3)


def test_resampling_interpolates(motion):
    fine = motion.resample(rate=200.0)
    assert fine.frames == 201
    np.testing.assert_allclose(fine.q[::2], motion.q, atol=1e-12)
    np.testing.assert_allclose(fine.q[1::2], (motion.q[1:] + motion.q[:-1]) / 2, atol=1e-12)
    np.testing.assert_allclose(fine.contact_forces[0].force[:, 2], 100 * fine.time, atol=1e-9)
    with pytest.raises(HomodynError, match="beyond the motion"):
        motion.resample(np.array([2.0]))
    with pytest.raises(HomodynError, match="either"):
        motion.resample()
    for rate in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(HomodynError, match="rate must be a positive number"):
            motion.resample(rate=rate)


def test_resampling_keeps_quaternions_unit():
    body = hd.model.Assembly("top")
    body = body.add(hd.model.sphere("top", 1.0, 0.1), hd.joints.free()).model()
    q0 = body.neutral()
    turn = np.array([0, 0, 0, 0.4, -0.3, 1.2])
    q = np.stack([body.integrate(q0, turn * k) for k in range(3)])
    computed = motion_from_poses(body, np.arange(3.0), q).resample(rate=10.0)
    np.testing.assert_allclose(np.linalg.norm(computed.q[:, 3:], axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(computed.q[5], body.integrate(q0, turn / 2), atol=1e-12)


def test_a_round_trip_through_json_restores_the_motion(motion):
    found = Motion.from_dict(json.loads(json.dumps(motion.to_dict(), allow_nan=False)))
    np.testing.assert_array_equal(found.q, motion.q)
    np.testing.assert_array_equal(found.contact_forces[0].point, motion.contact_forces[0].point)
    assert found.model == motion.model
    assert found.events == motion.events
    assert found.contact_forces[0].side is Side.RIGHT


def test_arrays_of_other_shapes_are_refused():
    computed = bending()
    with pytest.raises(HomodynError, match=r"v has shape \(101, 3\), \(101, 34\) is expected"):
        Motion(MODEL, TIME, computed.q, computed.v[:, :3], computed.a)


def test_times_that_do_not_increase_are_refused():
    computed = bending()
    time = TIME.copy()
    time[7] = time[6]
    with pytest.raises(HomodynError, match=r"frame 6 is at 0\.06 s and frame 7 at 0\.06 s"):
        Motion(MODEL, time, computed.q, computed.v, computed.a)
    time[7] = np.nan
    with pytest.raises(HomodynError, match="times must increase"):
        Motion(MODEL, time, computed.q, computed.v, computed.a)


def test_even_and_uneven_frames_are_distinguished():
    computed = bending()
    assert computed.evenly_sampled
    assert not computed.take(np.array([0, 1, 3, 4])).evenly_sampled
    assert computed.take(np.array([5])).evenly_sampled


def test_accelerations_follow_from_states():
    time = np.linspace(0.0, 1.0, 11)
    v = np.outer(time, np.arange(1.0, MODEL.nv + 1))
    q = np.tile(MODEL.neutral(), (11, 1))
    computed = motion_from_states(MODEL, time, q, v, tau=2 * v, source=MotionSource.SIMULATED)
    np.testing.assert_allclose(
        computed.a, np.tile(np.arange(1.0, MODEL.nv + 1), (11, 1)), atol=1e-12
    )
    np.testing.assert_array_equal(computed.tau, 2 * v)
    assert computed.source is MotionSource.SIMULATED
    alone = motion_from_states(MODEL, time[:1], q[:1], v[:1])
    assert not alone.a.any()
    assert alone.rate == 0.0
