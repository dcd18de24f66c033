"""Bodies to constrain: a human-like tree of 34 degrees of freedom, and the contacts of its feet."""

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from homodyn.dynamics import PointContact, RollingSphere
from homodyn.dynamics.contacts import edge_contact, flat_foot
from homodyn.model import Body, ContactShape, Coordinate, Frame, Joint, JointAxis, Marker, Model
from homodyn.spatial import Transform
from support.trees import ALL_KINDS, human_tree, random_state, random_tree

AXES = {"x": np.array([1.0, 0, 0]), "y": np.array([0, 1.0, 0]), "z": np.array([0, 0, 1.0])}


def turning(name, parent, child, axes, at=(0.0, 0.0, 0.0)):
    """A joint that turns about the axes in order, at a place of its parent."""
    return Joint(
        name,
        parent,
        child,
        "revolute" if len(axes) == 1 else "custom",
        tuple(Coordinate(f"{name}_{axis}") for axis in axes),
        tuple(JointAxis("turn", AXES[axis], k) for k, axis in enumerate(axes)),
        placement=Transform(np.eye(3), np.array(at, dtype=float)),
    )


def rod(name, mass, length, along=(0.0, 0.0, -1.0), width=0.08):
    """A body with its mass around the middle of a segment that starts at its origin."""
    direction = np.array(along)
    slender, thick = mass * (length**2 + width**2) / 12, mass * width**2 / 6
    inertia = slender * np.eye(3) - (slender - thick) * np.outer(direction, direction)
    return Body(name, mass, direction * length / 2, inertia)


@cache
def human(root="euler"):
    """Pelvis, trunk, head, arms and legs with one-piece feet: 34 degrees of freedom, 76 kg."""
    slides = ("x", "y", "z")
    if root == "free":
        base = Joint(
            "root", "world", "pelvis", "free", tuple(Coordinate(f"root_{k}") for k in range(6))
        )
    else:
        base = Joint(
            "root",
            "world",
            "pelvis",
            "custom",
            tuple(Coordinate(f"root_{k}") for k in range(6)),
            (
                *[JointAxis("slide", AXES[axis], k) for k, axis in enumerate(slides)],
                *[JointAxis("turn", AXES[axis], k + 3) for k, axis in enumerate("yxz")],
            ),
        )
    up = (0.0, 0.0, 1.0)
    bodies = [
        rod("pelvis", 8.5, 0.15, up, 0.25),
        rod("belly", 12.4, 0.22, up, 0.25),
        rod("chest", 15.0, 0.24, up, 0.28),
        rod("head", 5.3, 0.24, up, 0.16),
    ]
    joints = [
        base,
        turning("lumbar", "pelvis", "belly", "yxz", (0, 0, 0.15)),
        turning("thorax", "belly", "chest", "yxz", (0, 0, 0.22)),
        turning("neck", "chest", "head", "yx", (0, 0, 0.24)),
    ]
    frames, markers, contacts = [], [], []
    for side, sign in (("right", -1.0), ("left", 1.0)):
        foot = Body(f"foot_{side}", 1.04, (0.05, 0.0, -0.05), np.diag([0.0015, 0.0045, 0.005]))
        bodies += [
            rod(f"upper_arm_{side}", 2.06, 0.28),
            rod(f"forearm_{side}", 1.7, 0.42),
            rod(f"thigh_{side}", 10.76, 0.42, width=0.15),
            rod(f"shank_{side}", 3.29, 0.43, width=0.1),
            foot,
        ]
        joints += [
            turning(f"shoulder_{side}", "chest", f"upper_arm_{side}", "yxz", (0, 0.2 * sign, 0.2)),
            turning(f"elbow_{side}", f"upper_arm_{side}", f"forearm_{side}", "y", (0, 0, -0.28)),
            turning(f"hip_{side}", "pelvis", f"thigh_{side}", "yxz", (0, 0.09 * sign, 0)),
            turning(f"knee_{side}", f"thigh_{side}", f"shank_{side}", "y", (0, 0, -0.42)),
            turning(f"ankle_{side}", f"shank_{side}", f"foot_{side}", "yx", (0, 0, -0.43)),
        ]
        hallux, meta5 = (0.17, -0.04 * sign, -0.07), (0.13, 0.05 * sign, -0.07)
        markers += [
            Marker(f"hallux_{side}", f"foot_{side}", np.array(hallux)),
            Marker(f"meta5_{side}", f"foot_{side}", np.array(meta5)),
        ]
        contacts.append(
            ContactShape(
                f"heel_{side}", f"foot_{side}", "sphere", np.array([-0.04, 0.0, 0.0]), radius=0.07
            )
        )
        tilted = np.array([[0.8, 0.0, -0.6], [0.0, 1.0, 0.0], [0.6, 0.0, 0.8]])
        frames.append(
            Frame(f"sole_{side}", f"foot_{side}", Transform(tilted, np.array([0.05, 0.0, -0.07])))
        )
    return Model(
        f"human with {root} root",
        tuple(bodies),
        tuple(joints),
        tuple(frames),
        tuple(markers),
        tuple(contacts),
    )


