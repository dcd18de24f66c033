"""Simple bodies that touch the ground, and ways to drop, throw and slide them."""

import numpy as np

from homodyn.model import Assembly, Body, joints
from homodyn.simulate.setup import SimulationSetup
from homodyn.simulate.step_kernel import step_kernel


def ball(radius=0.1, mass=2.0):
    inertia = 0.4 * mass * radius**2
    body = Body("ball", mass, [0, 0, 0], [inertia] * 3)
    made = Assembly("ball").add(body, joints.free(), joint_name="root")
    return made.contact("ball_skin", "ball", kind="sphere", radius=radius).model()


def solid_box(name, half, mass):
    x, y, z = half
    third = mass / 3
    return Body(
        name, mass, [0, 0, 0], [third * (y**2 + z**2), third * (x**2 + z**2), third * (x**2 + y**2)]
    )


def box(half=(0.2, 0.15, 0.1), mass=3.0):
    made = Assembly("box").add(solid_box("box", half, mass), joints.free(), joint_name="root")
    return made.contact("box_skin", "box", kind="box", size=list(half)).model()


def coin(radius=0.1, mass=0.5, points=6):
    """A flat ring of points with the inertia of a disc."""
    spin = mass * radius**2 / 2
    made = Assembly("coin").add(
        Body("coin", mass, [0, 0, 0], [spin / 2, spin / 2, spin]), joints.free(), joint_name="root"
    )
    for k in range(points):
        angle = 2 * np.pi * k / points
        at = [radius * np.cos(angle), radius * np.sin(angle), 0.0]
        made = made.contact(f"rim_{k}", "coin", position=at)
    return made.model()


def stack_of_boxes(mass=2.0):
    made = Assembly("stack")
    for name, half in (("low", (0.2, 0.2, 0.1)), ("high", (0.15, 0.15, 0.1))):
        made = made.add(solid_box(name, half, mass), joints.free(), joint_name=f"{name}_root")
        made = made.contact(f"{name}_skin", name, kind="box", size=list(half))
    return made.model()


def tilted(angle):
    """Normal of a plane that rises along x by that angle."""
    return np.array([-np.sin(angle), 0.0, np.cos(angle)])


def resting_on(angle, height):
    """Free-joint position of a thing whose centre is ``height`` above a tilted plane."""
    turn = [np.cos(angle / 2), 0.0, -np.sin(angle / 2), 0.0]
    return np.concatenate([height * tilted(angle), turn])


def stepped(scene, law, q, v, *, dt, steps, actuation=(), record=("forces", "residual")):
    """A run of a stepping law as a plain loop: states and what was recorded, step by step."""
    kernel = step_kernel(SimulationSetup(scene.model, scene, law, tuple(actuation)), record)
    sizes = {port.name: port.shape for port in kernel.inputs}
    state = {name: np.zeros(shape) for name, shape in sizes.items()}
    state |= {"q": np.array(q, float), "v": np.array(v, float), "dt": dt}
    kept = {name: [] for name in ("q", "v", *record)}
    for _ in range(steps):
        done = kernel(**state)
        state |= {name: done[name] for name in ("q", "v", "z", "t", "work", "status")}
        for name in ("q", "v"):
            kept[name].append(done[name])
        for name in record:
            kept[name].append(done[f"{name}_now"])
    return {name: np.array(values) for name, values in kept.items()}
