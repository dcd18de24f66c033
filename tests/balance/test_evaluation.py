"""Evaluations of balance: recordings with force plates, sentences, flight and refusals."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.balance import Stance, SupportPhase, detect_contacts, evaluate, sole_contact
from homodyn.balance.wrenches import measured_wrench, point_mass_wrench
from homodyn.capture import filter_motion, motion_from_table, read_plates, read_table
from homodyn.errors import ModelError

FOOT = {"size": (0.28, 0.12), "friction": 0.7}


@pytest.fixture(scope="module")
def walk(shared_data):
    folder = shared_data / "gait10dof"
    table = replace(read_table(folder / "ref_ik.mot"), degrees=True)
    motion = filter_motion(motion_from_table(hd.load(folder / "subject01.osim"), table), cutoff=6.0)
    return motion, read_plates(folder / "walk_grf.mot")


def test_measured_ground_forces_are_admissible_on_generous_soles(walk):
    motion, plates = walk
    required = measured_wrench(motion, plates)
    shares = {}
    for grow in (0.0, 0.03):
        phases = detect_contacts(motion, plates=plates, friction=1.0, sole_margin=grow)
        shares[grow] = evaluate(required, phases).balanced_share
        measured = evaluate(required, phases).shares
        assert set(measured) == {1, 2}
        assert min(measured.values()) > 0.97
    assert shares[0.0] > 0.98
    assert shares[0.03] == 1.0
    slippery = detect_contacts(motion, plates=plates, friction=0.05, sole_margin=0.03)
    assert evaluate(required, slippery).balanced_share < 0.6


def test_a_body_that_moves_in_three_dimensions_shows_the_same(shared_data):
    folder = shared_data / "opensim_id"
    table = replace(read_table(folder / "subject01_walk1_ik.mot"), degrees=True)
    motion = filter_motion(motion_from_table(hd.load(folder / "subject01.osim"), table), cutoff=6.0)
    plates = read_plates(folder / "subject01_walk1_grf.mot")
    phases = detect_contacts(motion, plates=plates, friction=1.0, sole_margin=0.03)
    measured = evaluate(measured_wrench(motion, plates), phases)
    assert measured.balanced_share > 0.97
    evaluation = evaluate(motion, phases)
    assert evaluation.balanced_share > 0.8
    # The thesis: point mass and whole body differ by more than 25 N m in few frames only.
    assert (np.abs(evaluation.difference) > 25).mean() < 0.1


def test_a_walk_over_ground_is_inside_in_double_and_single_support(shared_data):
    folder = shared_data / "arnold2013" / "subject01"
    table = read_table(folder / "coordinates.sto")
    motion = filter_motion(
        motion_from_table(hd.load(folder / "subject01.osim"), table), cutoff=12.0
    )
    plates = read_plates(folder / "grf.mot")
    phases = detect_contacts(motion, plates=plates, friction=1.0)
    measured = evaluate(measured_wrench(motion, plates), phases)
    assert measured.balanced_share == 1.0
    evaluation = evaluate(motion, phases)
    assert evaluation.balanced_share > 0.97
    both = np.isin(evaluation.phase, [k for k, p in enumerate(phases) if len(p.supports) == 2])
    assert 0.2 < both.mean() < 0.5
    assert (evaluation.wrench[both] > 0).all()
    assert evaluation.wrench[both].mean() > evaluation.wrench[~both].mean()


def test_the_sentence_names_instant_support_and_failure():
    time = np.linspace(0, 1, 11)
    com = np.c_[np.zeros(11), np.linspace(0, 0.2, 11), np.full(11, 0.9)]
    required = point_mass_wrench(time, com, np.zeros((11, 3)), mass=60)
    stance = Stance((sole_contact("left", (0, 0, 0), **FOOT),), 1000)
    evaluation = evaluate(required, stance)
    assert evaluation.worst == 10
    assert evaluation.balanced_share == pytest.approx(4 / 11)
    assert evaluation.sentence.startswith("Out of balance at 1.000 s, on left: the supports give")
    assert "left tips" in evaluation.sentence
    balanced = evaluate(
        replace(required, com=required.com * [1, 0, 1], moment=required.moment * 0), stance
    )
    assert balanced.sentence.startswith("Smallest margin at 0.000 s, on left:")
    assert len(balanced.rows()) == 1
    assert balanced.rows()[0]["limit"] == "left tips"


def test_flight_and_missing_phases_are_not_evaluated():
    time = np.linspace(0, 1, 11)
    required = point_mass_wrench(time, np.tile([0, 0, 0.9], (11, 1)), np.zeros((11, 3)), mass=60)
    stance = Stance((sole_contact("left", (0, 0, 0), **FOOT),), 1000)
    evaluation = evaluate(
        required, [SupportPhase(stance, 0, 0.35), SupportPhase(None, 0.35, 0.65, "flight")]
    )
    assert evaluation.evaluated.tolist() == [True] * 4 + [False] * 7
    with pytest.raises(ModelError, match="there is no stance between 0 and 1 s"):
        evaluate(required, [SupportPhase(stance, 5, 6)])
    with pytest.raises(ModelError, match="before phase"):
        evaluate(required, [SupportPhase(stance, 0, 0.5, "a"), SupportPhase(stance, 0.4, 1, "b")])
    with pytest.raises(ModelError, match="not after"):
        SupportPhase(stance, 1, 1)
