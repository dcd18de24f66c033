"""Distances between marker pairs, and which of them measure the length of a body along an axis.

At a given pose the distance d of two markers changes with the scale of every body between them. The
shares d(log d)/d(log scale) sum to one; a pair measures one axis of a body when most of the share
belongs to this axis and little depends on the pose.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from homodyn.capture.scaling.bundle_adjustment import PersonParameters
from homodyn.capture.scaling.marker_model import MarkerModel
from homodyn.capture.scaling.options import BodyPairs, MarkerPair
from homodyn.errors import CaptureError
from homodyn.foundation.text import unknown_name

MARKER_PLACEMENT_SD_M = 0.01
"""Standard deviation of a marker from its position on the model (m)."""
POSE_SD_RAD = 0.05
"""Standard deviation of the joint angles while the sizes are not known (rad)."""
MIN_PAIR_DISTANCE_M = 0.04
"""Shorter distances (m) depend more on marker placement than on size."""
MAX_PAIRS_PER_AXIS = 3
"""Pairs kept for each axis of each body."""
MIN_AXIS_SHARE = 0.5
"""Smallest share of an axis in the distance of a pair that measures it."""
NAMED_PAIR_SD = 1e-6
"""Standard deviation of a factor that the user determines by named pairs."""


@dataclass(frozen=True, eq=False)
class LengthRatio:
    """One observed length ratio: a linear equation for the unknown log scales."""

    label: str
    shares: np.ndarray
    """(logarithms,)."""
    ratio: float
    """Logarithm of measured over model length, for the present sizes of the model."""
    sd: float
    """Standard deviation of ``ratio``."""
    axes: tuple[tuple[int, int], ...]
    """Bodies and axes that the pair was chosen for."""


def informative_pairs(
    markers: MarkerModel,
    unknowns: PersonParameters,
    phi: np.ndarray,
    q: np.ndarray,
    measured: np.ndarray,
) -> list[LengthRatio]:
    """The most informative pairs for each axis of each body, at one pose."""
    person = unknowns.person(phi)
    nv = markers.model.nv
    positions = markers.positions(q, person)
    J = markers.jacobian(q, person).reshape(len(positions), 3, -1)
    by_pose = J[..., :nv]
    by_scale = J[..., nv : nv + 3 * markers.bodies] * person.scales.ravel()
    one, two = np.triu_indices(len(positions), 1)
    line = positions[one] - positions[two]
    length = np.linalg.norm(line, axis=-1)
    seen = np.isfinite(measured[one] - measured[two]).all(-1) & (length > MIN_PAIR_DISTANCE_M)
    one, two, line, length = one[seen], two[seen], line[seen], length[seen]
    log_gradient = line / length[:, None] ** 2
    shares = np.einsum("pi,pik->pk", log_gradient, by_scale[one] - by_scale[two])
    pose_slope = np.linalg.norm(
        np.einsum("pi,pik->pk", log_gradient, by_pose[one] - by_pose[two]), axis=-1
    )
    sd = np.sqrt(2 * (MARKER_PLACEMENT_SD_M / length) ** 2 + (POSE_SD_RAD * pose_slope) ** 2)
    near = _on_neighboring_bodies(markers)
    kept: dict[int, list[tuple[int, int]]] = {}
    for column in range(shares.shape[1]):
        informative = (
            (shares[:, column] > MIN_AXIS_SHARE) & near[column // 3, one] & near[column // 3, two]
        )
        value = np.where(informative, shares[:, column] / sd, 0.0)
        for pair in np.argsort(-value, kind="stable")[:MAX_PAIRS_PER_AXIS]:
            if value[pair] > 0:
                kept.setdefault(int(pair), []).append((column // 3, column % 3))
    names = markers.markers
    return [
        LengthRatio(
            f"{names[one[k]]}-{names[two[k]]}",
            shares[k] @ unknowns.tie,
            float(np.log(np.linalg.norm(measured[one[k]] - measured[two[k]]) / length[k])),
            float(sd[k]),
            tuple(axes),
        )
        for k, axes in sorted(kept.items())
    ]


def _on_neighboring_bodies(markers: MarkerModel) -> np.ndarray:
    """(bodies, markers): whether a marker is on the body or at most one moving joint away."""
    model = markers.model
    joints_between = np.full((markers.bodies, markers.bodies), np.inf)
    np.fill_diagonal(joints_between, 0.0)
    for child, (joint, parent) in enumerate(zip(model.joints, model.parents, strict=True)):
        if parent >= 0:
            step = 1.0 if joint.nv else 0.0
            joints_between[child, :child] = joints_between[parent, :child] + step
            joints_between[:child, child] = joints_between[child, :child]
    index = {name: i for i, name in enumerate(model.body_names)}
    carrier = [index.get(marker.body, -1) for marker in model.markers]
    near: np.ndarray = joints_between[:, carrier] <= 1.0
    near[:, [c < 0 for c in carrier]] = False
    return near


def named_pairs(
    markers: MarkerModel,
    unknowns: PersonParameters,
    phi: np.ndarray,
    q: np.ndarray,
    measured: np.ndarray,
    pairs: Mapping[str, BodyPairs],
) -> list[LengthRatio]:
    """The length ratios of named pairs: each axis of a body takes the mean ratio of its pairs.

    Raises:
        CaptureError: A body, an axis or a marker is unknown, or two markers coincide.
    """
    positions = markers.positions(q, unknowns.person(phi))
    found = []
    requested = [
        (body, *sets) for body, given in pairs.items() for sets in _axis_sets(body, given).items()
    ]
    for body, axes, members in requested:
        if body not in markers.model.body_names:
            raise CaptureError(f"pairs: {unknown_name('body', body, markers.model.body_names)}")
        i = markers.model.body_names.index(body)
        ratios = [_length_ratio(markers, positions, measured, body, pair) for pair in members]
        ratio = float(np.mean(ratios))
        label = ", ".join("-".join(pair) for pair in members)
        for axis in axes:
            k = "xyz".index(axis)
            # In logarithms: the new scale less the scale that the ratio was measured at.
            shares = unknowns.tie[3 * i + k]
            found.append(LengthRatio(label, shares, float(np.log(ratio)), NAMED_PAIR_SD, ((i, k),)))
    return found


def _axis_sets(body: str, given: BodyPairs) -> dict[str, Sequence[MarkerPair]]:
    """Pairs by axes; a plain list is for all three."""
    sets = given if isinstance(given, Mapping) else {"xyz": given}
    for axes, members in sets.items():
        if not axes or set(axes) - set("xyz"):
            raise CaptureError(f"pairs of body {body!r}: axes are x, y, z or several, got {axes!r}")
        if not members or any(isinstance(pair, str) or len(pair) != 2 for pair in members):
            raise CaptureError(
                f"pairs of body {body!r}: a list of pairs of marker names is needed, such as "
                f"[('RKNE', 'RANK')]; got {members!r}"
            )
    return dict(sets)


def _length_ratio(
    markers: MarkerModel,
    positions: np.ndarray,
    measured: np.ndarray,
    body: str,
    pair: MarkerPair,
) -> float:
    """Measured over model distance of a pair."""
    for name in pair:
        if name not in markers.markers:
            message = unknown_name("recorded marker", name, markers.markers)
            raise CaptureError(f"pairs of body {body!r}: {message}")
    a, b = (markers.markers.index(name) for name in pair)
    length = float(np.linalg.norm(positions[a] - positions[b]))
    if length < 1e-6:
        raise CaptureError(f"pairs of body {body!r}: {'-'.join(pair)} coincide in the model")
    return float(np.linalg.norm(measured[a] - measured[b])) / length
