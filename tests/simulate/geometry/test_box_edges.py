"""Crossings of the edges of two boxes, against a least-squares problem with bounds."""

import numpy as np
from scipy.optimize import lsq_linear

import homodyn as hd
from homodyn.model import ContactShape
from homodyn.motion import BoxObstacle
from homodyn.simulate import ContactGeometry, gap_distances
from support.obstacles import random_rotation

HALF_EXTENTS = np.array([[0.3, 0.2, 0.1], [0.1, 0.4, 0.2]])
"""Of two boxes (m)."""


def two_boxes():
    """Two free boxes."""
    bodies = tuple(hd.model.Body(name, 1.0, np.zeros(3), np.eye(3) * 0.01) for name in "ab")
    roots = tuple(hd.joints.free().joint(f"root {name}", "world", name) for name in "ab")
    shapes = tuple(
        ContactShape(f"box {name}", name, "box", size=2 * half)
        for name, half in zip("ab", HALF_EXTENTS, strict=True)
    )
    return hd.Model("two boxes", bodies, roots, contacts=shapes)


def separation(model, q):
    """Distance of the two boxes (m), 0 where they overlap."""
    turns = [hd.dynamics.orientation(model, q, name) for name in "ab"]
    A = np.hstack([turns[0], -turns[1]])
    half = HALF_EXTENTS.ravel()
    solution = lsq_linear(A, q[7:10] - q[:3], (-half, half), tol=1e-14)
    return np.sqrt(2 * solution.cost)


def quaternion_of(R):
    w = np.sqrt(1 + np.trace(R)) / 2
    return np.array(
        [w, *np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 4 / w]
    )


def test_the_smallest_gap_of_two_boxes_is_their_distance_and_no_overlap_is_missed():
    model = two_boxes()
    kernel = gap_distances(ContactGeometry(model, contacts=(), pairs=(("box a", "box b"),)))
    q = model.random(5, 300)
    rng = np.random.default_rng(5)
    q[:, :3] = 0.0
    directions = rng.normal(size=(300, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    q[:, 7:10] = directions * rng.uniform(0.3, 0.8, (300, 1))
    gaps = kernel(q)["distance"]
    smallest = gaps.min(axis=1)
    expected = np.array([separation(model, pose) for pose in q])
    separate = expected > 1e-6
    assert 60 < separate.sum() < 260
    np.testing.assert_allclose(smallest[separate], expected[separate], atol=2e-5)
    assert np.all(smallest[~separate] < 1e-6)
    # Corners alone are not enough: where edges are nearest they are wrong by centimeters, or miss
    # an overlap.
    corners = gaps[:, :16].min(axis=1)
    assert np.sum(corners[separate] > expected[separate] + 0.01) > 5
    assert np.any(corners[~separate] > 0.01)


def test_a_box_touches_a_fixed_box_as_it_touches_a_box_on_a_body():
    model = two_boxes()
    turn = random_rotation(8)
    box = BoxObstacle(2 * HALF_EXTENTS[1], position=(0.1, 0.2, 0.3), orientation=turn.T)
    q = model.random(6, 50)
    q[:, :3] = np.random.default_rng(6).uniform(-0.5, 0.7, (50, 3))
    q[:, 7:10] = [0.1, 0.2, 0.3]
    q[:, 10:] = quaternion_of(turn.T)
    pair = gap_distances(ContactGeometry(model, contacts=(), pairs=(("box a", "box b"),)))(q)
    fixed = gap_distances(ContactGeometry(model, contacts=("box a",), ground=(box,)))(q)
    np.testing.assert_allclose(fixed["distance"], pair["distance"], atol=1e-12)
    np.testing.assert_allclose(fixed["normal"][:, :8], pair["normal"][:, :8], atol=1e-12)
    np.testing.assert_allclose(fixed["normal"][:, 8:16], -pair["normal"][:, 8:16], atol=1e-12)
