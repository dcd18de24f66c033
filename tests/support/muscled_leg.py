"""A leg with a fixed hip and muscles on straight lines, and a swing of it."""

from dataclasses import replace

import numpy as np

import homodyn as hd
from homodyn.model import Assembly, box, joints
from homodyn.model.muscles import Muscle, PathPoint
from homodyn.motion import MotionSource, motion_from_states

RATE_HZ = 100.0
FRAMES = 60
FREQUENCY_HZ = 0.6
LINES = {
    # muscle: points as (body, position), maximum isometric force, optimal fiber length
    "iliopsoas": ((("world", (0.06, 0, 0.08)), ("thigh", (0.03, 0.01, -0.1))), 1500.0, 0.11),
    "gluteus": ((("world", (-0.09, 0, 0.05)), ("thigh", (-0.03, 0, -0.12))), 1800.0, 0.13),
    "vastus": ((("thigh", (0.05, 0.01, -0.15)), ("shank", (0.05, 0, -0.05))), 2500.0, 0.1),
    "rectus": ((("world", (0.06, 0, 0.02)), ("shank", (0.055, 0, -0.05))), 1000.0, 0.09),
    "hamstring": ((("world", (-0.06, 0, 0.0)), ("shank", (-0.04, 0.01, -0.06))), 1600.0, 0.12),
    "biceps_short": ((("thigh", (-0.03, 0, -0.2)), ("shank", (-0.04, 0, -0.06))), 700.0, 0.14),
}
"""Points in m, forces in N."""


def build(kind="DeGrooteFregly2016Muscle"):
    """The model; tendons are as long as the paths at rest allow."""
    assembly = Assembly("muscled leg")
    return _with_muscles(_with_leg(assembly, "world").model(), kind, "world", [-0.2, 0.4])


def build_hopper(kind="DeGrooteFregly2016Muscle"):
    """The leg below a trunk that moves up and down, with a sphere as its foot."""
    assembly = Assembly("muscled hopper").add(
        box("trunk", 25.0, (0.2, 0.3, 0.5)), joints.prismatic("z"), joint_name="height"
    )
    leg = _with_leg(assembly, "trunk")
    foot = leg.contact("foot", "shank", "sphere", position=(0, 0, -0.4), radius=0.03)
    return _with_muscles(foot.model(), kind, "trunk", [0.0, -0.2, 0.4])


def _with_leg(assembly, pelvis):
    return assembly.add(
        box("thigh", 8.0, (0.1, 0.12, 0.4)),
        joints.revolute("y", lower=-1.5, upper=1),
        pelvis,
        joint_name="hip",
    ).add(
        box("shank", 4.0, (0.1, 0.1, 0.4)),
        joints.revolute("y", lower=0, upper=2.2),
        "thigh",
        at=(0, 0, -0.4),
        joint_name="knee",
    )


def _with_muscles(skeleton, kind, pelvis, rest_pose):
    muscles = []
    for name, (points, force, fiber) in LINES.items():
        placed = [(pelvis if body == "world" else body, at) for body, at in points]
        path = tuple(PathPoint(f"{name}{k}", *point) for k, point in enumerate(placed))
        muscles.append(
            Muscle(name, kind, path, max_isometric_force=force, optimal_fiber_length=fiber)
        )
    loose = replace(skeleton, muscles=tuple(muscles))
    rest = hd.muscle.lengths(loose, np.array(rest_pose))
    fitted = tuple(
        replace(one, tendon_slack_length=float(length) - one.optimal_fiber_length)
        for one, length in zip(muscles, rest, strict=True)
    )
    return replace(skeleton, muscles=fitted)


def swing(model, frames=FRAMES):
    """A motion of hip and knee with exact velocities and accelerations."""
    time = np.arange(frames) / RATE_HZ
    size, center = np.array([0.35, 0.25]), np.array([-0.2, 0.3])
    phase = 2 * np.pi * FREQUENCY_HZ * time[:, None] + np.array([0.0, 1.2])
    speed = 2 * np.pi * FREQUENCY_HZ
    q = center + size * np.sin(phase)
    v, a = size * speed * np.cos(phase), -size * speed**2 * np.sin(phase)
    motion = motion_from_states(model, time, q, v)
    return replace(motion, a=a, source=MotionSource.SYNTHETIC)


def loads(motion):
    """Torques of a motion of the leg, which nothing touches."""
    return hd.capture.inverse_dynamics(motion, cutoff=None)
