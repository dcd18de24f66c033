"""Gaps between contact shapes and obstacles, against distances found by search."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from scipy.optimize import lsq_linear

import homodyn as hd
from homodyn.dynamics.tree import Tree
from homodyn.dynamics.wrenches import WrenchRows
from homodyn.model import ContactShape
from homodyn.simulate import BoxObstacle, ContactGeometry, HeightField, PlaneObstacle, gap_distances
from homodyn.simulate.contact_geometry import gap_velocity, nearest_points


def surface(obstacle, points):
    kernel = hd.symbolic.kernel(lambda x: dict(zip("dn", obstacle.surface(x), strict=True)), x=3)
    result = kernel(points)
    return result["d"], result["n"]


OBSTACLES = {
    "plane": PlaneObstacle((0.2, -0.3, 1.0), 0.1),
    "box": BoxObstacle(
        (0.3, 0.2, 0.4),
        (0.1, 0.0, -0.2),
        np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0],
    ),
    "field": HeightField(
        0.05 * np.random.default_rng(1).normal(size=(5, 6)), (0.4, 0.3), (-0.8, -0.7)
    ),
}


@pytest.mark.parametrize("name", OBSTACLES)
def test_normals_are_the_slopes_of_distances(name):
    obstacle = OBSTACLES[name]
    points = np.random.default_rng(0).uniform(-0.6, 0.6, (200, 3))
    _, normal = surface(obstacle, points)
    np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1, atol=1e-12)
    if name == "field":
        # Away from the ground the distance is only right to first order: look at its surface.
        height = surface(obstacle, points * [1, 1, 0])
        points = points * [1, 1, 0] - np.outer(height[0] / height[1][:, 2], [0, 0, 1])
        _, normal = surface(obstacle, points)
    step = 1e-6
    slope = np.stack(
        [
            (surface(obstacle, points + step * e)[0] - surface(obstacle, points - step * e)[0])
            / (2 * step)
            for e in np.eye(3)
        ],
        axis=1,
    )
    close = np.linalg.norm(slope - normal, axis=1) < 1e-5
    assert close.mean() > 0.97  # a box has edges in its medial surfaces, where slopes jump


def test_distance_to_a_box_is_the_least_over_its_surface():
    box = OBSTACLES["box"]
    rng = np.random.default_rng(5)
    turn, half = np.array(box.rotation), np.array(box.half_extents)
    faces = rng.uniform(-1, 1, (60_000, 3)) * half
    axis = rng.integers(0, 3, len(faces))
    rows = np.arange(len(faces))
    faces[rows, axis] = np.sign(faces[rows, axis]) * half[axis]
    world = faces @ turn + np.array(box.position)
    points = rng.uniform(-0.8, 0.8, (50, 3))
    distance, _ = surface(box, points)
    least = np.linalg.norm(points[:, None] - world, axis=2).min(axis=1)
    np.testing.assert_allclose(np.abs(distance), least, atol=0.012)
    local = (points - np.array(box.position)) @ turn.T
    assert np.array_equal(distance < 0, np.all(np.abs(local) < half, axis=1))


def test_a_height_field_runs_through_its_nodes_and_is_exact_on_slopes():
    field = OBSTACLES["field"]
    x = -0.8 + 0.4 * np.arange(5)
    y = -0.7 + 0.3 * np.arange(6)
    heights = np.array(field.heights)
    nodes = np.array([[x[i], y[j], heights[i, j]] for i in range(5) for j in range(6)])
    np.testing.assert_allclose(surface(field, nodes)[0], 0, atol=1e-14)
    X, Y = np.meshgrid(np.arange(4.0), np.arange(4.0), indexing="ij")
    slope = HeightField(0.3 * X - 0.1 * Y)
    plane = PlaneObstacle((-0.3, 0.1, 1.0))
    points = np.random.default_rng(2).uniform(0.1, 2.9, (40, 3))
    for got, expected in zip(surface(slope, points), surface(plane, points), strict=True):
        np.testing.assert_allclose(got, expected, atol=1e-12)


def test_nearest_points_of_segments_are_the_nearest():
    rng = np.random.default_rng(7)
    kernel = hd.symbolic.kernel(
        lambda a, b, c, d: dict(zip("pq", nearest_points((a, b), (c, d)), strict=True)),
        a=3,
        b=3,
        c=3,
        d=3,
    )
    shares = np.linspace(0, 1, 201)
    for _ in range(40):
        a, b, c, d = rng.normal(size=(4, 3))
        found = kernel(a, b, c, d)
        first = a + shares[:, None] * (b - a)
        second = c + shares[:, None] * (d - c)
        least = np.linalg.norm(first[:, None] - second, axis=2).min()
        got = np.linalg.norm(found["p"] - found["q"])
        assert got <= least + 1e-12
        assert got > least - 0.02


@pytest.fixture(scope="module")
def dumbbell():
    """Two free bodies with one contact shape of each kind on the first and a box on the second."""
    base = hd.model.Body("left", 1.0, np.zeros(3), np.eye(3) * 0.01)
    other = hd.model.Body("right", 2.0, np.zeros(3), np.eye(3) * 0.02)
    turn = np.linalg.qr(np.random.default_rng(11).normal(size=(3, 3)))[0]
    turn *= np.sign(np.linalg.det(turn))
    shapes = (
        ContactShape("tip", "left", "point", [0.1, 0, 0]),
        ContactShape("ball", "left", "sphere", [0, 0.1, 0], radius=0.05),
        ContactShape("edge", "left", "line", [0, 0, 0.1], size=[0.2, 0, 0], rotation=turn),
        ContactShape("bone", "left", "capsule", [0, 0, 0.1], 0.03, [0.2, 0, 0], turn),
        ContactShape("block", "left", "box", [0, 0, 0], 0.0, [0.1, 0.2, 0.3], turn),
        ContactShape("crate", "right", "box", [0.05, 0, 0], 0.0, [0.3, 0.2, 0.1], turn.T),
        ContactShape("rod", "right", "capsule", [0, 0.2, 0], 0.02, [0.15, 0, 0]),
    )
    return hd.Model(
        "dumbbell",
        (base, other),
        (
            hd.joints.free().joint("a", "world", "left"),
            hd.joints.free().joint("b", "world", "right"),
        ),
        contacts=shapes,
    )


def test_each_kind_of_shape_has_its_places(dumbbell):
    scene = ContactGeometry(dumbbell, contacts=("tip", "ball", "edge", "bone", "block"))
    assert scene.names[:6] == ("tip", "ball", "edge.start", "edge.end", "bone.start", "bone.end")
    assert len(scene.names) == 6 + 8
    kernel = gap_distances(scene)
    q = dumbbell.random(0)
    gaps = kernel(q)
    turn = hd.dynamics.orientation(dumbbell, q, "left")
    np.testing.assert_allclose(gaps["distance"][0], (q[:3] + turn @ [0.1, 0, 0])[2], atol=1e-14)
    np.testing.assert_allclose(
        gaps["distance"][1], (q[:3] + turn @ [0, 0.1, 0])[2] - 0.05, atol=1e-14
    )
    np.testing.assert_allclose(gaps["point"][:, 2], gaps["distance"], atol=1e-14)


PAIRS = (("tip", "crate"), ("ball", "crate"), ("bone", "rod"), ("block", "crate"), ("ball", "rod"))


def test_rows_of_a_gap_are_the_rates_of_its_distance(dumbbell):
    scene = ContactGeometry(dumbbell, ground=(OBSTACLES["plane"], OBSTACLES["box"]), pairs=PAIRS)

    def rates(q, v):
        tree = Tree(dumbbell, q, v)
        gaps = scene.gaps(tree)
        rows = WrenchRows(tree, [gap.wrenches[0] for gap in gaps])
        moving = [ca.dot(gap.normal, gap_velocity(tree, gap)) for gap in gaps]
        return {"row": ca.vertcat(*rows.times(v)), "moving": ca.vertcat(*moving)}

    kernel = hd.symbolic.kernel(rates, q=dumbbell.nq, v=dumbbell.nv)
    distances = gap_distances(scene)
    rng = np.random.default_rng(4)
    q = dumbbell.random(1, 60)
    q[:, :3] *= 0.3
    q[:, 7:10] = q[:, :3] + 0.3 * rng.normal(size=(60, 3))
    v = rng.normal(size=(60, dumbbell.nv))
    result = kernel(q, v)
    np.testing.assert_allclose(result["row"], result["moving"], atol=1e-10)
    h = 1e-6
    before = distances(dumbbell.integrate(q, -h * v))
    after = distances(dumbbell.integrate(q, h * v))
    slope = (after["distance"] - before["distance"]) / (2 * h)
    # Where the nearest face or place changes within the step the slope jumps.
    steady = np.linalg.norm(after["normal"] - before["normal"], axis=-1) < 1e-3
    assert steady.mean() > 0.99
    # Crossings of edges, and corners beside an axis, recede quickly where others count.
    faded = [name for name in scene.names if "crossing" in name or "corner" in name]
    steady &= ~np.isin(scene.names, faded)
    np.testing.assert_allclose(slope[steady], result["row"][steady], atol=2e-5)


@pytest.mark.parametrize("kind", ["line", "capsule"])
def test_an_axis_across_a_box_touches_its_edges(kind):
    radius = 0.02 if kind == "capsule" else 0.0
    model = hd.Model(
        "stick",
        (hd.model.Body("stick", 1.0, np.zeros(3), np.eye(3) * 0.01),),
        (hd.joints.free().joint("free", "world", "stick"),),
        contacts=(ContactShape("axis", "stick", kind, radius=radius, size=[1.0, 0, 0]),),
    )
    scene = ContactGeometry(model, ground=(BoxObstacle((0.1, 5.0, 0.5)),))
    q = model.neutral()
    q[:3] = [0.4, 0, 0.6]
    gaps = gap_distances(scene)(q)
    # The ends hang beside the box; both edges of its top are equally near.
    np.testing.assert_allclose(gaps["distance"][2:4], 0.1 - radius, atol=1e-9)
    np.testing.assert_allclose(np.sort(gaps["point"][2:4, 0]), [-0.1, 0.1], atol=1e-9)
    assert gaps["distance"][:2].min() > 0.4
    # Tilted, it is nearest to one edge.
    q[3:7] = [np.cos(0.1), 0, np.sin(0.1), 0]
    gaps = gap_distances(scene)(q)
    x, z = 0.1 - 0.4, 0.5 - 0.6
    expected = np.abs(x * np.sin(0.2) + z * np.cos(0.2)) - radius
    assert gaps["distance"].min() == pytest.approx(expected, abs=1e-9)


def test_a_capsule_is_as_far_from_a_box_as_its_axis_less_its_radius(dumbbell):
    """Against a search along the axis."""
    obstacle = OBSTACLES["box"]
    scene = ContactGeometry(dumbbell, contacts=("bone",), ground=(obstacle,))
    q = dumbbell.random(9, 200)
    q[:, :3] = np.random.default_rng(9).uniform(-0.7, 0.7, (200, 3)) + obstacle.position
    found = gap_distances(scene)(q)
    ends = found["point"][:, :2] + 0.03 * found["normal"][:, :2]
    shares = np.linspace(0, 1, 401)[:, None]
    for k in range(200):
        along = ends[k, 0] + shares * (ends[k, 1] - ends[k, 0])
        least = surface(obstacle, along)[0].min() - 0.03
        if least > -0.03:
            assert found["distance"][k].min() == pytest.approx(least, abs=1e-4)


def test_tangents_and_normal_are_a_frame(dumbbell):
    scene = ContactGeometry(dumbbell, ground=(OBSTACLES["box"],), pairs=PAIRS)

    def frames(q):
        gaps = scene.gaps(Tree(dumbbell, q))
        return ca.vertcat(*[ca.horzcat(*gap.tangents, gap.normal) for gap in gaps])

    frame = hd.symbolic.kernel(frames, q=dumbbell.nq)(dumbbell.random(3, 20)).reshape(20, -1, 3, 3)
    eye = np.broadcast_to(np.eye(3), frame.shape)
    np.testing.assert_allclose(frame.swapaxes(-1, -2) @ frame, eye, atol=1e-9)
    np.testing.assert_allclose(np.linalg.det(frame), 1, atol=1e-9)


def test_unknown_contacts_and_pairs_on_one_body_are_refused(dumbbell):
    with pytest.raises(hd.ModelError, match="heel"):
        ContactGeometry(dumbbell, contacts=("heel",))
    with pytest.raises(hd.ModelError, match="one body"):
        ContactGeometry(dumbbell, pairs=(("tip", "ball"),))
    thin = tuple(ContactShape(f"{n} axis", n, "line", size=[1, 0, 0]) for n in ("left", "right"))
    with pytest.raises(hd.ModelError, match="no thickness"):
        ContactGeometry(replace(dumbbell, contacts=thin), pairs=(("left axis", "right axis"),))
    with pytest.raises(hd.ModelError, match="2 x 2"):
        HeightField([[1.0]])
    with pytest.raises(hd.ModelError, match="positive half extents"):
        BoxObstacle((0, 1, 1))


def two_boxes(first, second):
    """Two free boxes with these half extents."""
    bodies = tuple(hd.model.Body(name, 1.0, np.zeros(3), np.eye(3) * 0.01) for name in "ab")
    roots = tuple(hd.joints.free().joint(f"root {name}", "world", name) for name in "ab")
    shapes = tuple(
        ContactShape(f"box {name}", name, "box", size=half)
        for name, half in zip("ab", (first, second), strict=True)
    )
    return hd.Model("two boxes", bodies, roots, contacts=shapes)


def separation(model, q, halves):
    """Distance of two boxes as a least-squares problem with bounds: an oracle, slow."""
    turns = [hd.dynamics.orientation(model, q, name) for name in "ab"]
    A = np.hstack([turns[0], -turns[1]])
    half = np.concatenate(halves)
    found = lsq_linear(A, q[7:10] - q[:3], (-half, half), tol=1e-14)
    return np.sqrt(2 * found.cost)


def test_boxes_are_as_far_apart_as_their_nearest_points_and_no_overlap_is_unseen():
    halves = ([0.3, 0.2, 0.1], [0.1, 0.4, 0.2])
    model = two_boxes(*halves)
    kernels = {
        "pair": gap_distances(ContactGeometry(model, contacts=(), pairs=(("box a", "box b"),))),
    }
    q = model.random(5, 300)
    rng = np.random.default_rng(5)
    q[:, :3] = 0.0
    ways = rng.normal(size=(300, 3))
    q[:, 7:10] = ways / np.linalg.norm(ways, axis=1)[:, None] * rng.uniform(0.3, 0.8, (300, 1))
    gaps = kernels["pair"](q)["distance"]
    found = gaps.min(axis=1)
    true = np.array([separation(model, one, halves) for one in q])
    apart = true > 1e-6
    assert 60 < apart.sum() < 260
    np.testing.assert_allclose(found[apart], true[apart], atol=2e-5)
    assert np.all(found[~apart] < 1e-6)
    # Corners alone do not do: where edges are nearest they are off by centimetres, or see nothing.
    corners = gaps[:, :16].min(axis=1)
    assert np.sum(corners[apart] > true[apart] + 0.01) > 5
    assert np.any(corners[~apart] > 0.01)


def test_a_box_and_a_fixed_box_meet_as_two_bodies_do():
    halves = ([0.3, 0.2, 0.1], [0.1, 0.4, 0.2])
    model = two_boxes(*halves)
    turn = np.linalg.qr(np.random.default_rng(8).normal(size=(3, 3)))[0]
    turn *= np.sign(np.linalg.det(turn))
    fixed = ContactGeometry(
        model, contacts=("box a",), ground=(BoxObstacle(halves[1], (0.1, 0.2, 0.3), turn),)
    )
    q = model.random(6, 50)
    q[:, :3] = np.random.default_rng(6).uniform(-0.5, 0.7, (50, 3))
    q[:, 7:10] = [0.1, 0.2, 0.3]
    q[:, 10:] = _quaternion(turn.T)
    between = gap_distances(ContactGeometry(model, contacts=(), pairs=(("box a", "box b"),)))(q)
    against = gap_distances(fixed)(q)
    np.testing.assert_allclose(against["distance"], between["distance"], atol=1e-12)
    np.testing.assert_allclose(against["normal"][:, :8], between["normal"][:, :8], atol=1e-12)
    np.testing.assert_allclose(against["normal"][:, 8:16], -between["normal"][:, 8:16], atol=1e-12)


def _quaternion(R):
    w = np.sqrt(1 + np.trace(R)) / 2
    return np.array(
        [w, *np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 4 / w]
    )


def test_uneven_ground_is_felt_between_the_ends_of_edges_and_under_faces():
    """A ridge under the middle of a line, a capsule and a box, and a lone peak under a box."""
    shapes = (
        ContactShape("line", "a", "line", size=[0.5, 0, 0]),
        ContactShape("capsule", "a", "capsule", radius=0.05, size=[0.5, 0, 0]),
        ContactShape("box", "a", "box", size=[0.5, 0.3, 0.1]),
    )
    body = hd.model.Body("a", 1.0, np.zeros(3), np.eye(3) * 0.01)
    model = hd.Model("a", (body,), (hd.joints.free().joint("r", "world", "a"),), contacts=shapes)
    heights = np.zeros((11, 11))
    heights[5, :] = 0.2
    ridge = HeightField(heights, (0.2, 0.2), (-1.0, -1.0))
    q = model.neutral()
    q[2] = 0.35
    scene = ContactGeometry(model, ground=(ridge,))
    distance = dict(zip(scene.names, gap_distances(scene)(q)["distance"], strict=True))
    assert distance["line.nearest"] == pytest.approx(0.15, abs=1e-3)
    assert distance["capsule.nearest"] == pytest.approx(0.10, abs=1e-3)
    for k in (0, 1):
        edges = [distance[f"box.edge {2 * n + k}"] for n in (0, 1)]
        assert min(edges) == pytest.approx(0.05, abs=1e-3)
    lone = np.zeros((11, 11))
    lone[5, 6] = 0.2
    scene = ContactGeometry(model, ("box",), (HeightField(lone, (0.2, 0.2), (-1.0, -1.0)),))
    gaps = gap_distances(scene)(q)
    assert gaps["distance"][-1] == pytest.approx(0.05, abs=1e-12)
    np.testing.assert_allclose(gaps["point"][-1], [0.0, 0.2, 0.25], atol=1e-12)
    np.testing.assert_allclose(gaps["normal"][-1], [0, 0, 1], atol=1e-12)
    assert gaps["distance"][:-1].min() > 0.05
