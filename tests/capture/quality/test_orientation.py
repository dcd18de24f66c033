"""The vertical direction of recordings, found in all orientations."""

from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture.quality import correct_orientation, find_orientation
from homodyn.motion import ForcePlate

ROTATIONS = [
    matrix
    for order in permutations(range(3))
    for signs in product((1.0, -1.0), repeat=3)
    if np.linalg.det(matrix := np.diag(signs) @ np.eye(3)[list(order)]) > 0
]
TILTED = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]
TILTED = TILTED * np.linalg.det(TILTED)
WALKS = (
    ("gait10dof/walk.trc", "gait10dof/walk_grf.mot"),
    ("real_subject4/walking1.trc", "real_subject4/walking1_grf.mot"),
    ("rajagopal_walk/motion_capture_walk.trc", "rajagopal_walk/grf_walk.mot"),
    ("hdm/walk.c3d", None),
)


def up_error_deg(trial, upright) -> float:
    """Angle between the vertical of a corrected trial and the true one."""
    vertical = trial.axes @ upright.axes.T @ [0.0, 0.0, 1.0]
    return float(np.degrees(np.arccos(np.clip(vertical[2], -1.0, 1.0))))


def assert_found_in_all_orientations(walk) -> None:
    assert correct_orientation(walk) is walk
    assert len(ROTATIONS) == 24
    for rotation in ROTATIONS:
        assert up_error_deg(correct_orientation(walk.rotate(rotation)), walk) == 0.0
    tilted = correct_orientation(walk.rotate(TILTED))
    assert up_error_deg(tilted, walk) < 8.0
    assert "the recording is rotated" in tilted.notes[-1]


@pytest.mark.parametrize(("markers", "forces"), WALKS)
def test_recorded_walks_come_out_upright(shared_data, markers, forces):
    walk = hd.capture.read(shared_data / markers)
    assert_found_in_all_orientations(walk)
    if forces:
        assert_found_in_all_orientations(
            hd.capture.read(shared_data / markers, forces=shared_data / forces)
        )


@pytest.mark.parametrize("name", ["static1", "DJ1"])
def test_movements_on_plates_come_out_upright(shared_data, name):
    folder = shared_data / "real_subject4"
    trial = hd.capture.read(folder / f"{name}.trc", forces=folder / f"{name}_grf.mot")
    assert_found_in_all_orientations(trial)


def standing(frames: int = 40) -> hd.capture.Trial:
    model = hd.catalog.heiman(height=1.75, mass=70)
    points = np.asarray(hd.dynamics.marker_positions(model, model.neutral()))
    points = points - [0.0, 0.0, points[:, 2].min()]
    labels = tuple(marker.name for marker in model.markers)
    return hd.capture.Trial("static", labels, np.tile(points, (frames, 1, 1)), rate=100.0)


def plate(force, point=(0.0, 0.0, 0.0), samples: int = 40) -> ForcePlate:
    rows = np.ones((samples, 1))
    return ForcePlate("plate", 100.0, rows * force, rows * point, np.zeros((samples, 3)))


LYING = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])


def test_a_lying_person_is_not_rotated_and_doubted_without_plates_only():
    lying = standing().rotate(LYING)
    assert find_orientation(lying).may_lie
    assert correct_orientation(lying) is lying
    report = hd.capture.check_health(lying)
    assert [(one.subject, one.severity) for one in report.about("axes")] == [("axes", "warning")]
    lowest = lying.positions[..., 2].min()
    on_plate = replace(lying, plates=(plate((0.0, 0.0, 700.0), (0.8, 0.0, lowest - 0.1)),))
    assert correct_orientation(on_plate) is on_plate
    assert not hd.capture.check_health(on_plate).about("axes")


def test_a_handstand_on_a_plate_is_left_alone():
    upside_down = standing().rotate(np.diag([1.0, -1.0, -1.0]))
    trial = replace(upside_down, plates=(plate((0.0, 0.0, 700.0), (0.0, 0.0, -2.0)),))
    assert correct_orientation(trial) is trial
    assert not hd.capture.check_health(trial).about("axes")
    assert hd.capture.check_health(upside_down).about("axes")[0].severity == "error"


