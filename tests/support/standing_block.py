"""A small body with markers: a block that stands on the ground, with an arm on it."""

import numpy as np

import homodyn as hd
from homodyn.capture import Trial
from homodyn.model import Assembly, box, joints, rod

RATE = 60.0
ARM_MASS, ARM_LENGTH = 2.0, 0.5


def standing_block(gravity=(0.0, 0.0, -9.81)):
    """A free block of 10 kg on its corners, with an arm that is a rod of 2 kg and 0.5 m."""
    half = 0.2
    assembly = (
        Assembly("block")
        .add(box("block", 10.0, (2 * half, 2 * half, 0.2)), joints.free(), joint_name="root")
        .add(
            rod("arm", ARM_MASS, (0, 0, 0), (ARM_LENGTH, 0, 0)),
            joints.revolute("y", names=["shoulder"]),
            "block",
            at=(0, 0, 0.2),
        )
        .contact("sole", "block", "box", size=(2 * half, 2 * half, 0.2))
    )
    corners = [(x, y, z) for x in (-half, half) for y in (-half, half) for z in (-0.1, 0.1)]
    for k, corner in enumerate(corners):
        assembly = assembly.marker(f"B{k}", "block", corner)
    for k, place in enumerate([(ARM_LENGTH, 0, 0), (0.3, 0.05, 0), (0.2, -0.05, 0.02)]):
        assembly = assembly.marker(f"A{k}", "arm", place)
    return assembly.model(gravity=gravity)


def standing_pose(model):
    """The block on the ground with its arm 30 degrees above the horizontal."""
    q = model.neutral()
    q[2] = 0.1
    q[-1] = -np.radians(30)
    return q


def trial_of(model, poses, name="synthetic"):
    """A recording of all markers of a model in these poses, at 60 Hz."""
    positions = np.asarray(hd.dynamics.marker_positions(model, poses))
    return Trial(name, tuple(marker.name for marker in model.markers), positions, RATE)
