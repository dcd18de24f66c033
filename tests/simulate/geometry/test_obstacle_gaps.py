"""Gaps between contact shapes and obstacles, against searches and bounded least squares."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear

import homodyn as hd
from homodyn.model import ContactShape
from homodyn.motion import (
    BoxObstacle,
    CapsuleObstacle,
    CylinderObstacle,
    HeightField,
    PlaneObstacle,
    SphereObstacle,
)
from homodyn.simulate import ContactGeometry, gap_distances
from support.obstacles import CONVEX, distance_and_normal


def free_body(*shapes):
    """A free body with contact shapes."""
    body = hd.model.Body("a", 1.0, np.zeros(3), np.eye(3) * 0.01)
    return hd.Model("a", (body,), (hd.joints.free().joint("r", "world", "a"),), contacts=shapes)


@pytest.mark.parametrize("kind", ["line", "capsule"])
def test_an_axis_across_a_box_touches_its_edges(kind):
    radius = 0.02 if kind == "capsule" else 0.0
    model = free_body(ContactShape("axis", "a", kind, radius=radius, size=[2.0, 0, 0]))
    geometry = ContactGeometry(model, ground=(BoxObstacle((0.2, 10.0, 1.0)),))
    q = model.neutral()
    q[:3] = [0.4, 0, 0.6]
    gaps = gap_distances(geometry)(q)
    # The ends are beside the box; both edges of its top are equally near.
    np.testing.assert_allclose(gaps["distance"][2:4], 0.1 - radius, atol=1e-9)
    np.testing.assert_allclose(np.sort(gaps["point"][2:4, 0]), [-0.1, 0.1], atol=1e-9)
    assert gaps["distance"][:2].min() > 0.4
    # Tilted, it is nearest to one edge.
    q[3:7] = [np.cos(0.1), 0, np.sin(0.1), 0]
    gaps = gap_distances(geometry)(q)
    x, z = 0.1 - 0.4, 0.5 - 0.6
    expected = np.abs(x * np.sin(0.2) + z * np.cos(0.2)) - radius
    assert gaps["distance"].min() == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", ["box", "sphere", "capsule", "cylinder"])
@pytest.mark.parametrize(("shape", "radius"), [("bone", 0.03), ("edge", 0.0)])
def test_the_distance_of_a_capsule_or_line_is_that_of_its_axis(dumbbell, name, shape, radius):
    """Against a search along the axis; a line has no gap for the corners of a box."""
    obstacle = CONVEX[name]
    geometry = ContactGeometry(dumbbell, contacts=(shape,), ground=(obstacle,))
    q = dumbbell.random(9, 200)
    q[:, :3] = np.random.default_rng(9).uniform(-0.7, 0.7, (200, 3)) + obstacle.position
    smallest = gap_distances(geometry)(q)["distance"].min(axis=1)
    axis = next(one for one in dumbbell.contacts if one.name == shape)
    turns = hd.dynamics.orientation(dumbbell, q, "left")
    arm = axis.rotation.T @ [axis.half_size[0], 0, 0]
    fractions = np.linspace(-1, 1, 801)[:, None, None]
    points = q[:, :3] + (turns @ axis.position) + fractions * (turns @ arm)
    expected = distance_and_normal(obstacle, points)[0].min(axis=0) - radius
    outside = expected > -radius
    assert outside.sum() > 100
    if (shape, name) == ("edge", "box"):
        assert np.all(smallest[outside] > expected[outside] - 1e-5)
        assert np.mean(np.abs(smallest - expected)[outside] < 1e-4) > 0.8
        return
    np.testing.assert_allclose(smallest[outside], expected[outside], atol=1e-4)


@pytest.mark.parametrize("name", ["sphere", "capsule"])
def test_the_distance_of_a_box_from_a_round_obstacle_is_that_of_its_nearest_points(dumbbell, name):
    """Against bounded least squares over the points of the box and of the axis."""
    obstacle = CONVEX[name]
    geometry = ContactGeometry(dumbbell, contacts=("block",), ground=(obstacle,))
    q = dumbbell.random(12, 120)
    q[:, :3] = np.random.default_rng(12).uniform(-0.8, 0.8, (120, 3)) + obstacle.position
    result = gap_distances(geometry)(q)
    smallest = result["distance"].min(axis=1)
    block = next(shape for shape in dumbbell.contacts if shape.name == "block")
    ends = obstacle.ends if name == "capsule" else np.tile(obstacle.position, (2, 1))
    middle, arm = ends.mean(axis=0), (ends[1] - ends[0]) / 2
    expected = []
    for pose in q:
        turn = hd.dynamics.orientation(dumbbell, pose, "left") @ block.rotation.T
        A = np.column_stack([turn, -arm])[:, : 4 if name == "capsule" else 3]
        bounds = np.array([*block.half_size, 1.0])[: A.shape[1]]
        solution = lsq_linear(A, middle - pose[:3], (-bounds, bounds), tol=1e-14)
        expected.append(np.sqrt(2 * solution.cost) - obstacle.radius)
    expected = np.array(expected)
    outside = expected > -obstacle.radius + 1e-6
    assert outside.sum() > 60
    np.testing.assert_allclose(smallest[outside], expected[outside], atol=2e-5)
    assert np.all(smallest[~outside] < -obstacle.radius + 1e-5)
    # At the nearest place of a separate pair the normal points from the obstacle to the box, and
    # the obstacle begins at the distance behind the point.
    k = np.flatnonzero(expected > 0.01)
    best = result["distance"][k].argmin(axis=1)
    point, normal = result["point"][k, best], result["normal"][k, best]
    on_obstacle = point - smallest[k, None] * normal
    np.testing.assert_allclose(distance_and_normal(obstacle, on_obstacle)[0], 0, atol=2e-5)


def test_a_box_above_a_cylinder_is_refused(dumbbell):
    message = "contact 'block' is a box, which cannot touch cylinder 'post': replace the cylinder"
    geometry = ContactGeometry(
        dumbbell, contacts=("block",), ground=(CylinderObstacle(0.1, 1.0, name="post"),)
    )
    with pytest.raises(hd.ModelError, match=message):
        gap_distances(geometry)


def test_gaps_have_the_friction_of_their_obstacle(dumbbell):
    ground = (
        PlaneObstacle(),
        SphereObstacle(0.1, friction=0.3),
        CapsuleObstacle(0.1, 1.0, friction=0.0),
    )
    geometry = ContactGeometry(dumbbell, contacts=("tip",), ground=ground)
    tree = hd.dynamics.tree.Tree(dumbbell, dumbbell.neutral())
    assert [gap.friction for gap in geometry.gaps(tree)] == [None, 0.3, 0.0]


def test_uneven_ground_touches_edges_between_their_ends_and_faces():
    """A ridge under the middle of a line, a capsule and a box, and one peak under a box."""
    model = free_body(
        ContactShape("line", "a", "line", size=[1.0, 0, 0]),
        ContactShape("capsule", "a", "capsule", radius=0.05, size=[1.0, 0, 0]),
        ContactShape("box", "a", "box", size=[1.0, 0.6, 0.2]),
    )
    heights = np.zeros((11, 11))
    heights[5, :] = 0.2
    ridge = HeightField(heights, (0.2, 0.2), (-1.0, -1.0))
    q = model.neutral()
    q[2] = 0.35
    geometry = ContactGeometry(model, ground=(ridge,))
    distance = dict(zip(geometry.names, gap_distances(geometry)(q)["distance"], strict=True))
    assert distance["line.nearest"] == pytest.approx(0.15, abs=1e-3)
    assert distance["capsule.nearest"] == pytest.approx(0.10, abs=1e-3)
    for k in (0, 1):
        edges = [distance[f"box.edge {2 * n + k}"] for n in (0, 1)]
        assert min(edges) == pytest.approx(0.05, abs=1e-3)
    peak = np.zeros((11, 11))
    peak[5, 6] = 0.2
    geometry = ContactGeometry(model, ("box",), (HeightField(peak, (0.2, 0.2), (-1.0, -1.0)),))
    gaps = gap_distances(geometry)(q)
    assert gaps["distance"][-1] == pytest.approx(0.05, abs=1e-12)
    np.testing.assert_allclose(gaps["point"][-1], [0.0, 0.2, 0.25], atol=1e-12)
    np.testing.assert_allclose(gaps["normal"][-1], [0, 0, 1], atol=1e-12)
    assert gaps["distance"][:-1].min() > 0.05
