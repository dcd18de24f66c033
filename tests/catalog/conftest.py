"""Where the parts of a body are, by plain numbers: tracing a kernel for each point takes long."""

import numpy as np
import pytest

from homodyn.model.coordinate_layout import joint_positions
from homodyn.spatial import Transform


def _placements(model, q):
    created = []
    positions = joint_positions(model.joint_slots, np.asarray(q))
    for joint, place, parent in zip(model.joints, positions, model.parents, strict=True):
        carrier = created[parent] if parent >= 0 else Transform.identity()
        shifted = joint.transform(place) @ joint.placement @ carrier
        created.append(joint.child_placement.inverse() @ shifted)
    return created


def _place(model, q, name):
    """World position (m) of a body, frame, marker or contact, or of the center of mass."""
    created = _placements(model, q)
    if name == "center_of_mass":
        weighted = [
            b.mass * X.point_back(b.com) for b, X in zip(model.bodies, created, strict=True)
        ]
        return np.sum(weighted, axis=0) / model.mass
    body, placement = model.locate(name)
    return created[body].point_back(placement.r)


@pytest.fixture(scope="session")
def place():
    return _place


@pytest.fixture(scope="session")
def placements():
    return lambda model, q: dict(zip(model.body_names, _placements(model, q), strict=True))