def corners(side):
    """Four points under a foot, held in all directions: 12 rows, of which 6 are independent."""
    places = [(-0.05, -0.04), (-0.05, 0.04), (0.15, -0.05), (0.15, 0.05)]
    result = PointContact(f"foot_{side}", (*places[0], -0.07))
    for place in places[1:]:
        result = result + PointContact(f"foot_{side}", (*place, -0.07))
    return result


def contact_sets():
    """The contact sets of Felis 2015, section 4.7, by name, and one of 24 rows and rank 12."""
    heel, flat, forefoot = {}, {}, {}
    for side in ("right", "left"):
        heel[side] = RollingSphere(f"heel_{side}")
        medial, lateral = PointContact(f"hallux_{side}"), PointContact(f"meta5_{side}")
        flat[side] = flat_foot(heel[side], medial, lateral)
        forefoot[side] = edge_contact(medial, lateral)
    return {
        "heel": heel["right"],
        "forefoot": forefoot["right"],
        "flat": flat["right"],
        "forefoot and heel": forefoot["right"] + heel["left"],
        "forefoot and flat": forefoot["right"] + flat["left"],
        "corners": corners("right") + corners("left"),
    }


RANKS = {
    "heel": 3,
    "forefoot": 5,
    "flat": 6,
    "forefoot and heel": 8,
    "forefoot and flat": 11,
    "corners": 12,
}


def states(model, count, seed, spread=0.5):
    """Random positions (unit quaternions), velocities and forces."""
    rng = np.random.default_rng(seed)
    q = spread * rng.uniform(-1, 1, (count, model.nq))
    start = 0
    for joint in model.joints:
        if joint.quaternion:
            place = slice(start + joint.nq - 4, start + joint.nq)
            q[:, place] = rng.normal(size=(count, 4))
            q[:, place] /= np.linalg.norm(q[:, place], axis=1, keepdims=True)
        start += joint.nq
    return q, rng.uniform(-1, 1, (count, model.nv)), 20 * rng.uniform(-1, 1, (count, model.nv))


def shifted(model, q, v, dt):
    """Positions after moving at constant body velocities for a short time."""
    result = np.array(q, dtype=float)
    iq = iv = 0
    for joint in model.joints:
        if not joint.quaternion:
            result[..., iq : iq + joint.nq] += v[..., iv : iv + joint.nv] * dt
        else:
            w, xyz = q[..., iq + joint.nq - 4], q[..., iq + joint.nq - 3 : iq + joint.nq]
            vector = v[..., iv + joint.nv - 3 : iv + joint.nv] * dt
            angle = np.linalg.norm(vector, axis=-1)[..., None]
            tip = np.sinc(angle / 2 / np.pi) / 2 * vector
            head = np.cos(angle / 2)[..., 0]
            turned = w * head - np.sum(xyz * tip, axis=-1)
            rest = w[..., None] * tip + head[..., None] * xyz + np.cross(xyz, tip)
            result[..., iq + joint.nq - 4] = turned
            result[..., iq + joint.nq - 3 : iq + joint.nq] = rest
            if joint.kind == "free":
                linear = v[..., iv : iv + 3]
                u = np.cross(xyz, linear) + w[..., None] * linear
                world = linear + 2 * np.cross(xyz, u)
                result[..., iq : iq + 3] += world * dt
        iq, iv = iq + joint.nq, iv + joint.nv
    return result


def rk4(acceleration, q, v, dt, steps, watch=None):
    """States of a model with positions in a vector space, after each step if watched."""
    seen = []
    for _ in range(steps):
        k1 = acceleration(q, v)
        k2 = acceleration(q + dt / 2 * v, v + dt / 2 * k1)
        k3 = acceleration(q + dt / 2 * v + dt**2 / 4 * k1, v + dt / 2 * k2)
        k4 = acceleration(q + dt * v + dt**2 / 2 * k2, v + dt * k3)
        q = q + dt * v + dt**2 / 6 * (k1 + k2 + k3)
        v = v + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        if watch is not None:
            seen.append(watch(q, v))
    return q, v, np.array(seen)


@pytest.fixture(scope="session", params=["euler", "free"])
def person(request):
    """A human-like model with an Euler or a quaternion root."""
    return human(request.param)


@pytest.fixture(scope="session")
def kit():
    """Builders and small numerics that the tests of this folder share."""
    return SimpleNamespace(
        AXES=AXES,
        RANKS=RANKS,
        contact_sets=contact_sets,
        corners=corners,
        human=human,
        shifted=shifted,
        rk4=rk4,
        rod=rod,
        states=states,
        turning=turning,
    )


@pytest.fixture(scope="module", params=["human", "all kinds"])
def model(request):
    """A human-like tree, and a random tree of all joint types."""
    return human_tree() if request.param == "human" else random_tree(7, 15, ALL_KINDS)


@pytest.fixture(scope="module")
def state(model):
    """Four random states of the model: q, v, a."""
    return random_state(model, 3, 4)
