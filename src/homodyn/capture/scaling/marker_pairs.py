"""Distances between pairs of markers, and which of them tell the length of a body along an axis.

At a given pose the distance d of two markers changes with the scale of every body between them. The
shares d(log d)/d(log scale) sum to one; a pair tells of one body axis when most of the share is
there and little depends on the pose.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from homodyn.capture.scaling.bundle_adjustment import PersonParameters
from homodyn.capture.scaling.marker_model import MarkerModel
from homodyn.errors import CaptureError
from homodyn.foundation.text import unknown_name

MARKER_PLACEMENT_SD_M = 0.01
"""How well a marker sits where the model has it (m)."""
POSE_SD_RAD = 0.05
"""How well the angles of the pose are known while sizes are not (rad)."""
MIN_PAIR_DISTANCE_M = 0.04
"""Metres; shorter distances tell more of the attachment than of the size."""
MAX_PAIRS_PER_AXIS = 3
"""Pairs kept for each axis of each body."""
MIN_AXIS_SHARE = 0.5
"""Share of a distance that one axis of a body has at least, for the pair to be about it."""
NAMED_PAIR_SD = 1e-6
"""Deviation of a factor that is told by pairs the user named."""


@dataclass(frozen=True, eq=False)
class LengthRatio:
    """One observed length ratio: a row of shares of the unknown log scales, and its deviation."""

    label: str
    shares: np.ndarray
    """(logarithms,)."""
    ratio: float
    """Logarithm of measured over model length, the model at the sizes it was compared at."""
    sd: float
    about: tuple[tuple[int, int], ...]
    """Bodies and axes the pair was chosen for."""


def informative_pairs(
    markers: MarkerModel,
    unknowns: PersonParameters,
    phi: np.ndarray,
    q: np.ndarray,
    measured: np.ndarray,
) -> list[LengthRatio]:
    """The pairs that tell most about each axis of each body, at one pose."""
    person = unknowns.person(phi)
    nv = markers.model.nv
    places = markers.positions(q, person)
    J = markers.jacobian(q, person).reshape(len(places), 3, -1)
    by_pose = J[..., :nv]
    by_scale = J[..., nv : nv + 3 * markers.bodies] * person.scales.ravel()
    one, two = np.triu_indices(len(places), 1)
    line = places[one] - places[two]
    length = np.linalg.norm(line, axis=-1)
    seen = np.isfinite(measured[one] - measured[two]).all(-1) & (length > MIN_PAIR_DISTANCE_M)
    one, two, line, length = one[seen], two[seen], line[seen], length[seen]
    toward = line / length[:, None] ** 2
    shares = np.einsum("pi,pik->pk", toward, by_scale[one] - by_scale[two])
    loose = np.linalg.norm(np.einsum("pi,pik->pk", toward, by_pose[one] - by_pose[two]), axis=-1)
    sd = np.sqrt(2 * (MARKER_PLACEMENT_SD_M / length) ** 2 + (POSE_SD_RAD * loose) ** 2)
    near = _on_neighboring_bodies(markers)
    kept: dict[int, list[tuple[int, int]]] = {}
    for column in range(shares.shape[1]):
        telling = (
            (shares[:, column] > MIN_AXIS_SHARE) & near[column // 3, one] & near[column // 3, two]
        )
        value = np.where(telling, shares[:, column] / sd, 0.0)
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
            tuple(about),
        )
        for k, about in sorted(kept.items())
    ]


def _on_neighboring_bodies(markers: MarkerModel) -> np.ndarray:
    """(bodies, markers): whether a marker is on the body or beside it, one moving joint away."""
    model = markers.model
    away = np.full((markers.bodies, markers.bodies), np.inf)
    np.fill_diagonal(away, 0.0)
    for child, (joint, parent) in enumerate(zip(model.joints, model.parents, strict=True)):
        if parent >= 0:
            step = 1.0 if joint.nv else 0.0
            away[child, :child] = away[parent, :child] + step
            away[:child, child] = away[child, :child]
    index = {name: i for i, name in enumerate(model.body_names)}
    carrier = [index.get(marker.body, -1) for marker in model.markers]
    near: np.ndarray = away[:, carrier] <= 1.0
    near[:, [c < 0 for c in carrier]] = False
    return near


def named_pairs(
    markers: MarkerModel,
    unknowns: PersonParameters,
    phi: np.ndarray,
    q: np.ndarray,
    measured: np.ndarray,
    pairs: Mapping[str, Any],
) -> list[LengthRatio]:
    """The lengths a user asks for: each body axis takes the mean ratio of its pairs."""
    places = markers.positions(q, unknowns.person(phi))
    found = []
    asked = [
        (body, *sets) for body, given in pairs.items() for sets in _axis_sets(body, given).items()
    ]
    for body, axes, couple in asked:
        if body not in markers.model.body_names:
            raise CaptureError(f"pairs: {unknown_name('body', body, markers.model.body_names)}")
        i = markers.model.body_names.index(body)
        ratio = float(np.mean([_length_ratio(markers, places, measured, body, p) for p in couple]))
        label = ", ".join("-".join(pair) for pair in couple)
        for axis in axes:
            k = "xyz".index(axis)
            # In logarithms: what the body is to become, less what it was compared at.
            shares = unknowns.tie[3 * i + k]
            found.append(LengthRatio(label, shares, float(np.log(ratio)), NAMED_PAIR_SD, ((i, k),)))
    return found


def _axis_sets(body: str, given: Any) -> dict[str, Sequence[tuple[str, str]]]:
    """Pairs by the axes they are for; a plain list is for all three."""
    sets = given if isinstance(given, Mapping) else {"xyz": given}
    for axes, couples in sets.items():
        if not axes or set(axes) - set("xyz"):
            raise CaptureError(f"pairs of body {body!r}: axes are x, y, z or several, got {axes!r}")
        if not couples or any(isinstance(c, str) or len(c) != 2 for c in couples):
            raise CaptureError(
                f"pairs of body {body!r}: a list of pairs of marker names is needed, such as "
                f"[('RKNE', 'RANK')]; got {couples!r}"
            )
    return dict(sets)


def _length_ratio(
    markers: MarkerModel,
    places: np.ndarray,
    measured: np.ndarray,
    body: str,
    pair: tuple[str, str],
) -> float:
    for name in pair:
        if name not in markers.markers:
            what = unknown_name("recorded marker", name, markers.markers)
            raise CaptureError(f"pairs of body {body!r}: {what}")
    a, b = (markers.markers.index(name) for name in pair)
    length = float(np.linalg.norm(places[a] - places[b]))
    if length < 1e-6:
        raise CaptureError(f"pairs of body {body!r}: {'-'.join(pair)} coincide in the model")
    return float(np.linalg.norm(measured[a] - measured[b])) / length
