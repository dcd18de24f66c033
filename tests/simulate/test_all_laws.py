"""What holds whatever the law of contact: joints, motors, books, faults."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.model import Assembly, box, joints, rod, sphere
from homodyn.simulate import (
    PD,
    EventDrivenContact,
    ImplicitSprings,
    SampledTorques,
    SimulationOptions,
    SimulationStatus,
    SoftContact,
    TimeStepping,
    Torques,
    run,
)

LAWS = {
    "event_driven": (EventDrivenContact(), 0.01),
    "time_stepping": (TimeStepping(), 1e-3),
    "soft": (SoftContact(2e4, 100.0), 1e-3),
    "implicit": (ImplicitSprings(1e5, 1e3), 1e-3),
}


@pytest.fixture(scope="module", autouse=True)
def interpreted():
    """Runs of a few hundred steps are not worth a compiler."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOMODYN_TIER", "interpreted")
        yield


def machine():
    """Doors without weight on separate hinges, each with one thing that acts along it."""
    door = {"start": (0, 0, 0), "end": (1, 0, 0)}
    kinds = {
        "stopped": joints.revolute("z", upper=0.5),
        "rough": joints.revolute("z", friction=0.5),
        "sprung": joints.revolute("z", stiffness=30.0, damping=2.0, rest=0.2),
        "driven": joints.revolute("z", max_force=4.0, max_velocity=2.0),
        "servo": joints.revolute("z", max_force=4.0),
    }
    made = Assembly("machine")
    for k, (name, joint) in enumerate(kinds.items()):
        made = made.add(rod(name, 2.0, **door), joint, at=(0, 0, k + 1.0))
    # A ball on the ground, so that the law of contact is at work too.
    made = made.add(sphere("ball", 1.0, 0.1), joints.prismatic("z"), at=(5, 0, 0))
    return made.contact("skin", "ball", "sphere", radius=0.1).model()


INERTIA = 2.0 / 3
"""kg m2, of a door about its hinge."""


@pytest.fixture(scope="module")
def moved():
    """One second of the machine under each law."""
    model = machine()
    names = list(model.coordinate_names)
    servo = PD({"servo": 60.0}, {"servo": 12.0}, target=[0, 0, 0, 0, 0.1, 0], stable=True)
    start = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.1])
    fast = np.array([2.0, 0.6, 0.0, 0.0, 0.0, 0.0])
    records = {
        law: run(
            model,
            start,
            fast,
            1.0,
            dt,
            contact=chosen,
            actuation=(Torques({"driven": 50.0}), servo),
            options=SimulationOptions(record_interval=0.01),
        )
        for law, (chosen, dt) in LAWS.items()
    }
    assert names[:5] == ["stopped", "rough", "sprung", "driven", "servo"]
    return records


@pytest.mark.parametrize("law", LAWS)
def test_a_limit_stops_and_never_pulls(moved, law):
    record = moved[law]
    angle, speed = record.q[:, 0], record.v[:, 0]
    # Rigid stops take all speed away; springs of 15 Hz give in by some hundredths of a radian.
    rigid = law == "event_driven"
    assert angle.max() < 0.5 + (1e-6 if rigid else 0.03)
    assert angle.max() > 0.4999
    assert -1.0 < speed[-1] <= 1e-6
    assert angle[-1] <= angle.max()


@pytest.mark.parametrize("law", LAWS)
def test_dry_friction_stops_and_holds(moved, law):
    record = moved[law]
    assert record.q[-1, 1] == pytest.approx(0.6**2 / 2 * INERTIA / 0.5, rel=5e-3)
    assert abs(record.v[-1, 1]) < 1e-6
    stopped = record.time > 0.6 * INERTIA / 0.5 + 0.02
    np.testing.assert_allclose(record.q[stopped, 1], record.q[-1, 1], atol=1e-5)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("inertia", "grip"), [(1e-2, 0.5), (1e-3, 0.5), (1e-5, 5.0)])
