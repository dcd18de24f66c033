"""A joint with several degrees of freedom against a chain of massless bodies with one each."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from homodyn import dynamics as hd
from homodyn.model import Assembly, Body, Joint, Model, box, joints
from homodyn.model.configuration import integrate
from homodyn.model.functions import Polynomial
from support.trees import random_placement, random_state

EULER_ORDERS = ["".join(o) for o in product("xyz", repeat=3) if o[0] != o[1] != o[2]]

KINDS = {
    **{f"euler {order}": joints.euler(order) for order in EULER_ORDERS},
    "universal": joints.universal("y", (1.0, 0.0, 2.0)),
    "cylindrical": joints.cylindrical((0.0, 1.0, 1.0)),
    "planar": joints.planar("y"),
    "oblique planar": joints.planar((1.0, 2.0, 3.0)),
    "translation": joints.translation(),
    "euler_free": joints.euler_free("zyx"),
    "custom": joints.custom(
        joints.turn("z", 0, Polynomial((0.1, 1.0, 0.2))),
        joints.slide("x", 1, Polynomial((0.0, 0.5, -0.3, 0.1))),
        joints.turn((1.0, 1.0, 0.0), 2),
    ),
}


def carrying(middle: joints.JointType) -> Model:
    """A joint between two hinges, at odd places."""
    rng = np.random.default_rng(3)
    places = [random_placement(rng) for _ in range(4)]
    solid = {"size": (0.2, 0.3, 0.4), "com": (0.05, 0.02, 0.1)}
    return (
        Assembly("joint")
        .add(box("before", 2.0, **solid), joints.revolute("x"), at=places[0])
        .add(box("carried", 1.5, **solid), middle, "before", at=places[1], child_at=places[2])
        .add(box("after", 1.0, **solid), joints.revolute("z"), "carried", at=places[3])
        .model()
    )


def chained(model: Model) -> Model:
    """The same with each motion of the middle joint on a body of its own."""
    middle = model.joint("carried")
    last = len(middle.axes) - 1
    bodies, links = [], []
    for k, motion in enumerate(middle.axes):
        coordinate = middle.coordinates[motion.coordinate]
        child = "carried" if k == last else f"link{k}"
        parent = middle.parent if k == 0 else f"link{k - 1}"
        link = Joint(
            f"chain{k}", parent, child, "custom", (coordinate,), (replace(motion, coordinate=0),)
        )
        if k == 0:
            link = replace(link, placement=middle.placement)
        if k == last:
            link = replace(link, child_placement=middle.child_placement)
        else:
            bodies.append(Body(child))
        links.append(link)
    first, _, after = model.joints
    return replace(
        model, bodies=(*model.bodies, *bodies), joints=(first, *links, after), name="chain"
    )


@pytest.mark.parametrize("kind", KINDS)
def test_joint_moves_like_a_chain_of_massless_bodies(kind):
    whole = carrying(KINDS[kind])
    chain = chained(whole)
    assert chain.coordinate_names == whole.coordinate_names
    q, v, a = random_state(whole, 8, 2)
    point = np.array([0.1, 0.2, 0.3])
    for law, arguments in (
        (hd.mass_matrix, (q,)),
        (hd.bias_force, (q, v)),
        (hd.jacobian, (q, "after", point)),
        (hd.angular_jacobian, (q, "after")),
        (hd.acceleration, (q, v, a, "after", point)),
    ):
        ours, theirs = law(whole, *arguments), law(chain, *arguments)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12 * max(1, np.abs(ours).max()))
    np.testing.assert_allclose(
        hd.forward_dynamics(whole, q, v, a), hd.forward_dynamics(chain, q, v, a), rtol=1e-8
    )


def test_a_screw_is_a_turn_and_a_slide_tied_together():
    mass, pitch, inertia = 2.0, 0.3, (0.3, 0.2, 0.4)
    model = (
        Assembly("screw")
        .add("nut", joints.helical("z", pitch), mass=mass, com=(0, 0, 0.1), inertia=inertia)
        .model()
    )
    q, v = np.array([0.7]), np.array([1.5])
    expected = inertia[2] + mass * pitch**2
    np.testing.assert_allclose(hd.mass_matrix(model, q), [[expected]], rtol=1e-14)
    np.testing.assert_allclose(hd.bias_force(model, q, v), [mass * 9.81 * pitch], rtol=1e-14)
    np.testing.assert_allclose(hd.velocity(model, q, v, "nut"), [0, 0, pitch * 1.5], atol=1e-15)


def test_a_ball_turns_like_euler_angles_do():
    """Quaternion and Euler joint: same accelerations of the body under the same wrench."""
    ball, angles = carrying(joints.spherical()), carrying(joints.euler("zyx"))
    q, v, _ = random_state(ball, 4)
    wrench = {"carried": np.array([1.0, 2.0, -3.0, 4.0, 5.0, 6.0])}
    turn = hd.orientation(ball, q, "carried")
    here = angles_of(angles, q, turn)
    relative = hd.angular_velocity(ball, q, v, "carried") - hd.angular_velocity(
        ball, q, v, "before"
    )
    rates = np.linalg.solve(hd.angular_jacobian(angles, here, "carried")[:, 1:4], relative)
    moving = np.concatenate([v[:1], rates, v[4:]])
    # Only the hinges are driven, so that no torque has to be translated.
    tau = np.array([1.0, 0.0, 0.0, 0.0, -2.0])
    accelerations = [
        hd.acceleration(m, x, y, hd.forward_dynamics(m, x, y, tau, wrench), "after")
        for m, x, y in ((ball, q, v), (angles, here, moving))
    ]
    np.testing.assert_allclose(*accelerations, rtol=1e-9)


def angles_of(model: Model, q: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """Coordinates of the Euler model for an orientation of the child, by Newton's method."""
    here = np.concatenate([q[:1], [0.3, 0.2, 0.1], q[-1:]])
    for _ in range(50):
        error = turn @ hd.orientation(model, here, "carried").T
        axis = (
            np.array(
                [error[2, 1] - error[1, 2], error[0, 2] - error[2, 0], error[1, 0] - error[0, 1]]
            )
            / 2
        )
        step = np.linalg.solve(hd.angular_jacobian(model, here, "carried")[:, 1:4], axis)
        here = integrate(model, here, np.concatenate([[0.0], step, [0.0]]))
    np.testing.assert_allclose(hd.orientation(model, here, "carried"), turn, atol=1e-12)
    return here
