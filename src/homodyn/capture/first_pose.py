"""Poses to begin with: the neutral one, turned and moved to where the markers are."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from homodyn.capture.adjustment import posed
from homodyn.capture.marker_model import MarkerModel, Person
from homodyn.model import Model

STEPS = 8
"""Turns tried about each axis of the root: every 45 degrees."""


def first_poses(markers: MarkerModel, person: Person, measured: np.ndarray) -> np.ndarray:
    """Poses (frames, nq) fitted to every frame by itself, from nothing but the markers.

    Of turns of the root on a grid the one is taken whose cloud of markers is nearest to the
    measured one; then the root is fitted, then all joints.
    """
    model = markers.model
    starts = _turned(model)
    clouds = markers.positions(starts, person)
    q = np.empty((len(measured), model.nq))
    for frame, cloud in enumerate(measured):
        seen = np.isfinite(cloud).all(-1)
        apart = [np.inf if seen.sum() < 3 else _apart(c[seen], cloud[seen]) for c in clouds]
        q[frame] = starts[int(np.argmin(apart))]
    root = np.arange(model.nv) < model.joints[0].nv
    q = posed(markers, person, measured, q, active=root, iterations=15)
    return posed(markers, person, measured, q, iterations=40)


@lru_cache(maxsize=16)
def _turned(model: Model) -> np.ndarray:
    """The neutral pose with the root turned by steps about each of its axes in turn."""
    root = model.joints[0]
    if root.quaternion:
        names = [c.name for c in root.coordinates[-3:]]
    else:
        turns = {m.coordinate for m in root.motions if m.kind == "turn"}
        names = [c.name for k, c in enumerate(root.coordinates) if k in turns]
    defaults = {c.name: float(c.default) for c in root.coordinates}
    poses = [model.neutral()]
    for name in names:
        if name in model.coordinate_names:
            for k in range(1, STEPS):
                poses.append(model.pose({name: defaults[name] + 2 * np.pi * k / STEPS}))
    return np.array(poses)


def _apart(cloud: np.ndarray, measured: np.ndarray) -> float:
    """How far two clouds are apart once one is moved, but not turned, onto the other."""
    return float((((cloud - cloud.mean(0)) - (measured - measured.mean(0))) ** 2).sum())
