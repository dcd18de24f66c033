"""Simple rigid bodies with contacts, poses on slopes, and a loop over single steps."""

import numpy as np

from homodyn.model import Assembly, Body, joints
from homodyn.motion import PlaneObstacle
from homodyn.simulate.setup import SimulationSetup
from homodyn.simulate.step_kernel import step_kernel


def ball(radius=0.1, mass=2.0):
    inertia = 0.4 * mass * radius**2
    body = Body("ball", mass, [0, 0, 0], [inertia] * 3)
    assembly = Assembly("ball").add(body, joints.free(), joint_name="root")
    return assembly.contact("ball_skin", "ball", kind="sphere", radius=radius).model()


def solid_box(name, half, mass):
    x, y, z = half
    third = mass / 3
    return Body(
        name, mass, [0, 0, 0], [third * (y**2 + z**2), third * (x**2 + z**2), third * (x**2 + y**2)]
    )


def box(half=(0.2, 0.15, 0.1), mass=3.0):
    assembly = Assembly("box").add(solid_box("box", half, mass), joints.free(), joint_name="root")
    return assembly.contact("box_skin", "box", kind="box", size=[2 * h for h in half]).model()


def coin(radius=0.1, mass=0.5, points=6):
    """A flat ring of points with the inertia of a disc."""
    spin = mass * radius**2 / 2
    assembly = Assembly("coin").add(
        Body("coin", mass, [0, 0, 0], [spin / 2, spin / 2, spin]), joints.free(), joint_name="root"
    )
    for k in range(points):
        angle = 2 * np.pi * k / points
        position = [radius * np.cos(angle), radius * np.sin(angle), 0.0]
        assembly = assembly.contact(f"rim_{k}", "coin", position=position)
    return assembly.model()


def stack_of_boxes(mass=2.0):
    assembly = Assembly("stack")
    for name, half in (("low", (0.2, 0.2, 0.1)), ("high", (0.15, 0.15, 0.1))):
        assembly = assembly.add(
            solid_box(name, half, mass), joints.free(), joint_name=f"{name}_root"
        )
        assembly = assembly.contact(f"{name}_skin", name, kind="box", size=[2 * h for h in half])
    return assembly.model()


def slope(angle):
    """A plane through the origin that rises along x by an angle (rad)."""
    return PlaneObstacle(slope_normal(angle))


def slope_normal(angle):
    """Normal of a plane that rises along x by an angle (rad)."""
    return np.array([-np.sin(angle), 0.0, np.cos(angle)])


def pose_on_slope(angle, height):
    """Free-joint position of a body whose center is ``height`` (m) above a slope."""
    quaternion = [np.cos(angle / 2), 0.0, -np.sin(angle / 2), 0.0]
    return np.concatenate([height * slope_normal(angle), quaternion])


def run_steps(geometry, law, q, v, *, dt, steps, actuation=(), record=("forces", "residual")):
    """States and recorded quantities after each step of a law, in a plain loop."""
    kernel = step_kernel(SimulationSetup(geometry.model, geometry, law, tuple(actuation)), record)
    sizes = {port.name: port.shape for port in kernel.inputs}
    state = {name: np.zeros(shape) for name, shape in sizes.items()}
    state |= {"q": np.array(q, float), "v": np.array(v, float), "dt": dt}
    records = {name: [] for name in ("q", "v", *record)}
    for _ in range(steps):
        result = kernel(**state)
        state |= {name: result[name] for name in ("q", "v", "z", "t", "work", "status")}
        for name in ("q", "v"):
            records[name].append(result[name])
        for name in record:
            records[name].append(result[f"{name}_now"])
    return {name: np.array(values) for name, values in records.items()}
