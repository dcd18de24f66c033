"""Loops closed in the language: known motions, redundancy, forces that hold, driven closures."""

from pathlib import Path

import numpy as np
import pytest

from homodyn.network import load, parse

FOLDER = Path(__file__).parents[3] / "examples" / "networks" / "bodies"


def four_bar(inside="", after="", **values):
    """Three links closed on the base, with statements added to the system."""
    text = (FOLDER / "four_bar.cdn").read_text(encoding="utf-8")
    text = text.replace(
        '    include "physics/model.cdn"', inside + '\n    include "physics/model.cdn"'
    )
    text = text.replace('dynamics.cdn"\n}', f'dynamics.cdn"\n{after}\n}}')
    return parse(text).set(values)


def angles(record):
    return np.stack([record[f"system.p{k}.q"] for k in (1, 2, 3)])


def test_a_parallelogram_swings_with_its_known_period():
    net = four_bar()
    record = net.run(10)
    q = angles(record)
    np.testing.assert_allclose(q[0] + q[1], np.pi / 2, rtol=0, atol=1e-12)
    np.testing.assert_allclose(q[2] - q[0], np.pi / 2, rtol=0, atol=1e-12)
    up = np.flatnonzero((q[0][:-1] < 0) & (q[0][1:] >= 0))
    t = record.t
    crossings = t[up] - q[0][up] * (t[up + 1] - t[up]) / (q[0][up + 1] - q[0][up])
    assert np.diff(crossings).mean() == pytest.approx(1.877749, abs=1e-6)
    assert np.ptp(record["system.dynamics.energy"]) < 1e-9


def test_the_closure_drifts_little_and_not_at_all_with_stabilization():
    net = four_bar()
    assert np.abs(net.run(10)["system.pcl.error"]).max() < 1e-13
    net.set({"system.pcl.stiffness": 0, "system.pcl.damping": 0})
    assert np.abs(net.run(10)["system.pcl.error"]).max() < 2.4e-10
    # A gap at the start is closed by the stabilization.
    wide = four_bar(inside='node "pcl" { place = "Spatial.Translation([-1.01; 0; 0])" }')
    error = np.linalg.norm(wide.run(3)["system.pcl.error"], axis=1)
    assert error[0] == pytest.approx(0.01, abs=1e-9)
    assert error[-1] < 1e-8


def test_the_closing_point_of_the_parallelogram_is_a_metre_from_its_first_joint():
    record = four_bar(
        inside='node "pcl" { closed = "Spatial.Translation3(Spatial.Inverse(frame))" }'
    ).run(0)
    np.testing.assert_allclose(record["system.pcl.closed"][0], [-1, 0, 0], rtol=0, atol=1e-12)


def test_a_loop_closed_twice_moves_as_if_closed_once():
    twice = four_bar(
        inside='node "again" : physics.cjoints.revoluteY { tr = "[0; 0; -1]" }\n'
        'edge from "p3" to "again" : physics.cjoint {}'
    )
    one, other = four_bar().run(1), twice.run(1)
    np.testing.assert_allclose(angles(one), angles(other), rtol=0, atol=1e-9)
    # Of all forces that hold the loop the least are taken, so both closures carry half.
    whole = one["system.pcl.force"][100]
    for name in ("pcl", "again"):
        np.testing.assert_allclose(other[f"system.{name}.force"][100], whole / 2, rtol=0, atol=1e-8)


def test_forces_at_joints_and_closure_balance_weight_and_momentum():
    net = four_bar(
        after='include "physics/reactions.cdn"\n'
        'node "p1" { ground = "Spatial.Rotation3(localToBaseTransform) * reaction[3:6]" }\n'
        'node "pcl" { ground = "Spatial.Rotation3(Spatial.Inverse(frame)) * force[3:6]" }'
    )
    record = net.run(0.4, 0.001)
    com = record["system.model.com"]
    pull = (com[:-2] - 2 * com[1:-1] + com[2:]) / 0.001**2
    acting = record["system.p1.ground"] + record["system.pcl.ground"] + [0, 0, -3 * 9.81]
    np.testing.assert_allclose(acting[1:-1], 3 * pull, rtol=0, atol=2e-4)
    # No motor acts: joints pass on nothing along their axes.
    for k in (1, 2, 3):
        np.testing.assert_allclose(record[f"system.p{k}.reaction"][:, 1], 0, rtol=0, atol=1e-10)


def test_a_driven_closure_moves_the_loop_as_a_driven_joint_of_another_tree_does():
    torque = 2.5
    driven = four_bar(inside=f'node "pcl" {{ tau = {torque} }}').run(1)
    text = (FOLDER / "four_bar.cdn").read_text(encoding="utf-8").split("expect")[0]
    # The same bars from the other pin: the one that was last hangs on the base and is driven there.
    angles = '["-0.5 * pi + @offset", "-0.5 * pi - @offset"]'
    text = text.replace('["0.5 * pi + @offset", "0.5 * pi - @offset"]', angles)
    text = text.replace('q = "-@offset"', f'q = "-@offset"\n        tau = {torque}')
    mirrored = parse(text).run(1)
    first = driven["system.p1.q"]
    # Opposite sides of a parallelogram stay parallel.
    np.testing.assert_allclose(mirrored["system.p1.q"], first, rtol=0, atol=1e-8)
    assert np.abs(first - four_bar().run(1)["system.p1.q"]).max() > 0.05


def test_the_pantograph_closes_where_it_starts_moves_in_two_ways_and_loses_energy():
    net = load(FOLDER / "pantograph.cdn")
    net.node("panto").node("parcl").variable(
        "closed", "Spatial.Translation3(otherTransform * Spatial.Inverse(frame))"
    )
    record = net.run(1)
    np.testing.assert_allclose(record["panto.parcl.closed"][0], [0, 0, -0.02], rtol=0, atol=1e-12)
    assert np.linalg.matrix_rank(record["panto.dynamics.K"][0]) == 2
    assert np.abs(record["panto.parcl.error"]).max() < 1e-12
    swing = record["panto.knee.q"] - record["panto.knee.q0"]
    energy = record["panto.dynamics.energy"] + 0.5 * 0.1 * swing**2
    assert np.diff(energy).max() < 1e-9
    assert energy[-1] < energy[0] - 1e-3
