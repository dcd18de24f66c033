"""Power, work and energy, and their balance."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture import inverse_dynamics
from homodyn.capture.kinetics import (
    energy,
    joint_work,
    power_balance,
    work_by_cycle,
)
from homodyn.errors import CaptureError
from homodyn.motion import Motion
from support.swaying import plates_for, sway
from support.walks import walk


@pytest.fixture(scope="module")
def swayed():
    motion = sway(hd.catalog.heiman(height=1.75, mass=70), rate=1000.0, size=0.05)
    return inverse_dynamics(
        motion, plates_for(motion), cutoff=None, feet={"left": "FootLeft", "right": "FootRight"}
    )


def test_energy_changes_by_the_power_of_joints_and_ground(swayed):
    balance = power_balance(swayed)
    inner = slice(2, -2)
    assert np.abs(balance.energy_rate).max() > 20
    assert np.abs(balance.missing[inner]).max() < 1e-4 * np.abs(balance.energy_rate).max()
    assert np.abs(balance.ground).max() > 1
    assert np.abs(balance.residual).max() < 1e-8


def test_power_of_the_residual_closes_the_balance_of_a_real_walk(shared_data):
    found = walk(shared_data, "arnold2013")
    balance = power_balance(inverse_dynamics(found.motion, found.plates))
    inner = slice(5, -5)
    assert np.abs(balance.residual).max() > 10
    assert np.abs(balance.missing[inner]).max() < 0.01 * np.abs(balance.energy_rate).max()


def test_the_kinds_of_work_add_up(swayed):
    work = joint_work(swayed)
    np.testing.assert_allclose(work.net, work.positive + work.negative, atol=1e-12)
    np.testing.assert_allclose(work.absolute, work.positive - work.negative, atol=1e-12)
    assert work.total_net == pytest.approx(work.net.sum())
    assert work.total_absolute >= abs(work.total_net)
    assert (work.positive >= 0).all()
    assert (work.negative <= 0).all()
    assert len(work.coordinates) == swayed.motion.model.nv - 6
    assert not swayed.power[:, list(swayed.root)].any()
    first = work.coordinates[0]
    assert work.of(first)["net"] == work.net[0]
    assert work.of("right hip flexion") == work.of("Right_Hip_Flexion") == work.of("HipRight_RY")
    assert work.mean_power == pytest.approx(work.total_net / 2.0)


def test_work_is_the_integral_of_torque_times_speed(swayed):
    work = joint_work(swayed, between=(0.25, 1.5))
    k = swayed.motion.model.coordinate_index(work.coordinates[4])
    power = swayed.tau[250:1501, k] * swayed.motion.v[250:1501, k]
    assert work.net[4] == pytest.approx(np.sum((power[1:] + power[:-1]) / 2) * 1e-3, rel=1e-9)
    torque = np.abs(swayed.tau[250:1501, k])
    assert work.effort[4] == pytest.approx(np.sum((torque[1:] + torque[:-1]) / 2) * 1e-3, rel=1e-9)


def test_cycles_add_up_to_the_whole(swayed):
    cycles = work_by_cycle(swayed, [1.2, 0.1, 0.7004])
    whole = joint_work(swayed, between=(0.1, 1.2))
    assert [(c.start, c.end) for c in cycles] == [(0.1, 0.7004), (0.7004, 1.2)]
    np.testing.assert_allclose(sum(c.net for c in cycles), whole.net, atol=1e-6)


def test_energy_power_and_work_are_records_with_tables(swayed):
    pytest.importorskip("pandas")
    found, balance, work = energy(swayed.motion), power_balance(swayed), joint_work(swayed)
    table = found.to_pandas()
    assert list(table) == ["kinetic (J)", "potential (J)", "total (J)"]
    np.testing.assert_array_equal(table["total (J)"], found.total)
    np.testing.assert_array_equal(balance["missing"].values, balance.missing)
    np.testing.assert_array_equal(balance.to_pandas().index, swayed.motion.time)
    rows = work.to_pandas()
    assert rows.loc["KneeRight_RY", "clinical name"] == "Right knee flexion"
    assert rows["net (J)"].sum() == pytest.approx(work.total_net)
    restored = type(work).from_dict(work.to_dict())
    np.testing.assert_array_equal(restored.net, work.net)
    assert restored.titles == work.titles
    for record in (found, balance, work):
        assert len(repr(record).splitlines()) <= 10


def test_energy_of_a_fall_is_kept():
    model = hd.catalog.heiman(height=1.75, mass=70)
    time = np.arange(101) / 100
    q = np.tile(model.neutral(), (101, 1))
    v, a = np.zeros((2, 101, model.nv))
    q[:, 2] += 5 * time - 0.5 * 9.81 * time**2
    v[:, 2] = 5 - 9.81 * time
    a[:, 2] = -9.81
    found = energy(Motion(model, time, q, v, a))
    np.testing.assert_allclose(found.total, found.total[0], rtol=1e-12)
    assert found.kinetic[0] == pytest.approx(0.5 * 70 * 25)


def test_work_outside_the_motion_is_refused(swayed):
    with pytest.raises(CaptureError, match="lasts from 0 to 2 s"):
        joint_work(swayed, between=(1.0, 3.0))
    with pytest.raises(CaptureError, match=r"no coordinate 'nose'.*Right knee flexion"):
        joint_work(swayed).of("nose")
