"""Kinds of markers: bony landmarks, tracking markers, joint centers and derived points.

A landmark is palpated and placed to a centimeter. A tracking marker sits anywhere on its segment;
generic marker sets often have placeholders for it. A joint-center marker is the result of a
computation of the laboratory (functional trial or regression). A derived point, such as the middle
of two markers or a projection onto the floor, contains no information of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum

import numpy as np

from homodyn.capture.labeling.landmarks import (
    SOFT_PLACES,
    SYNONYMS,
    landmark,
    strip_subject,
)
from homodyn.model import Marker, Model

BONY_WORDS = re.compile(
    r"ASI|PSI|SACR|ANK|MAL|KNE|EPI|LFC|MFC|ELB|LEL|MEL|WR[AB]|WRIST|ACR|SHO|C7|T10|T12|S2|CLAV|"
    r"STRN|STERN|HEE|CAL|TOE|MT[125]|META|STYL|TROCH|VERTEX|XIPH|TUBER|FARAD|FAULN",
    re.IGNORECASE,
)
"""Parts of names of bony landmarks, which can be palpated through the skin."""
CENTER_WORDS = re.compile(r"(HJC|KJC|AJC|SJC|EJC|WJC)|joint_?cent(er|re)", re.IGNORECASE)
"""Parts of names of joint centers."""
TRACKING_WORDS = re.compile(
    r"thigh|shank|shin|bicep|tricep|forearm|upper_?arm|cluster|track|"
    r"(^|[._ ])[rl]?[._ ]?(th|sh|tb|sk|ua|fa|hd|bk)\d",
    re.IGNORECASE,
)
"""Parts of names of markers on muscle, and numbered members of clusters."""
COINCIDENCE_DISTANCE_M = 1e-3
"""Distance (m) below which two positions on a model are the same."""
DERIVED_DISTANCE_M = 5e-4
"""Distance (m) below which a recorded point is derived from others."""
MAX_DERIVED_FRAMES = 6
"""Frames in which derived points are sought."""


class MarkerKind(StrEnum):
    """What the position of a marker on a generic model is worth."""

    LANDMARK = "landmark"
    """On a bony landmark."""
    TRACKING = "tracking"
    """Anywhere on the segment."""
    JOINT_CENTER = "joint center"
    """A joint center that the laboratory computed."""


def marker_kinds(model: Model) -> dict[str, MarkerKind]:
    """Kind of each marker of a generic model.

    A joint center has the name of one or sits on the joint of its body. Markers of one body at the
    same position are placeholders, hence tracking markers. Otherwise a ``fixed`` flag that is true
    makes a landmark, then the name decides. A marker of an unknown name is a tracking marker.

    Args:
        model: The generic model.

    Returns:
        The kinds by name.
    """
    placeholders = _coinciding_markers(model.markers)
    return {
        marker.name: _kind(marker, placeholder=marker.name in placeholders)
        for marker in model.markers
    }


def unnamed_markers(model: Model) -> set[str]:
    """Names of markers whose kind flags, names and coinciding positions leave open.

    Args:
        model: The generic model.

    Returns:
        Markers that are tracking markers because nothing is known about them. A flag that is false
        decides only where others of the model are true.
    """
    flagged = any(marker.fixed for marker in model.markers)
    kinds, placeholders = marker_kinds(model), _coinciding_markers(model.markers)
    return {
        marker.name
        for marker in model.markers
        if kinds[marker.name] is MarkerKind.TRACKING
        and marker.name not in placeholders
        and not (flagged and marker.fixed is False)
        and not _is_tracking_name(strip_subject(marker.name))
    }


def placeholder_markers(model: Model) -> set[str]:
    """Names of tracking markers whose positions on the model are placeholders.

    Args:
        model: The generic model.

    Returns:
        Tracking markers that the model flags as not fixed while it flags others as fixed, or that
        coincide with another marker.
    """
    kinds = marker_kinds(model)
    flagged = any(marker.fixed for marker in model.markers)
    unfixed = {marker.name for marker in model.markers if flagged and marker.fixed is False}
    candidates = unfixed | _coinciding_markers(model.markers)
    return {name for name in candidates if kinds[name] is MarkerKind.TRACKING}


def derived_markers(names: Sequence[str], positions: np.ndarray) -> dict[str, tuple[str, ...]]:
    """Recorded points that are computed from others: middles of two and projections onto the floor.

    Args:
        names: Names of the points.
        positions: (frames, points, 3), m; NaN where not seen.

    Returns:
        For each derived point, the names that it is derived from.
    """
    seen = np.isfinite(positions).all(-1)
    found: dict[str, tuple[str, ...]] = {}
    for k, name in enumerate(names):
        frames = np.flatnonzero(seen[:, k])
        if not len(frames):
            continue
        frames = frames[np.linspace(0, len(frames) - 1, MAX_DERIVED_FRAMES).astype(int)]
        candidates = [
            i
            for i, other in enumerate(names)
            if i != k and name not in found.get(other, ()) and seen[frames, i].all()
        ]
        sources = _sources(positions[frames, k], positions[frames][:, candidates])
        if sources:
            found[name] = tuple(names[candidates[i]] for i in sources)
    return found


def _kind(marker: Marker, *, placeholder: bool) -> MarkerKind:
    name = strip_subject(marker.name)
    place = landmark(name).place
    centered = np.linalg.norm(marker.position) < COINCIDENCE_DISTANCE_M
    if CENTER_WORDS.search(name) or place.endswith("center") or centered:
        return MarkerKind.JOINT_CENTER
    if placeholder:
        return MarkerKind.TRACKING
    if marker.fixed:
        return MarkerKind.LANDMARK
    if _is_tracking_name(name):
        return MarkerKind.TRACKING
    if place in SYNONYMS or BONY_WORDS.search(name):
        return MarkerKind.LANDMARK
    return MarkerKind.TRACKING


def _is_tracking_name(name: str) -> bool:
    return landmark(name).place in SOFT_PLACES or bool(TRACKING_WORDS.search(name))


def _coinciding_markers(markers: Sequence[Marker]) -> set[str]:
    """Names of markers that share their position with another marker of the same body."""
    return {
        one.name
        for one in markers
        for two in markers
        if one.name != two.name
        and one.body == two.body
        and np.linalg.norm(one.position - two.position) < COINCIDENCE_DISTANCE_M
    }


def _sources(point: np.ndarray, others: np.ndarray) -> tuple[int, ...]:
    """Indices of the points that ``point`` (frames, 3) is derived from, none if it is measured."""
    difference = np.abs(others - point[:, None])
    same = (difference < DERIVED_DISTANCE_M).all(0)
    on_floor = (np.abs(point) < DERIVED_DISTANCE_M).all(0)
    projected = np.flatnonzero((same.sum(-1) == 2) & (on_floor | same).all(-1))
    if len(projected):
        return (int(projected[0]),)
    one, two = np.triu_indices(others.shape[1], 1)
    middle = np.abs((others[:, one] + others[:, two]) / 2 - point[:, None]).max((0, 2))
    best = np.flatnonzero(middle < DERIVED_DISTANCE_M)
    return (int(one[best[0]]), int(two[best[0]])) if len(best) else ()
