"""A person who sways on two plates, with forces that explain the motion exactly."""

from dataclasses import replace

import numpy as np

from homodyn.capture.kinematics import world_axes
from homodyn.capture.kinetics import find_feet
from homodyn.capture.kinetics.newton_euler import newton_euler_loads
from homodyn.capture.kinetics.plate_sampling import center_of_pressure
from homodyn.motion import (
    ForcePlate,
    Motion,
)


def sway(model, *, seconds=2.0, rate=200.0, size=0.008, seed=3) -> Motion:
    """Coordinates that are sums of sines, with their exact rates; quaternions by their formula."""
    rng = np.random.default_rng(seed)
    time = np.arange(int(seconds * rate) + 1) / rate
    amplitude = size * rng.normal(size=(2, model.nv))
    phase = rng.uniform(0, 2 * np.pi, size=(2, model.nv))
    pulse = 2 * np.pi * np.array([0.6, 1.1])
    angle = pulse[:, None, None] * time[:, None] + phase[:, None]
    x = (amplitude[:, None] * np.sin(angle)).sum(0)
    v = (amplitude[:, None] * pulse[:, None, None] * np.cos(angle)).sum(0)
    a = -(amplitude[:, None] * pulse[:, None, None] ** 2 * np.sin(angle)).sum(0)
    assert not any(joint.quaternion for joint in model.joints)
    return Motion(model, time, model.neutral() + x, v, a)


def plates_for(motion: Motion, *, share=None, height=0.0) -> tuple[ForcePlate, ForcePlate]:
    """Two plates that together do what the motion needs, in our axes, Z up.

    ``share`` (frames,) is the part of the left foot; each foot's force acts near its own sole and
    the moments that remain are free moments of both.
    """
    model, turn = motion.model, world_axes(motion.model)
    needed = newton_euler_loads(motion, ())
    up = turn[2]
    force = needed.residual_force
    moment = needed.residual_moment + np.cross(needed.center_of_mass, force)
    point, free = center_of_pressure(force, moment, up, height)
    share = np.full(len(force), 0.5) if share is None else share
    feet = sorted(find_feet(model), key=lambda foot: foot.side)
    middles = [foot.positions(model, motion.q).mean(1) for foot in feet]
    middles = [middle + (height - middle @ up)[:, None] * up for middle in middles]
    between = share[:, None] * middles[0] + (1 - share)[:, None] * middles[1]
    plates = []
    for foot, part, middle in zip(feet, (share, 1 - share), middles, strict=True):
        place = middle + point - between
        plates.append(
            ForcePlate(
                foot.side,
                motion.rate,
                (part[:, None] * force) @ turn.T,
                place @ turn.T,
                (part[:, None] * free) @ turn.T,
                start=motion.time[0],
            )
        )
    return tuple(plates)


def hidden(motion: Motion) -> Motion:
    """The same motion without what a recording does not know."""
    return replace(motion, v=np.zeros_like(motion.v), a=np.zeros_like(motion.a))
