"""Contact with meshes, against obstacles whose distances are exact."""

import sys

import numpy as np
import pytest

import homodyn as hd
from homodyn.errors import ModelError
from homodyn.model import Assembly, Body, joints, sphere
from homodyn.motion import BoxObstacle, MeshObstacle, Scene
from homodyn.simulate import ContactGeometry, ImplicitSprings, SoftContact
from homodyn.simulate.geometry import MeshQueries

pytest.importorskip("coal", reason="contact with meshes needs coal")

CUBE_CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
CUBE_FACES = np.array(
    [
        [0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
        [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3],
    ]
)  # fmt: skip


def cube_mesh(size, **settings):
    """A box of triangles."""
    return MeshObstacle(
        vertices=CUBE_CORNERS * np.asarray(size) / 2, faces=CUBE_FACES, name="crate", **settings
    )


def sphere_mesh(radius, rings=40):
    """A closed sphere of triangles between rings of vertices."""
    polar = np.linspace(0, np.pi, rings + 1)[1:-1]
    around = np.linspace(0, 2 * np.pi, 2 * rings, endpoint=False)
    points = (
        [[0, 0, 1]]
        + [[np.sin(p) * np.cos(a), np.sin(p) * np.sin(a), np.cos(p)] for p in polar for a in around]
        + [[0, 0, -1]]
    )
    n, faces = len(around), []
    for k in range(n):
        faces.append([0, 1 + k, 1 + (k + 1) % n])
        for ring in range(len(polar) - 1):
            a, b = 1 + ring * n + k, 1 + ring * n + (k + 1) % n
            faces += [[a, a + n, b + n], [a, b + n, b]]
        low = 1 + (len(polar) - 1) * n
        faces.append([len(points) - 1, low + (k + 1) % n, low + k])
    return MeshObstacle(vertices=radius * np.array(points), faces=np.array(faces), name="hill")


@pytest.fixture(scope="module")
def ball():
    """A solid ball with a contact sphere."""
    assembly = Assembly("ball").add(sphere("ball", mass=1.0, radius=0.1), joints.free())
    return assembly.contact("skin", "ball", "sphere", radius=0.1).model()


def test_planes_are_those_of_a_box(ball):
    """Places outside, in edges' range and inside; the box has exact distances."""
    rng = np.random.default_rng(3)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    turn *= np.sign(np.linalg.det(turn))
    pose = {"position": (0.1, -0.2, 0.3), "orientation": turn}
    box = BoxObstacle((0.8, 0.6, 0.4), **pose)
    queries = MeshQueries(ContactGeometry(ball, ground=cube_mesh((0.8, 0.6, 0.4), **pose)))
    exact = hd.simulate.gap_distances(ContactGeometry(ball, ground=box))
    inside = 0
    for center in box.to_world(rng.uniform(-0.5, 0.5, size=(60, 3))):
        q = ball.neutral()
        q[:3] = center
        *normal, offset, _ = queries.values(q)
        expected = exact(q)
        assert np.dot(normal, center) - offset - 0.1 == pytest.approx(
            expected["distance"][0], abs=1e-9
        )
        np.testing.assert_allclose(normal, expected["normal"][0], atol=1e-7)
        inside += expected["distance"][0] < -0.1
    assert 5 < inside < 50


@pytest.mark.parametrize("law", [SoftContact(1e4, 50.0), ImplicitSprings(1e5, 1e3)])
def test_a_ball_rolls_over_a_crate_as_over_a_box(ball, law):
    q = ball.neutral()
    q[:3] = -0.3, 0.0, 0.5
    v = np.array([0.8, 0.1, 0.0, 0, 0, 0])
    sizes, position = (1.0, 0.6, 0.4), (0, 0, 0.2)
    ends = [
        hd.simulate.run(ball, q, v, 0.4, 1e-3, contact=law, scene=Scene(obstacles=(obstacle,)))
        for obstacle in (
            BoxObstacle(sizes, position=position, name="crate"),
            cube_mesh(sizes, position=position),
        )
    ]
    np.testing.assert_allclose(ends[1].q, ends[0].q, atol=1e-9)
    np.testing.assert_allclose(ends[1].forces, ends[0].forces, atol=1e-5)
    assert ends[1].contact_names == ends[0].contact_names
    spin = ends[1].v[-1, 3:]
    assert np.linalg.norm(spin) == pytest.approx(np.linalg.norm(ends[1].v[-1, :3]) / 0.1, rel=0.02)


def test_a_ball_rolls_down_a_hill_of_triangles(ball):
    """Rolling without slip on a sphere: 7/10 m v^2 = m g (drop of the center)."""
    angle, radius = 0.3, 1.0
    hill = sphere_mesh(radius)
    q = ball.neutral()
    q[:3] = (radius + 0.1) * np.array([np.sin(angle), 0, np.cos(angle)])
    result = hd.simulate.run(
        ball, q, None, 0.4, 1e-3, contact=ImplicitSprings(1e6, 1e3), scene=hill
    )
    assert result.distances[50:].max() < 1e-3
    drop = q[2] - result.q[-1, 2]
    energy = 0.5 * result.v[-1, :3] @ result.v[-1, :3] * 7 / 5
    assert drop > 0.03
    assert energy == pytest.approx(9.81 * drop, rel=0.03)


def test_a_capsule_lies_across_the_edge_of_a_crate():
    """The nearest place of the axis carries it where no end touches."""
    rod = (
        Assembly("rod")
        .add(Body("rod", 1.0, [0, 0, 0], [0.1, 0.1, 0.01]), joints.prismatic("z"))
        .contact("skin", "rod", "capsule", size=(1.0, 0.1, 0.1), radius=0.05)
        .model()
    )
    crate = cube_mesh((0.2, 0.2, 0.2))
    result = hd.simulate.run(
        rod, [0.2], duration=0.5, dt=1e-3, contact=ImplicitSprings(1e5, 1e3), scene=crate
    )
    assert result.total_force[-1, 2] == pytest.approx(9.81, rel=1e-3)
    assert result.q[-1, 0] == pytest.approx(0.15, abs=1e-3)


def test_where_meshes_cannot_be_touched_is_said(ball):
    q = ball.neutral()
    scene = cube_mesh((1, 1, 1))
    with pytest.raises(ModelError, match=r"homodyn.simulate.run and start with a force law"):
        hd.simulate.rollout(ball, q[None], duration=0.1, scene=scene)
    with pytest.raises(ModelError, match=r"mesh 'crate' can be touched in"):
        hd.simulate.run(ball, q, duration=0.1, contact="event_driven", scene=scene)
    with pytest.raises(ModelError, match="fixed length"):
        hd.simulate.run(
            ball, q, duration=0.1, contact="soft", integrator="dormand_prince", scene=scene
        )
    flat = MeshObstacle(vertices=np.zeros((3, 3)), faces=np.array([[0, 1, 2]]))
    with pytest.raises(ModelError, match="triangle 0 has no area"):
        hd.simulate.run(ball, q, duration=0.1, scene=flat)


def test_a_simulation_in_steps_touches_a_mesh_as_a_run(ball):
    q = ball.neutral()
    q[:3] = -0.1, 0.0, 0.65
    v = np.array([0.5, 0, 0, 0, 0, 0])
    options = {"contact": ImplicitSprings(1e5, 1e3), "scene": cube_mesh((1, 1, 1))}
    run = hd.simulate.run(ball, q, v, 0.3, 1e-3, **options)
    assert run.total_force[-1, 2] > 5
    higher = q + np.eye(7)[2]
    one = hd.simulate.start(ball, q, v, 1e-3, **options)
    batch = hd.simulate.start(ball, np.array([q, higher]), np.array([v, v]), 1e-3, **options)
    for simulation in (one, batch):
        for _ in range(len(run.time) - 1):
            simulation.step()
    # Steps of a run with meshes are differences of its times, which have rounding errors.
    np.testing.assert_allclose(one.q, run.q[-1], atol=1e-13)
    np.testing.assert_array_equal(batch.q[0], one.q)
    assert batch.q[1, 2] == pytest.approx(higher[2] - 9.81 * 0.3 * 0.301 / 2)


def test_a_missing_package_is_named(ball, monkeypatch):
    monkeypatch.setitem(sys.modules, "coal", None)
    with pytest.raises(ImportError, match=r"mesh 'crate' needs the package coal: pip install"):
        hd.simulate.run(ball, ball.neutral(), duration=0.1, scene=cube_mesh((1, 1, 1)))
