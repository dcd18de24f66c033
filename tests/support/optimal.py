"""Small models and problems of optimal control with answers that are known or can be compared."""

import numpy as np

import homodyn.optimal as oc
from homodyn.dynamics import PointContact
from homodyn.model import Assembly, Body, joints
from homodyn.model.body import rod


def block():
    """One kilogram that slides along x."""
    body = Body("box", 1.0, (0, 0, 0), 0.1 * np.eye(3))
    return Assembly("block").add(body, joints.prismatic("x")).model()


def block_move(intervals=20, duration=1.0, **fields):
    """From rest to rest over one meter with the least integral of squared force: 12 N2 s."""
    phase = oc.Phase(
        "move",
        duration,
        terms=[oc.torque(), *fields.pop("terms", [])],
        intervals=intervals,
        start={"q": {"box": 0.0}, "v": {"box": 0.0}},
        end={"q": {"box": 1.0}, "v": {"box": 0.0}},
        **fields,
    )
    return oc.Problem(block(), [phase])


def pendulum():
    """A rod of 1 kg and 1 m that hangs from a driven hinge."""
    hinge = joints.revolute("y")
    return Assembly("pendulum").add(rod("bar", 1.0, (0, 0, 0), (0, 0, -1)), hinge).model()


def swing_up(intervals=40):
    """From hanging to standing in two seconds."""
    phase = oc.Phase(
        "swing",
        2.0,
        terms=[oc.torque()],
        intervals=intervals,
        start={"q": {"bar": 0.0}, "v": {"bar": 0.0}},
        end={"q": {"bar": np.pi}, "v": {"bar": 0.0}},
        guess={"q": np.array([[0.0], [np.pi]])},
    )
    return oc.Problem(pendulum(), [phase])


def hopper():
    """A trunk of 20 kg on a leg of two segments, in the plane x, z; its foot is a point."""
    return (
        Assembly("hopper")
        .add(Body("trunk", 20.0, (0, 0, 0.2), 0.5 * np.eye(3)), joints.planar("y"))
        .add(rod("thigh", 4.0, (0, 0, 0), (0, 0, -0.4)), joints.revolute("y"), "trunk")
        .add(
            rod("shank", 2.0, (0, 0, 0), (0, 0, -0.4)),
            joints.revolute("y"),
            "thigh",
            at=(0, 0, -0.4),
        )
        .contact("toe", "shank", "point", position=(0, 0, -0.4))
        .model()
    )


def crouched(model, bend=0.8):
    """The hopper at rest with its toe below its hip and on the ground."""
    x, z, pitch, hip, knee = model.coordinate_names
    return {x: 0.0, z: 0.8 * np.cos(bend), pitch: 0.0, hip: -bend, knee: 2 * bend}


def jump(intervals=10, friction=0.8, strength=150.0):
    """Stand on the toe, push off, and be as high as possible at the top of the flight."""
    model = hopper()
    pose = crouched(model)
    _, _, pitch, hip, knee = model.coordinate_names
    limits = {
        "tau": (-strength, strength),
        "v": (-12.0, 12.0),
        "q": {pitch: (-0.5, 0.5), hip: (-1.6, 0.5), knee: (0.1, 2.4)},
    }
    push = oc.Phase(
        "push",
        (0.2, 0.4),
        PointContact("toe", directions="xz"),
        terms=[1e-4 * oc.torque()],
        constraints=[oc.unilateral("toe"), oc.friction_cone(friction, "toe")],
        intervals=intervals,
        bounds=limits,
        start={"q": pose, "v": dict.fromkeys(pose, 0.0)},
        guess={
            "q": np.array([list(pose.values())]),
            "force": {"toe z": 26 * 9.81},
            "duration": 0.3,
        },
    )
    fly = oc.Phase(
        "fly",
        (0.05, 0.6),
        terms=[
            1e-4 * oc.torque(),
            oc.ObjectiveTerm(
                "height", lambda i: -i.position("trunk")[2], squared=False, when="end"
            ),
        ],
        constraints=[oc.height("toe").at("end")],
        intervals=intervals,
        bounds=limits,
        guess={"q": np.array([list(pose.values())]), "duration": 0.2},
    )
    return oc.Problem(model, [push, fly])


def landing():
    """The hopper falls onto its toe, with an impact, and stands."""
    model = hopper()
    x, z, pitch, hip, knee = model.coordinate_names
    pose = crouched(model)
    fall = oc.Phase(
        "fall",
        (0.05, 0.5),
        start={"q": {**pose, z: pose[z] + 0.1}, "v": {x: 0.3, z: -0.1, pitch: 0, hip: 0, knee: 0}},
        end={"q": {pitch: (-3, 3)}},
        bounds={"tau": 0.0},
        guess={"q": np.array([list(pose.values())]), "duration": 0.13},
        transition="impact",
        intervals=5,
    )
    toe = PointContact("toe", directions="xz")
    stand = oc.Phase("stand", 0.1, toe, terms=[oc.torque()], intervals=4)
    return oc.Problem(model, [fall, stand])
