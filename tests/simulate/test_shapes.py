"""Every contact shape on every obstacle and on other bodies, under all four laws."""

import numpy as np
import pytest

from homodyn.model import Assembly, box, joints, sphere
from homodyn.simulate import (
    BoxObstacle,
    ContactGeometry,
    EventDrivenContact,
    HeightField,
    ImplicitSprings,
    PlaneObstacle,
    SimulationOptions,
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
    "line": ({"kind": "line", "size": (0.3, 0.0, 0.0)}, 0.0),
    "capsule": ({"kind": "capsule", "radius": 0.05, "size": (0.3, 0.0, 0.0)}, 0.05),
    "box": ({"kind": "box", "size": (0.3, 0.2, 0.1)}, 0.1),
}
"""What a body is made of, and how high its middle stands on level ground (m)."""


@pytest.fixture(scope="module", autouse=True)
def interpreted():
    """Runs of a few hundred steps are not worth a compiler."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOMODYN_TIER", "interpreted")
        yield


def sliders():
    """One body of each shape, side by side, each free to move up and down."""
    made = Assembly("shapes")
    for k, (name, (shape, _)) in enumerate(SHAPES.items()):
        made = made.add(sphere(name, MASS, 0.1), joints.prismatic("z"), at=(0, k - 2.0, 0))
        made = made.contact(f"{name} skin", name, **shape)
    return made.model()


RIDGE = np.zeros((5, 11))
RIDGE[2, :] = 0.1
STANDS = {
    "plane": (PlaneObstacle((0, 0, 1), 0.1), dict.fromkeys(SHAPES, 0.1)),
    # The box lies under the middles alone: no end or corner of a longer shape is above it.
    "box": (BoxObstacle((0.1, 5.0, 0.2), (0, 0, -0.1)), dict.fromkeys(SHAPES, 0.1)),
    "field": (HeightField(RIDGE, (0.2, 0.5), (-0.4, -2.5)), dict.fromkeys(SHAPES, 0.1)),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("ground", STANDS)
def test_every_shape_comes_to_rest_on_every_obstacle(ground, law):
    obstacle, heights = STANDS[ground]
    model = sliders()
    rests = np.array([heights[name] + lift for name, (_, lift) in SHAPES.items()])
    chosen, dt = LAWS[law]
    fell = run(
        model,
        rests + 0.01,
        None,
        0.4,
        dt,
        contact=chosen,
        options=SimulationOptions(
            record_interval=0.1, scene=ContactGeometry(model, ground=(obstacle,))
        ),
    )
    assert fell.status is SimulationStatus.FINISHED, fell.message
    sag = {"soft": 1e-3, "implicit": 3e-5}.get(law, 2e-6)
    # Halving finds the top of the ridge to a thousandth of an edge.
    np.testing.assert_allclose(fell.q[-1], rests, atol=sag + (1e-6 if ground == "field" else 0))
    for name in SHAPES:
        # What a slider cannot follow is anything that the cone allows.
        assert fell.force(f"{name} skin")[-1, 2] == pytest.approx(WEIGHT, rel=2e-3)


UNDER = {
    "sphere": ({"kind": "sphere", "radius": 0.1}, 0.1),
    "capsule": ({"kind": "capsule", "radius": 0.05, "size": (0.0, 0.0, 0.0)}, 0.05),
    "box": ({"kind": "box", "size": (0.05, 0.4, 0.1)}, 0.1),
}


def carried(low):
    """Each shape above one that carries it: two sliders on one line, the lower on the ground."""
    made, pairs, rests = Assembly("pairs"), [], []
    below, lift = UNDER[low]
    below = dict(below)
    if low == "capsule":
        below |= {"size": (0.3, 0.0, 0.0), "rotation": [[0, 1, 0], [-1, 0, 0], [0, 0, 1]]}
    for j, (high, (above, height)) in enumerate(SHAPES.items()):
        for name, shape in ((f"{high} on {low}", above), (f"{low} under {high}", below)):
            made = made.add(
                box(name, MASS, (0.1, 0.1, 0.1)), joints.prismatic("z"), at=(0, 2.0 * j, 0)
            )
            made = made.contact(f"{name} skin", name, **shape)
        pairs.append((f"{high} on {low} skin", f"{low} under {high} skin"))
        rests += [2 * lift + height, lift]
    return made.model(), tuple(pairs), np.array(rests)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("low", UNDER)
def test_every_shape_rests_on_every_body_that_can_carry_it(low, law):
    model, pairs, rests = carried(low)
    chosen, dt = LAWS[law]
    scene = ContactGeometry(model, contacts=tuple(below for _, below in pairs), pairs=pairs)
    start = rests + np.tile([0.01, 0.005], len(pairs))
    fell = run(
        model,
        start,
        None,
        0.4,
        dt,
        contact=chosen,
        options=SimulationOptions(scene=scene, record_interval=0.1),
    )
    assert fell.status is SimulationStatus.FINISHED, fell.message
    sag = {"soft": 4e-3, "implicit": 2e-4}.get(law, 3e-6)
    np.testing.assert_allclose(fell.q[-1], rests, atol=sag)
    between = [" on " in name and " skin" in name.split(" on ")[-1] for name in fell.contact_names]
    on_ground = fell.forces[-1][~np.array(between), 2].sum()
    assert on_ground == pytest.approx(2 * WEIGHT * len(pairs), rel=2e-3)


@pytest.mark.parametrize(
    ("law", "yaw"), [*((law, np.pi / 2) for law in LAWS), ("event_driven", 0.8), ("soft", 0.8)]
)
def test_a_plank_laid_across_another_stays(law, yaw):
    """No corner lies on the other: the four places where edges cross carry it."""
    model = (
        Assembly("plank")
        .add(box("plank", MASS, (1.0, 0.2, 0.1)), joints.free())
        .contact("skin", "plank", kind="box", size=(0.5, 0.1, 0.05))
        .model()
    )
    q = model.neutral()
    q[2] = 0.05
    q[3:] = [np.cos(yaw / 2), 0, 0, np.sin(yaw / 2)]
    chosen, dt = LAWS[law]
    if law == "time_stepping":
        chosen = TimeStepping(sweeps=20)
    scene = ContactGeometry(model, ground=(BoxObstacle((0.5, 0.1, 0.05), (0, 0, -0.05)),))
    lay = run(
        model,
        q,
        None,
        0.3,
        dt,
        contact=chosen,
        options=SimulationOptions(scene=scene, record_interval=0.1),
    )
    assert lay.status is SimulationStatus.FINISHED, lay.message
    sag = {"soft": 1e-3, "implicit": 1e-4}.get(law, 1e-5)
    np.testing.assert_allclose(lay.q[-1], q, atol=sag)
    carried = lay.forces[-1][["crossing" in name for name in lay.contact_names], 2]
    assert carried.sum() == pytest.approx(WEIGHT, rel=5e-3)
    assert np.sum(carried > 0.5) == 4
