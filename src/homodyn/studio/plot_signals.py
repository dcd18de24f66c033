"""Curves over time that can be plotted: coordinates, torques, forces, powers, marker errors."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from homodyn.studio.document import Actor, StudioDocument

SIGNAL_KINDS = ("coordinate", "torque", "ground force", "power", "marker error")
MAX_CURVE_POINTS = 600
"""Of a plotted curve: more than a screen is wide would only be slower."""
ALL_MARKERS = "all, root mean square"
"""The marker error of all markers together."""


@dataclass(frozen=True, eq=False)
class PlotCurve:
    """Values over time, with the name and colour of the body they belong to."""

    owner: str
    color: tuple[int, int, int]
    time: np.ndarray
    """(frames,), s."""
    values: np.ndarray
    """(frames,); NaN where not known."""


def signal_names(document: StudioDocument, kind: str) -> tuple[str, ...]:
    """What of a kind can be plotted: names over all bodies, in their order."""
    found = [name for actor in document.actors for name in _names(actor, kind)]
    return tuple(dict.fromkeys(found))


def unit_of(document: StudioDocument, kind: str, name: str) -> str:
    """The unit of a curve."""
    if kind == "marker error":
        return "mm"
    if kind == "ground force":
        return "N"
    if kind == "power":
        return "W"
    turns = any(_turns(actor, name) for actor in document.actors)
    if kind == "torque":
        return "N m" if turns else "N"
    return "deg" if turns else "m"


def curves(document: StudioDocument, kind: str, name: str) -> list[PlotCurve]:
    """The curve of that name of every body that is shown and has it."""
    found = []
    for actor in document.actors:
        if actor.shown and actor.motion is not None and name in _names(actor, kind):
            values = _values(actor, kind, name)
            found.append(PlotCurve(actor.name, actor.color, actor.motion.time, values))
    return found


def thin_curve(curve: PlotCurve, points: int = MAX_CURVE_POINTS) -> PlotCurve:
    """The curve with so many points at most, peaks kept: the least and greatest of each stretch."""
    count = len(curve.time)
    if count <= points:
        return curve
    edges = np.linspace(0, count, points // 2 + 1).astype(int)
    kept: list[int] = []
    for first, last in pairwise(edges.tolist()):
        stretch = curve.values[first:last]
        if np.isfinite(stretch).any():
            kept += sorted({first + int(np.nanargmin(stretch)), first + int(np.nanargmax(stretch))})
        else:
            kept.append(int(first))
    places = np.array(sorted({0, *kept, count - 1}))
    return PlotCurve(curve.owner, curve.color, curve.time[places], curve.values[places])


def _names(actor: Actor, kind: str) -> tuple[str, ...]:
    if actor.motion is None:
        return ()
    coordinates = actor.model.coordinate_names
    if kind == "coordinate":
        index = actor.model.position_index
        return tuple(n for n, place in zip(coordinates, index, strict=True) if place is not None)
    if kind == "marker error":
        return (ALL_MARKERS, *actor.motion.markers) if actor.motion.residual.size else ()
    if actor.loads is None:
        return ()
    if kind == "torque":
        return tuple(coordinates)
    if kind == "power":
        return tuple(coordinates[k] for k in actor.loads.joints) if actor.loads.power.size else ()
    return tuple(
        f"{foot.body} {part}" for foot in actor.loads.feet for part in ("size", "x", "y", "z")
    )


def _values(actor: Actor, kind: str, name: str) -> np.ndarray:
    assert actor.motion is not None
    model = actor.model
    if kind == "coordinate":
        place = model.position_index[model.coordinate_index(name)]
        values = actor.motion.q[:, place]
        return np.degrees(values) if _turns(actor, name) else values
    if kind == "marker error":
        residual = 1000.0 * actor.motion.residual
        if name != ALL_MARKERS:
            return residual[:, actor.motion.markers.index(name)]
        seen = np.isfinite(residual)
        squares = np.where(seen, residual, 0.0) ** 2
        return np.sqrt(squares.sum(axis=1) / np.maximum(seen.sum(axis=1), 1))
    assert actor.loads is not None
    if kind == "torque":
        return actor.loads.torque(name)
    if kind == "power":
        return actor.loads.power[:, model.coordinate_index(name)]
    body, _, part = name.rpartition(" ")
    force = next(foot.force for foot in actor.loads.feet if foot.body == body)
    if part == "size":
        return np.linalg.norm(force, axis=1)
    return force[:, "xyz".index(part)]


def _turns(actor: Actor, name: str) -> bool:
    """Whether a coordinate of a body is an angle."""
    from homodyn.studio.pose_editing import turning_of

    names = actor.model.coordinate_names
    return name in names and bool(turning_of(actor.model)[names.index(name)])
