"""What is known of a person before any marker is seen: how much people differ from a model.

The logarithm of the scale of body b along axis a is taken as ``size + body_b + axis_ba``, three
independent normal deviations. A segment that no marker shows then follows the size of the person,
and one that is seen along one axis only follows it along the others.

The spreads are of the order that surveys find. Among the 4082 men measured by Gordon et al. (2014,
ANSUR II) stature varies by about 4 %, lengths of limb segments by 5 to 6 %, breadths of the trunk
by 5 to 7 % and depths by 10 %. Bodies of generic models are narrower parts than those measured, so
the spread along single axes is taken as the widest of these.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from homodyn.capture.scaling.bundle_adjustment import PersonParameters
from homodyn.catalog.mirror import paired_names
from homodyn.catalog.standing_height import placements
from homodyn.errors import CaptureError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import unknown_name
from homodyn.model import Model
from homodyn.model.joint import WORLD

HIP_HEIGHT_SHARE = 0.530
"""Height of the hip as a part of stature (Drillis and Contini 1966, in Winter 2009, fig. 4.1)."""

BONY_LANDMARKS = re.compile(
    r"ASI|PSI|SACR|ANK|MAL|KNE|EPI|LFC|MFC|ELB|LEL|MEL|WR[AB]|ACR|C7|T10|CLAV|STRN|STERN|HEE|CAL|"
    r"TOE|MT[125]|META|JC$|STYL|TROCH|VERTEX",
    re.IGNORECASE,
)
"""Names of markers that sit on bones which can be felt through the skin."""


@record(eq=True)
class ScalingPrior(Record):
    """Standard deviations of what makes a person; scales as parts, distances in metres."""

    size: float = 0.10
    """Of the whole person, when the stature is not known: a generic model may be any adult."""
    size_of_stature: float = 0.03
    """Of the whole person, when it is."""
    body: float = 0.05
    """Of a body beyond the whole person."""
    axis: float = 0.10
    """Of a body along one axis beyond the others: breadths and depths."""
    marker: float = 0.02
    """Of a marker from where the generic model has it, along each axis (m)."""
    landmark: float = 0.5
    """By how much better a marker on a bony landmark is placed than another."""
    center: float = 0.0
    """Of a joint center from where the scales put it, along each axis (m); 0: it stays there."""
    noise: float = 0.005
    """Of a measured coordinate, soft tissue included (m)."""
    learn: bool = True
    """Whether ``marker`` and ``noise`` are only a start, and learnt from the recording."""
    min_marker: float = 2e-4
    """``marker`` is never learnt to be smaller (m)."""
    max_marker: float = 0.03
    """Nor larger: markers farther off are labels of something else (m)."""
    min_noise: float = 5e-5
    """``noise`` is never learnt to be smaller (m)."""

    def log_scales(self, bodies: int, *, stature_known: bool) -> np.ndarray:
        """Covariance of the logarithms of scales, (3 bodies, 3 bodies)."""
        size = self.size_of_stature if stature_known else self.size
        same_body = np.kron(np.eye(bodies), np.ones((3, 3)))
        return size**2 + self.body**2 * same_body + self.axis**2 * np.eye(3 * bodies)

    def marker_ratio(self, name: str) -> float:
        """Spread of a marker relative to ``marker``."""
        return self.landmark if BONY_LANDMARKS.search(name) else 1.0


@dataclass(frozen=True, eq=False)
class ParameterPrior:
    """The prior over the unknowns of one model, for any spread of its markers."""

    unknowns: PersonParameters
    mean: np.ndarray
    fixed: np.ndarray
    """Covariance of scales and centers; zero for markers."""
    ratios: np.ndarray
    """Spread of each marker coordinate relative to that of markers; zero for scales, centers."""

    def covariance(self, marker: float) -> np.ndarray:
        """Covariance of the unknowns when markers spread by ``marker`` (m)."""
        return self.fixed + np.diag((marker * self.ratios) ** 2)

    def precision(self, marker: float) -> np.ndarray:
        """Its inverse: markers are independent of the sizes and of each other."""
        size = int((self.ratios == 0).sum())
        inverse = np.zeros_like(self.fixed)
        inverse[:size, :size] = np.linalg.inv(self.fixed[:size, :size])
        place = np.arange(size, len(inverse))
        inverse[place, place] = (marker * self.ratios[size:]) ** -2.0
        return inverse


def parameter_prior(
    model: Model,
    markers: Sequence[str],
    prior: ScalingPrior,
    *,
    size: float,
    stature_known: bool,
    symmetric: bool = False,
    uniform: bool = False,
    together: Sequence[Collection[str]] = (),
) -> ParameterPrior:
    """What is known of the person before: the scales are about ``size``, attachments generic."""
    bodies = len(model.bodies)
    tie = scale_ties(model, symmetric, together)
    if uniform:
        tie = tie @ np.kron(np.eye(tie.shape[1] // 3), np.ones((3, 1)))
    first = np.argmax(tie, axis=0)
    scales = prior.log_scales(bodies, stature_known=stature_known)[np.ix_(first, first)]
    # The root hangs on the world, where its place is a matter of the pose.
    centers = np.arange(3, 3 * bodies) if prior.center > 0 else np.zeros(0, dtype=int)
    unknowns = PersonParameters(tie, centers, len(markers))
    mean, ratios = np.zeros(unknowns.size), np.zeros(unknowns.size)
    mean[: len(scales)] = np.log(size)
    ratios[len(scales) + len(centers) :] = np.repeat([prior.marker_ratio(m) for m in markers], 3)
    fixed = np.zeros((unknowns.size, unknowns.size))
    fixed[: len(scales), : len(scales)] = scales
    place = np.arange(len(scales), len(scales) + len(centers))
    fixed[place, place] = prior.center**2
    return ParameterPrior(unknowns, mean, fixed, ratios)


def scale_ties(
    model: Model, symmetric: bool = False, together: Sequence[Collection[str]] = ()
) -> np.ndarray:
    """Which scales are one unknown: (3 bodies, unknowns).

    Left is tied to right when ``symmetric``, and bodies that are named ``together``.
    """
    index = {name: i for i, name in enumerate(model.body_names)}
    groups = [{index[n] for n in pair} for pair in paired_names(model).items() if pair[0] in index]
    groups = groups if symmetric else []
    for names in together:
        for name in names:
            if name not in index:
                raise CaptureError(f"together: {unknown_name('body', name, model.body_names)}")
        groups.append({index[name] for name in names})
    owner = list(range(len(index)))
    for group in groups:
        joined = {owner[i] for i in group}
        owner = [min(joined) if o in joined else o for o in owner]
    kept = sorted(set(owner))
    bodies = np.zeros((len(owner), len(kept)))
    bodies[np.arange(len(owner)), [kept.index(o) for o in owner]] = 1.0
    return np.kron(bodies, np.eye(3))


def expected_size(model: Model, height: float | None) -> tuple[float | None, list[str]]:
    """Size of a person of some height (m) relative to the model; and what there is to say."""
    if height is None:
        return None, []
    if not 0.3 < height < 2.8:
        raise CaptureError(f"height: a number of metres is needed, such as 1.75; got {height!r}")
    generic = stature(model)
    if generic is None:
        return None, ["height is not used: the model does not show how tall it is"]
    told = f"height {height:.3f} m: the generic model counts as {generic:.3f} m tall, by its hips"
    return height / generic, [told]


def stature(model: Model) -> float | None:
    """Height of the person a model stands for (m), from the height of its hips; None if unclear.

    The hip is the joint of the root that carries the lowest point of the neutral pose: a contact,
    a marker, a capsule end or a joint.
    """
    frames = placements(model, model.neutral())
    up = -np.asarray(model.gravity, dtype=float)
    if not up.any():
        return None
    up = up / np.linalg.norm(up)
    index = {name: i for i, name in enumerate(model.body_names)}
    points = [(i, at.r) for i, (at, _) in enumerate(frames) if model.parents[i] >= 0]
    for name, local, radius in _body_points(model):
        points.append((index[name], frames[index[name]][1].point_back(local) - radius * up))
    if not points:
        return None
    body, low = min(points, key=lambda point: float(point[1] @ up))
    while model.parents[body] > 0:
        body = model.parents[body]
    if model.parents[body] < 0:
        return None
    height = float((frames[body][0].r - low) @ up) / HIP_HEIGHT_SHARE
    return height if height > 0 else None


def _body_points(model: Model) -> list[tuple[str, np.ndarray, float]]:
    """Points fixed in bodies, each with a radius around it (m)."""
    found = [(m.body, m.position, 0.0) for m in model.markers]
    found += [(c.body, c.position, float(c.radius)) for c in model.contacts]
    for capsule in model.capsules:
        found += [
            (capsule.body, end, float(capsule.radius)) for end in (capsule.start, capsule.end)
        ]
    return [point for point in found if point[0] != WORLD]