def test_dry_friction_stops_light_links_and_never_turns_them_back(law, inertia, grip):
    """Down to a link that friction could turn from 10 to -490 rad/s within one step."""
    link = joints.revolute("z", friction=grip)
    made = Assembly("link").add("link", link, mass=1.0, inertia=inertia * np.eye(3))
    model = made.contact("skin", "link", position=(0, 0, 1.0)).model()
    stopped = run(
        model,
        [0.0],
        [10.0],
        0.3,
        1e-3,
        contact=LAWS[law][0],
        options=SimulationOptions(record_interval=1e-3),
    )
    exact = inertia * 10.0**2 / 2 / grip
    # One step of 1 ms at 10 rad/s is all that positions may be off by.
    assert stopped.q[-1, 0] == pytest.approx(exact, abs=0.01)
    assert stopped.v.min() > -1e-6
    assert abs(stopped.v[-1, 0]) < 1e-6
    assert np.all(np.diff(stopped.energy.kinetic) < 1e-12)
    if law != "implicit" or inertia > 1e-4:
        assert stopped.energy.dissipated[-1] == pytest.approx(inertia * 50, rel=1e-3)
    else:
        # Three iterations find the stop, not the force that made it; the step says so.
        assert stopped.residual > 1e-3 * inertia * 10


@pytest.mark.parametrize("law", LAWS)
def test_a_spring_damper_swings_as_it_should(moved, law):
    record = moved[law]
    decay, omega = 2.0 / (2 * INERTIA), np.sqrt(30.0 / INERTIA - (2.0 / (2 * INERTIA)) ** 2)
    t = record.time
    swing = 0.2 * np.exp(-decay * t) * (np.cos(omega * t) + decay / omega * np.sin(omega * t))
    np.testing.assert_allclose(
        record.q[:, 2], 0.2 - swing, atol=1e-6 if law == "event_driven" else 2e-3
    )


@pytest.mark.parametrize("law", LAWS)
def test_motors_give_what_they_can_and_no_more(moved, law):
    """4 N m up to 2 rad/s, then 8 W: v^2 grows by 2 P t / I."""
    record = moved[law]
    assert np.abs(record.torques[:, 3:5]).max() <= 4.0 + 1e-9
    full = 2.0 / (4.0 / INERTIA)
    expected = np.sqrt(2.0**2 + 2 * 8.0 / INERTIA * (1.0 - full))
    assert record.v[-1, 3] == pytest.approx(expected, rel=3e-3)
    assert record.torques[0, 4] == pytest.approx(4.0, abs=0.5)
    assert record.q[-1, 4] == pytest.approx(0.1, abs=1e-3)


@pytest.mark.parametrize("law", LAWS)
def test_energy_is_booked(moved, law):
    """Motors bring it, stops, friction and dampers take it, the rest is the error that is told."""
    books = moved[law].energy
    change = books.kinetic + books.potential
    change = change - change[0]
    booked = books.actuators + books.contacts - books.dissipated + books.events + books.error
    np.testing.assert_allclose(change, booked, atol=1e-12)
    assert np.abs(books.error).max() < (1e-6 if law == "event_driven" else 0.03)
    assert books.actuators[-1] > 5
    assert books.dissipated[-1] > 1


@pytest.mark.parametrize("law", LAWS)
def test_a_tumbling_box_closes_its_books(law):
    """Thrown obliquely, it strikes with corners and slides; 20 J fall in all."""
    model = (
        Assembly("box")
        .add(box("box", 3.0, (0.4, 0.3, 0.2)), joints.free())
        .contact("skin", "box", "box", size=(0.2, 0.15, 0.1))
        .model()
    )
    q = model.neutral()
    q[2] = 0.6
    v = np.array([0.5, -0.2, 0.0, 2.0, 1.0, 0.5])
    chosen, dt = LAWS[law]
    if law == "event_driven":
        chosen = EventDrivenContact(tolerance=1e-6)
    thrown = run(
        model, q, v, 0.6, dt, contact=chosen, options=SimulationOptions(record_interval=0.01)
    )
    books = thrown.energy
    change = books.kinetic + books.potential
    booked = books.actuators + books.contacts - books.dissipated + books.error
    np.testing.assert_allclose(change - change[0], booked, atol=1e-12)
    bound = {"event_driven": 1e-5, "soft": 0.2}.get(law, 0.1)
    assert np.abs(books.error).max() < bound
    assert np.diff(change).max() < {"soft": 5.0}.get(law, 0.1)
    assert books.contacts[-1] < -10


