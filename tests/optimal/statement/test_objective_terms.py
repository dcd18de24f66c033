"""Each word of the vocabulary says what the functions of mechanics say."""

import casadi as ca
import numpy as np
import pytest

import homodyn as hd
import homodyn.optimal as oc
from homodyn.dynamics import (
    PointContact,
    RollingSphere,
    angular_velocity,
    inverse_dynamics,
    momentum,
    position,
    velocity,
)
from homodyn.dynamics.constraints import row_names
from homodyn.dynamics.contacts import flat_foot
from homodyn.errors import HomodynError
from support.optimal import block, block_move

PERSON = hd.catalog.heiman(height=1.75, mass=70)
FOOT = flat_foot(
    RollingSphere("HeelRight"), PointContact("HalluxRight"), PointContact("Meta5Right")
)
WEIGHT = 70 * 9.81


@pytest.fixture(scope="module")
def state():
    rng = np.random.default_rng(5)
    q = PERSON.neutral() + 0.2 * rng.standard_normal(PERSON.nv)
    v, a, tau = (rng.standard_normal(PERSON.nv) for _ in range(3))
    return {"q": q, "v": v, "a": a, "tau": tau, "force": rng.standard_normal(6)}


def at(value, state):
    """A traced function of an time_point on numbers."""
    symbols = {key: ca.SX.sym(key, len(x)) for key, x in state.items()}
    time_point = oc.TimePoint(
        PERSON, contacts=FOOT, duration=0.7, parameters={"length": ca.SX(0.6)}, **symbols
    )
    function = ca.Function("value", list(symbols.values()), [ca.SX(value(time_point))])
    return np.array(function(*state.values()))[:, 0]


def test_terms_are_the_quantities_they_are_called(state):
    q, v, tau, force = (state[key] for key in ("q", "v", "tau", "force"))
    expected = {
        oc.torque: tau,
        oc.angular_momentum: momentum(PERSON, q, v)[:3],
        oc.head_stabilization: angular_velocity(PERSON, q, v, "Head"),
        oc.time: [0.7],
        oc.acceleration: state["a"],
        oc.contact_force: force / WEIGHT,
        oc.power: np.sqrt((tau * v) ** 2 + 1) - 1,
    }
    for term, value in expected.items():
        np.testing.assert_allclose(at(term().value, state), value, atol=1e-12, err_msg=str(term))
    effort = at(oc.effort_per_distance("length").value, state)
    assert effort[0] == pytest.approx((tau**2).sum() / (0.6 * PERSON.nv))


def test_tracking_compares_what_it_names(state):
    q = state["q"]
    names = ["KneeRight_RY", "Pelvis_TZ"]
    places = [PERSON.coordinate_index(name) for name in names]
    target = np.zeros((2, 2))
    np.testing.assert_allclose(at(oc.track_coordinates(target, names).value, state), q[places])
    markers = at(oc.track_markers(target, ["RKNE", "LTOE"]).value, state)
    expected = np.concatenate([position(PERSON, q, name) for name in ("RKNE", "LTOE")])
    np.testing.assert_allclose(markers, expected, atol=1e-12)
    # Rows of a flat foot: heel x, y, z, then lateral y and z, medial z.
    assert row_names(FOOT)[3:] == ("Meta5Right y", "Meta5Right z", "HalluxRight z")
    f = state["force"]
    whole = [f[0], f[1] + f[3], f[2] + f[4] + f[5]]
    for frames in ((), ("FootRight",), ("HeelRight", "HalluxRight", "Meta5Right")):
        np.testing.assert_allclose(at(oc.track_force(target, *frames).value, state), whole)
    np.testing.assert_allclose(at(oc.track_force(target, "FootLeft").value, state), 0)


def test_conditions_are_the_quantities_they_are_called(state):
    q, v, f = state["q"], state["v"], state["force"]
    heel = position(PERSON, q, "HeelRight")[2] - next(
        c.radius for c in PERSON.contacts if c.name == "HeelRight"
    )
    toe = position(PERSON, q, "HalluxLeft")
    pairs = [
        (oc.height("HeelRight", "HalluxLeft"), [heel, toe[2]]),
        (oc.velocity("RKNE", "xz"), velocity(PERSON, q, v, "RKNE")[[0, 2]]),
        (oc.unilateral("HeelRight", "Meta5Right"), [f[2], f[4]]),
        (oc.rest(), v),
        (
            oc.step_length("HalluxRight", "HalluxLeft", "length"),
            [position(PERSON, q, "HalluxRight")[0] - toe[0] - 0.6],
        ),
        (oc.friction_cone(0.5, "HeelRight"), [0.5 * f[2] - np.hypot(f[0], f[1])]),
    ]
    for condition, expected in pairs:
        value = at(condition.value, state)
        np.testing.assert_allclose(value, expected, atol=2e-3, err_msg=condition.name)


def test_the_equations_of_motion_are_those_of_inverse_dynamics(state):
    q, v, a = state["q"], state["v"], state["a"]
    free = {**state, "force": np.zeros(6)}
    expected = inverse_dynamics(PERSON, q, v, a) - state["tau"]
    passive = hd.dynamics.passive_force(PERSON, q, v)
    np.testing.assert_allclose(
        at(lambda i: i.dynamics_residual, free), expected - passive, atol=1e-9
    )