def test_forces_in_other_axes_than_the_markers_are_an_error():
    trial = replace(standing(), plates=(plate((0.0, 700.0, 0.0)),))
    found = find_orientation(trial)
    assert "different axes" in found.conflict
    assert correct_orientation(trial) is trial
    assert hd.capture.check_health(trial).about("axes")[0].severity == "error"


def test_arms_alone_show_nothing():
    arms = standing().select_markers(["LELB", "RELB", "LWRA", "RWRA"])
    found = find_orientation(arms.rotate(LYING))
    assert found.up is None
    assert found.is_upright
    assert not found.may_lie


TILT = np.array(
    [
        [np.cos(0.6), 0.0, np.sin(0.6)],
        [0.0, 1.0, 0.0],
        [-np.sin(0.6), 0.0, np.cos(0.6)],
    ]
)
"""A rotation by 34 degrees about Y."""


def test_a_person_who_stands_still_shows_a_tilted_frame():
    upright = standing()
    found = find_orientation(upright.rotate(TILT))
    assert found.evidence == "a person who stands still"
    assert up_error_deg(correct_orientation(upright.rotate(TILT)), upright) < 4.0


def test_a_static_trial_shows_an_axis_that_a_lying_person_could_have():
    upright = standing()
    assert correct_orientation(upright.rotate(LYING)).notes == ()
    turned = correct_orientation(upright.rotate(LYING), standing=True)
    assert up_error_deg(turned, upright) == 0.0


def test_a_person_who_moves_at_a_tilt_is_left_as_recorded():
    upright = standing()
    swing = np.linspace(0.0, 0.5, upright.frames)[:, None, None] * [1.0, 0.0, 0.0]
    moving = replace(upright, positions=upright.positions + swing)
    assert find_orientation(moving.rotate(TILT)).up is None


def test_plates_under_an_upright_person_who_brakes_turn_nothing():
    braking = replace(standing(), plates=(plate([-420.0, 0.0, 700.0], point=(0.1, 0.0, 0.0)),))
    assert correct_orientation(braking) is braking


def test_markers_in_other_axes_than_the_plates_are_found_by_distance():
    aside = standing().rotate(LYING)
    aside = replace(aside, positions=aside.positions + np.array([1.5, 0.0, 0.5]))
    trial = replace(aside, plates=(plate([0.0, 0.0, 700.0]),))
    found = find_orientation(trial)
    assert "from the nearest marker of a body that is not upright" in found.conflict


def test_a_small_tilt_counts_when_plates_and_walking_agree(shared_data):
    folder = shared_data / "gait10dof"
    walk = hd.capture.read(folder / "walk.trc", forces=folder / "walk_grf.mot")
    angle = np.radians(15.0)
    tilt = np.eye(3)
    tilt[1:, 1:] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    assert up_error_deg(correct_orientation(walk.rotate(tilt)), walk) < 4.0


def test_one_wrong_label_does_not_tilt_a_walk(shared_data):
    walk = hd.capture.read(shared_data / "c3d" / "cmu_dec.c3d")
    head, forearm = (walk.markers.index(f"Justin:{name}") for name in ("RBHD", "LFRM"))
    positions = np.array(walk.positions)
    positions[:, [head, forearm]] = positions[:, [forearm, head]]
    wrong = replace(walk, positions=positions)
    assert find_orientation(wrong).tilt_deg < 5.0
    assert correct_orientation(wrong) is wrong


def test_a_still_body_beside_its_center_of_pressure_is_doubted():
    lying = standing().rotate(LYING)
    lowest = lying.positions[..., 2].min() - 0.1
    for along, doubted in ((0.8, False), (0.0, True)):
        on_plate = replace(lying, plates=(plate((0.0, 0.0, 700.0), (along, 0.0, lowest)),))
        assert find_orientation(on_plate).may_lie == doubted
        assert bool(hd.capture.check_health(on_plate).about("axes")) == doubted
