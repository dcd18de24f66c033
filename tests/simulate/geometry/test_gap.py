"""Gaps: rates of their distances, velocities and frames."""

import casadi as ca
import numpy as np

import homodyn as hd
from homodyn.dynamics.tree import Tree
from homodyn.dynamics.wrenches import WrenchRows
from homodyn.simulate import ContactGeometry, gap_distances
from homodyn.simulate.geometry import gap_velocity
from support.obstacles import CONVEX


def test_rows_of_a_gap_are_the_rates_of_its_distance(dumbbell, pairs):
    shapes = ("tip", "ball", "edge", "bone", "block", "crate", "rod")
    ground = (CONVEX["plane"], CONVEX["box"], CONVEX["sphere"], CONVEX["capsule"])
    geometry = ContactGeometry(dumbbell, shapes, ground, pairs)

    def rates(q, v):
        tree = Tree(dumbbell, q, v)
        gaps = geometry.gaps(tree)
        rows = WrenchRows(tree, [gap.wrenches[0] for gap in gaps])
        velocities = [ca.dot(gap.normal, gap_velocity(tree, gap)) for gap in gaps]
        return {"row": ca.vertcat(*rows.times(v)), "velocity": ca.vertcat(*velocities)}

    kernel = hd.symbolic.kernel(rates, q=dumbbell.nq, v=dumbbell.nv)
    distances = gap_distances(geometry)
    rng = np.random.default_rng(4)
    q = dumbbell.random(1, 60)
    q[:, :3] *= 0.3
    q[:, 7:10] = q[:, :3] + 0.3 * rng.normal(size=(60, 3))
    v = rng.normal(size=(60, dumbbell.nv))
    result = kernel(q, v)
    np.testing.assert_allclose(result["row"], result["velocity"], atol=1e-10)
    h = 1e-6
    before = distances(dumbbell.integrate(q, -h * v))
    after = distances(dumbbell.integrate(q, h * v))
    rate = (after["distance"] - before["distance"]) / (2 * h)
    # Where the nearest face or place changes within the step the rate jumps.
    smooth = np.linalg.norm(after["normal"] - before["normal"], axis=-1) < 1e-3
    assert smooth.mean() > 0.99
    # The distances of edge crossings and of corners beside an axis fade where others count.
    fading = [name for name in geometry.names if "crossing" in name or "corner" in name]
    smooth &= ~np.isin(geometry.names, fading)
    np.testing.assert_allclose(rate[smooth], result["row"][smooth], atol=2e-5)


def test_tangents_and_normal_are_a_frame(dumbbell, pairs):
    geometry = ContactGeometry(dumbbell, ground=(CONVEX["box"],), pairs=pairs)

    def frames(q):
        gaps = geometry.gaps(Tree(dumbbell, q))
        return ca.vertcat(*[ca.horzcat(*gap.tangents, gap.normal) for gap in gaps])

    frame = hd.symbolic.kernel(frames, q=dumbbell.nq)(dumbbell.random(3, 20)).reshape(20, -1, 3, 3)
    eye = np.broadcast_to(np.eye(3), frame.shape)
    np.testing.assert_allclose(frame.swapaxes(-1, -2) @ frame, eye, atol=1e-9)
    np.testing.assert_allclose(np.linalg.det(frame), 1, atol=1e-9)
