"""Every contact shape on every obstacle and on other bodies, under all four laws."""

import numpy as np
import pytest

from homodyn.model import Assembly, box, joints, sphere
from homodyn.motion import BoxObstacle, CapsuleObstacle, HeightField, PlaneObstacle
from homodyn.simulate import (
    ContactGeometry,
    EventDrivenContact,
    ImplicitSprings,
    SimulationStatus,
    SoftContact,
    TimeStepping,
    run,
)

LAWS = {
    "event_driven": (EventDrivenContact(), 0.05),
    "time_stepping": (TimeStepping(sweeps=6), 2e-3),
    "soft": (SoftContact(2e4, 300.0), 5e-4),
    "implicit": (ImplicitSprings(1e6, 1e4), 2e-3),
}
MASS, WEIGHT = 2.0, 2.0 * 9.81

SHAPES = {
    "point": ({"kind": "point"}, 0.0),
    "sphere": ({"kind": "sphere", "radius": 0.1}, 0.1),
    "line": ({"kind": "line", "size": (0.6, 0.0, 0.0)}, 0.0),
    "capsule": ({"kind": "capsule", "radius": 0.05, "size": (0.6, 0.0, 0.0)}, 0.05),
    "box": ({"kind": "box", "size": (0.6, 0.4, 0.2)}, 0.1),
}
"""Contact shapes, and the height of their center on level ground (m)."""


pytestmark = pytest.mark.usefixtures("interpreted")


def sliders():
    """One body with each shape, side by side, on vertical slides."""
    assembly = Assembly("shapes")
    for k, (name, (shape, _)) in enumerate(SHAPES.items()):
        assembly = assembly.add(sphere(name, MASS, 0.1), joints.prismatic("z"), at=(0, k - 2.0, 0))
        assembly = assembly.contact(f"{name} skin", name, **shape)
    return assembly.model()


RIDGE = np.zeros((5, 11))
RIDGE[2, :] = 0.1
SUPPORTS = {
    "plane": (PlaneObstacle((0, 0, 1), 0.1), dict.fromkeys(SHAPES, 0.1)),
    # The box is under the middles alone: no end or corner of a longer shape is above it.
    "box": (BoxObstacle((0.2, 10.0, 0.4), position=(0, 0, -0.1)), dict.fromkeys(SHAPES, 0.1)),
    # A capsule along y.
    "capsule": (
        CapsuleObstacle(0.1, 8.0, orientation=[[1, 0, 0], [0, 0, 1], [0, -1, 0]]),
        dict.fromkeys(SHAPES, 0.1),
    ),
    "field": (HeightField(RIDGE, (0.2, 0.5), (-0.4, -2.5)), dict.fromkeys(SHAPES, 0.1)),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("ground", SUPPORTS)
def test_every_shape_rests_on_every_obstacle(ground, law):
    obstacle, heights = SUPPORTS[ground]
    model = sliders()
    rests = np.array([heights[name] + lift for name, (_, lift) in SHAPES.items()])
    chosen, dt = LAWS[law]
    result = run(
        model, rests + 0.01, None, 0.4, dt, contact=chosen, record_interval=0.1, scene=obstacle
    )
    assert result.status is SimulationStatus.FINISHED, result.message
    penetration = {"soft": 1e-3, "implicit": 3e-5}.get(law, 2e-6)
    # Bisection locates the top of the ridge to a thousandth of an edge.
    np.testing.assert_allclose(
        result.q[-1], rests, atol=penetration + (1e-6 if ground == "field" else 0)
    )
    for name in SHAPES:
        # Horizontal forces on a slide are not unique.
        assert result.force(f"{name} skin")[-1, 2] == pytest.approx(WEIGHT, rel=2e-3)


LOWER_SHAPES = {
    "sphere": ({"kind": "sphere", "radius": 0.1}, 0.1),
    "capsule": ({"kind": "capsule", "radius": 0.05, "size": (0.0, 0.0, 0.0)}, 0.05),
    "box": ({"kind": "box", "size": (0.1, 0.8, 0.2)}, 0.1),
}


def pairs_of_sliders(low):
    """Each shape above a lower one that supports it: two bodies on one vertical slide."""
    assembly, pairs, rests = Assembly("pairs"), [], []
    below, lift = LOWER_SHAPES[low]
    below = dict(below)
    if low == "capsule":
        below |= {"size": (0.6, 0.0, 0.0), "rotation": [[0, 1, 0], [-1, 0, 0], [0, 0, 1]]}
    for j, (high, (above, height)) in enumerate(SHAPES.items()):
        for name, shape in ((f"{high} on {low}", above), (f"{low} under {high}", below)):
            assembly = assembly.add(
                box(name, MASS, (0.1, 0.1, 0.1)), joints.prismatic("z"), at=(0, 2.0 * j, 0)
            )
            assembly = assembly.contact(f"{name} skin", name, **shape)
        pairs.append((f"{high} on {low} skin", f"{low} under {high} skin"))
        rests += [2 * lift + height, lift]
    return assembly.model(), tuple(pairs), np.array(rests)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("low", LOWER_SHAPES)
def test_every_shape_rests_on_every_body_that_can_support_it(low, law):
    model, pairs, rests = pairs_of_sliders(low)
    chosen, dt = LAWS[law]
    geometry = ContactGeometry(model, contacts=tuple(below for _, below in pairs), pairs=pairs)
    start = rests + np.tile([0.01, 0.005], len(pairs))
    result = run(model, start, None, 0.4, dt, contact=chosen, scene=geometry, record_interval=0.1)
    assert result.status is SimulationStatus.FINISHED, result.message
    penetration = {"soft": 4e-3, "implicit": 2e-4}.get(law, 3e-6)
    np.testing.assert_allclose(result.q[-1], rests, atol=penetration)
    between = [
        " on " in name and " skin" in name.split(" on ")[-1] for name in result.contact_names
    ]
    on_ground = result.forces[-1][~np.array(between), 2].sum()
    assert on_ground == pytest.approx(2 * WEIGHT * len(pairs), rel=2e-3)


@pytest.mark.parametrize(
    ("law", "yaw"), [*((law, np.pi / 2) for law in LAWS), ("event_driven", 0.8), ("soft", 0.8)]
)
def test_a_plank_rests_across_another(law, yaw):
    """No corner is on the other plank: the four crossings of edges support it."""
    model = (
        Assembly("plank")
        .add(box("plank", MASS, (1.0, 0.2, 0.1)), joints.free())
        .contact("skin", "plank", kind="box", size=(1.0, 0.2, 0.1))
        .model()
    )
    q = model.neutral()
    q[2] = 0.05
    q[3:] = [np.cos(yaw / 2), 0, 0, np.sin(yaw / 2)]
    chosen, dt = LAWS[law]
    if law == "time_stepping":
        chosen = TimeStepping(sweeps=20)
    geometry = ContactGeometry(model, ground=BoxObstacle((1.0, 0.2, 0.1), position=(0, 0, -0.05)))
    result = run(model, q, None, 0.3, dt, contact=chosen, scene=geometry, record_interval=0.1)
    assert result.status is SimulationStatus.FINISHED, result.message
    penetration = {"soft": 1e-3, "implicit": 1e-4}.get(law, 1e-5)
    np.testing.assert_allclose(result.q[-1], q, atol=penetration)
    load = result.forces[-1][["crossing" in name for name in result.contact_names], 2]
    assert load.sum() == pytest.approx(WEIGHT, rel=5e-3)
    assert np.sum(load > 0.5) == 4
