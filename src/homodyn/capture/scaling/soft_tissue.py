"""Soft-tissue artifacts that repeat with the pose, as unknowns of a calibration.

Markers are attached while the person stands. When a joint turns, skin and muscle near it carry the
markers of both its segments along, and they do so in the same way each time (Camomilla et al. 2013,
Bonci et al. 2014 model them as linear functions of joint angles). The displacement of a marker in
the axes of its body is ``A f(q)``, with the angles f of the joints of this body from the neutral
pose. Its coefficients A have a prior of mean zero: the joint zeros follow from the poses in which
the person stands as when the markers were attached, and bent limbs may deviate.
"""

from __future__ import annotations

import numpy as np

from homodyn.model import Model

ARTIFACT_FEATURES = 2
"""Joints of a body whose angles its artifacts depend on: those with the largest range."""


def artifact_features(model: Model, q: np.ndarray) -> np.ndarray:
    """What the artifacts of each marker depend on.

    Args:
        model: The model.
        q: (frames, nq).

    Returns:
        (frames, markers, `ARTIFACT_FEATURES`), rad: the angles of the joints of the body of each
        marker from the neutral pose; zero where a body has fewer joints.
    """
    deviation = model.difference(np.broadcast_to(model.neutral(), q.shape), q)
    angles = np.zeros((len(q), len(model.joints)))
    for k, joint in enumerate(model.joints):
        own = deviation[:, model.joint_slots[k].v]
        if (
            model.parents[k] >= 0
            and own.shape[1]
            and not any(a.kind == "slide" for a in joint.axes if a.is_coordinate)
        ):
            angles[:, k] = own[:, int(np.argmax(np.ptp(own, axis=0)))]
    reach = np.ptp(angles, axis=0)
    features = np.zeros((len(q), len(model.markers), ARTIFACT_FEATURES))
    for m, marker in enumerate(model.markers):
        body = model.body_names.index(marker.body)
        near = [k for k, parent in enumerate(model.parents) if body in (k, parent) and reach[k] > 0]
        near.sort(key=lambda k: -reach[k])
        for column, k in enumerate(near[:ARTIFACT_FEATURES]):
            features[:, m, column] = angles[:, k]
    return features