def test_periodicity_compares_with_the_mirror_image(state):
    link = oc.periodic(mirrored=True, forward="Pelvis_TX", speed=1.5)
    image = hd.catalog.mirror_map(PERSON)
    q, v = state["q"], state["v"]
    first = oc.TimePoint(PERSON, ca.SX(q), ca.SX(v), ca.SX(v), ca.SX(v), ca.SX(0, 1))
    ahead = image.position(q)
    ahead[PERSON.coordinate_index("Pelvis_TX")] = q[0] + 0.5 * 1.5
    back = image.velocity(v)
    last = oc.TimePoint(PERSON, ca.SX(ahead), ca.SX(back), ca.SX(v), ca.SX(v), ca.SX(0, 1))
    value = np.array(ca.evalf(link.value(first, last, 0.5)))[:, 0]
    np.testing.assert_allclose(value, 0, atol=1e-12)
    assert len(value) == len(link.labels(PERSON)) == 68


def test_a_periodic_movement_ends_as_it_began():
    swing = oc.ObjectiveTerm("swing", lambda i: i.q - ca.sin(2 * ca.pi * i.elapsed), weight=100.0)
    phase = oc.Phase("sway", 1.0, terms=[swing, 1e-3 * oc.torque()], intervals=12)
    solution = oc.Problem(block(), [phase], boundary_constraints=[oc.periodic()]).solve()
    sway = solution.phase("sway")
    assert solution.status is oc.SolveStatus.SOLVED
    assert sway.q[0, 0] == pytest.approx(sway.q[-1, 0], abs=1e-6)
    assert sway.v[0, 0] == pytest.approx(sway.v[-1, 0], abs=1e-6)
    assert np.ptp(sway.q) > 1.0


def test_a_phase_can_begin_with_the_mirror_image_of_the_last():
    person = hd.catalog.heiman(height=1.75, mass=70, joints={"Pelvis": "TX TZ RY"})
    free = dict.fromkeys(person.coordinate_names, (-np.inf, np.inf))
    image = hd.catalog.mirror_map(person)
    first = oc.Phase(
        "first",
        0.1,
        terms=[1e-2 * oc.acceleration()],
        intervals=2,
        bounds={"q": free},
        start={"q": {"KneeRight_RY": 0.5, "KneeLeft_RY": 0.1}},
        transition="mirror",
    )
    second = oc.Phase("second", 0.1, terms=first.terms, intervals=2, bounds={"q": free})
    solution = oc.Problem(person, [first, second]).solve(defect_tolerance=None)
    one, two = solution.phases
    assert solution.status.success
    np.testing.assert_allclose(two.q[0], image.position(one.q[-1]), atol=1e-6)
    np.testing.assert_allclose(two.v[0], image.velocity(one.v[-1]), atol=1e-6)
    assert np.abs(two.q[0] - one.q[-1]).max() > 0.1


def test_clinical_names_have_the_sign_that_they_state(state):
    own = at(lambda i: i.coordinate("HipRight_RY"), state)
    clinical = at(lambda i: i.coordinate("right hip flexion"), state)
    np.testing.assert_array_equal(np.asarray(clinical), -np.asarray(own))
    knee = at(lambda i: i.coordinate("knee_angle_r"), state)
    np.testing.assert_array_equal(
        np.asarray(knee), np.asarray(at(lambda i: i.coordinate("KneeRight_RY"), state))
    )
    by_own = at(oc.torque({"KneeRight_RY": 4.0}).value, state)
    by_clinical = at(oc.torque({"right knee flexion": 4.0}).value, state)
    np.testing.assert_array_equal(np.asarray(by_clinical), np.asarray(by_own))


def test_an_attribute_that_does_not_exist_is_reported_with_the_term():
    term = oc.ObjectiveTerm("pace", lambda i: i.velocty)
    with pytest.raises(hd.errors.KernelError, match=r"'pace'.*'velocty'.*'velocity'"):
        block_move(terms=[term]).transcribe()


def test_a_friction_pyramid_lies_inside_the_cone_and_touches_it(state):
    cone, pyramid = oc.friction_cone(0.5, "HeelRight"), oc.friction_pyramid(0.5, "HeelRight")

    def margins(constraint, angle, ratio):
        force = np.zeros(6)
        force[:3] = [100 * ratio * np.cos(angle), 100 * ratio * np.sin(angle), 100.0]
        return at(constraint.value, {**state, "force": force})

    edge, between = 0.0, np.pi / 16
    assert len(margins(pyramid, edge, 0.5)) == 16
    for angle in (edge, between, 1.0, 4.0):
        assert margins(cone, angle, 0.51).min() < 0
        assert margins(pyramid, angle, 0.51).min() < 0
        assert margins(pyramid, angle, 0.49 * np.cos(between)).min() > 0
    assert abs(margins(pyramid, edge, 0.5).min()) < 1e-9
    # Between two edges the pyramid has 2 % less friction than the cone.
    assert margins(pyramid, between, 0.495).min() < 0 < margins(cone, between, 0.495).min()
    # Derivatives exist at the tip, where a foot is unloaded.
    assert np.isfinite(margins(pyramid, edge, 0.0)).all()


@pytest.mark.parametrize(
    ("friction", "facets", "message"), [(0.5, 3, "even number"), (0.5, 5, "even"), (-1, 8, "0 or")]
)
def test_wrong_friction_pyramids_are_refused(friction, facets, message):
    with pytest.raises(HomodynError, match=message):
        oc.friction_pyramid(friction, "HeelRight", facets=facets)
