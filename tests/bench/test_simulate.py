"""The benchmark of simulations, with a small model."""

import numpy as np
import pytest

from homodyn import simulate
from homodyn.bench import marker_rows, rollout_costs
from homodyn.bench import simulate as bench
from homodyn.bench.step_breakdown import step_parts
from homodyn.model import Assembly, box, joints


def carrier(root):
    """A foot on three points with a mast on a spring hinge, and its pose on the ground."""
    assembly = Assembly("stander").add(box("foot", 2.0, (0.3, 0.2, 0.1)), root)
    assembly = assembly.add(
        box("mast", 1.0, (0.05, 0.05, 0.4), com=(0, 0, 0.2)),
        joints.revolute("y", stiffness=100.0, damping=2.0, lower=-0.5, upper=0.5),
        "foot",
        at=(0.0, 0.0, 0.05),
    )
    for name, at in (("left", (-0.1, 0.1)), ("right", (-0.1, -0.1)), ("front", (0.15, 0.0))):
        assembly = assembly.contact(name, "foot", "point", position=(*at, -0.05))
    model = assembly.model()
    return model, simulate.place_on_ground(model, model.neutral())


@pytest.fixture(scope="module")
def stander():
    """A model that moves vertically only: its three contacts are redundant."""
    return carrier(joints.prismatic("z"))


def test_rows_have_speed_forces_depth_batches_and_shares_of_every_law(stander):
    rows = {row.name: row for row in bench.rows_of(*stander, quick=True)}
    for law in bench.LAWS:
        for what in (
            "256 humans at 1 ms, 1 thread",
            "256 humans at 1 ms, 2 threads",
            "one human at 1 ms on one core, against real time",
            bench.FORCE_ERROR,
            "penetration",
            "batch of 8, against a batch of 8",
            "batch of 512, against a batch of 8",
        ):
            assert rows[f"{law}, {what}"].ours > 0
    for name in (
        rollout_costs.IMPEDANCE_ROW,
        rollout_costs.MEASURES_ROW,
        rollout_costs.STEPPING_ROW,
    ):
        assert rows[name].ours > 0
        assert rows[name].required is not None
    rigid = rows[f"{bench.RIGID}, {bench.FORCE_ERROR}"]
    assert rigid.ours < 1e-3
    assert rows[f"{bench.RIGID}, penetration"].ours < 1e-6
    shares = [row.ours for name, row in rows.items() if "share of a step" in name]
    assert len(shares) == 6
    assert sum(shares) == pytest.approx(100.0)
    # The whole process with Python, numpy and CasADi, in MB.
    assert 50 < rows[bench.PEAK_MEMORY].ours < 10_000


def test_mujoco_stands_on_the_same_points_with_the_same_weight(stander, tmp_path):
    pytest.importorskip("mujoco")
    from homodyn.bench.mujoco_peer import MujocoHuman

    model, q = stander
    peer = MujocoHuman(model, q, tmp_path / "stander.xml", 1e-3)
    assert peer.model.nv == model.nv
    assert np.isclose(peer.model.body_mass.sum(), model.mass)
    error, depth = peer.stand(0.6, 0.1, float(model.mass * 9.81))
    assert error < 0.5
    assert 0 < depth < 5e-3
    assert peer.data.ncon == 3


def test_markers_pull_with_the_same_constraints_in_both_programs(tmp_path):
    pytest.importorskip("mujoco")
    from homodyn.bench.mujoco_peer import MujocoHuman

    assembly = Assembly("foot").add(box("foot", 2.0, (0.3, 0.2, 0.1)), joints.free())
    for name, at in (("toe", (0.15, 0.0, 0.0)), ("heel", (-0.15, 0.0, 0.0)), ("top", (0, 0, 0.05))):
        assembly = assembly.marker(name, "foot", at)
    assembly = assembly.contact("sole", "foot", "point", position=(0, 0, -0.05))
    model = assembly.model()
    q = simulate.place_on_ground(model, model.neutral())
    peer = MujocoHuman(model, q, tmp_path / "foot.xml", 1e-3, pinned=2)
    assert peer.model.neq == 2
    assert peer.model.nv == model.nv
    import mujoco

    mujoco.mj_forward(peer.model, peer.data)
    assert np.abs(peer.data.efc_pos[:6]).max() < 1e-12
    rows = list(marker_rows.marker_rows(model, q, 2, tmp_path / "rows.xml", "", quick=True))
    assert [row.required for row in rows] == [1.0, 5.0]
    for row in rows:
        assert row.ours > 0
        assert row.peer > 0
        assert row.name.startswith("6 soft rows of markers, ")


def test_the_parts_of_a_step_add_up_to_the_step():
    model, q = carrier(joints.free())
    law = simulate.TimeStepping(sweeps=4)
    parts = step_parts(model, law, q, 1e-3, timed=False)
    total = sum(part.instructions for part in parts)
    whole = simulate.BatchSimulator(model, contact=law).instructions
    assert total == pytest.approx(whole, rel=0.25)
    longer = step_parts(model, simulate.TimeStepping(sweeps=8), q, 1e-3, timed=False)
    assert longer[4].instructions == pytest.approx(2 * parts[4].instructions, rel=0.1)
    assert longer[3].instructions == parts[3].instructions


def test_further_markers_are_beside_those_of_the_model():
    model, _ = bench.standing_human()
    count = len(model.markers)
    more = marker_rows.with_more_markers(model, count + 2)
    assert [marker.name for marker in more.markers[:count]] == [m.name for m in model.markers]
    for marker, other in zip(more.markers[count:], model.markers, strict=False):
        assert marker.body == other.body
        np.testing.assert_allclose(np.subtract(marker.position, other.position), 0.01)
    assert marker_rows.with_more_markers(model, 3).markers == model.markers