# -- faults


def ball():
    made = Assembly("ball").add(sphere("ball", 1.0, 0.1), joints.free())
    return made.contact("skin", "ball", "sphere", radius=0.1).model()


@pytest.mark.parametrize("law", LAWS)
def test_faults_end_with_a_status_that_says_what_happened(law):
    model, (chosen, dt) = ball(), LAWS[law]
    q = hd.simulate.place_on_ground(model, model.neutral(), 0.05)
    torques = np.zeros((2, 6))
    torques[1, 2] = np.nan
    broken = run(
        model, q, None, 0.2, dt, contact=chosen,
        actuation=SampledTorques([0.0, 0.1], torques, zero_order_hold=True),
    )  # fmt: skip
    assert broken.status is SimulationStatus.NOT_FINITE
    assert "0.1 s" in broken.message
    assert "ball_tz" in broken.message
    for array in (broken.q, broken.v, broken.forces, broken.torques, broken.energy.error):
        assert np.isfinite(array).all()
    assert broken.time[-1] == pytest.approx(0.1, abs=2 * dt)
    # Steps as long as the whole fall, and a start 50 mm inside the ground.
    for start, step in ((q, 1.0), (q - [0, 0, 0.1, 0, 0, 0, 0], dt)):
        odd = run(
            model,
            start,
            None,
            2.0,
            step,
            contact=chosen,
            options=SimulationOptions(record_interval=step),
        )
        assert np.isfinite(odd.q).all()
        assert np.isfinite(odd.forces).all()
        if odd.status is not SimulationStatus.FINISHED:
            assert " s" in odd.message
        elif step == dt:
            assert odd.q[-1, 2] > 0.09
    told = f"{odd.message} {odd.notes}"
    assert "inside" in told


@pytest.mark.parametrize("law", LAWS)
def test_on_ice_nothing_is_held(law):
    model, (chosen, dt) = ball(), LAWS[law]
    ice = type(chosen)(**{**vars(chosen), "friction": 0.0})
    q = hd.simulate.place_on_ground(model, model.neutral())
    slid = run(
        model,
        q,
        [1.0, 0.5, 0, 0, 0, 3.0],
        0.2,
        dt,
        contact=ice,
        options=SimulationOptions(record_interval=0.1),
    )
    assert slid.status is SimulationStatus.FINISHED
    np.testing.assert_allclose(slid.forces[..., :2], 0, atol=1e-9)
    np.testing.assert_allclose(slid.q[-1, :2], [0.2, 0.1], atol=2e-3)


@pytest.mark.parametrize("law", LAWS)
def test_springs_of_a_million_newtons_a_metre_hold_at_ten_milliseconds(law):
    """Along a coordinate: taken at the end of the step, or with steps as short as needed."""
    spring = joints.prismatic("x", stiffness=1e6, damping=400.0)
    made = Assembly("stiff").add(sphere("ball", 1.0, 0.1), spring, at=(0, 0, 0.2))
    model = made.contact("skin", "ball", "sphere", radius=0.1).model()
    held = run(model, [0.01], None, 0.05, 0.01, contact=LAWS[law][0])
    assert held.status is SimulationStatus.FINISHED, held.message
    assert np.abs(held.q).max() <= 0.01
    assert abs(held.q[-1, 0]) < 1e-3
