"""Motion relative to the belt of a treadmill, as if the person had walked overground.

A belt of constant velocity is a change between inertial frames: positions move with it, while
accelerations, torques and forces stay what they are.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from homodyn.capture.world_frame import world_axes
from homodyn.dynamics import position
from homodyn.errors import CaptureError
from homodyn.gait.ground_kinematics import ground_kinematics
from homodyn.model import Model
from homodyn.motion import Loads, Motion
from homodyn.motion.coordinate_columns import angular_coordinates

MAX_UNREACHED_SHARE = 0.2
"""Largest share of the belt velocity that the root of a planar model cannot follow."""


def belt_velocity(motion: Motion, speed: float | None = None) -> np.ndarray:
    """Velocity of the belt under the stance feet.

    Args:
        motion: A walk.
        speed: Speed of the belt (m/s) where it is known; 0 is still ground. The direction is that
            of the stance feet.

    Returns:
        (3,), m/s in axes with Z up; zero overground.

    Raises:
        CaptureError: The motion is too short or not finite, or ``speed`` contradicts the feet.
    """
    return np.array(ground_kinematics(motion, speed).belt)


def motion_over_ground(motion: Motion, belt: np.ndarray) -> Motion:
    """The motion as seen from the belt.

    Args:
        motion: The motion in the laboratory.
        belt: (3,), m/s in axes with Z up: velocity of the belt.

    Returns:
        The motion; its root moves against the belt.

    Raises:
        CaptureError: The root of the model does not translate along the belt.
    """
    entries, columns, rates = root_translation(motion.model)
    world = world_axes(motion.model).T @ belt
    velocity = np.linalg.lstsq(rates, world, rcond=None)[0]
    unreached = float(np.linalg.norm(rates @ velocity - world))
    if unreached > MAX_UNREACHED_SHARE * np.linalg.norm(world):
        raise CaptureError(
            f"model {motion.model.name!r} has no root translations along the belt: a motion "
            "relative to a belt needs them; use a model such as hd.catalog.heiman"
        )
    q, v = np.array(motion.q), np.array(motion.v)
    q[:, entries] -= np.outer(motion.time - motion.time[0], velocity)
    v[:, columns] -= velocity
    return replace(motion, q=q, v=v)


def loads_over_ground(loads: Loads, motion: Motion, belt: np.ndarray) -> Loads:
    """Loads with the points of their ground forces as seen from the belt.

    Args:
        loads: Loads in the laboratory.
        motion: The motion over the belt (`motion_over_ground`).
        belt: (3,), m/s in axes with Z up: velocity of the belt.

    Returns:
        The loads; forces and torques are the same.
    """
    velocity = world_axes(motion.model).T @ belt
    displacement = np.outer(motion.time - motion.time[0], velocity)
    feet = tuple(replace(foot, point=foot.point - displacement) for foot in loads.feet)
    return replace(loads, motion=motion, feet=feet)


def root_translation(model: Model) -> tuple[list[int], list[int], np.ndarray]:
    """How the root of a model translates.

    Args:
        model: The model.

    Returns:
        Entries of q and of v that translate the root, and its displacement by each (3, entries).
    """
    angular = angular_coordinates(model)
    columns = [k for k in model.root.v if not angular[k] and model.position_index[k] is not None]
    entries = [entry for entry in (model.position_index[k] for k in columns) if entry is not None]
    if model.root.body is None or not entries:
        return [], [], np.zeros((3, 0))
    poses = np.tile(np.asarray(model.neutral(), dtype=float), (1 + len(entries), 1))
    poses[np.arange(1, len(poses)), entries] += 1.0
    places = np.asarray(position(model, poses, model.root.body))
    return entries, columns, (places[1:] - places[0]).T
