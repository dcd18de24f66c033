"""Signals over time that can be plotted: coordinates, torques, forces, powers, marker errors.

Coordinates have their clinical names and signs, so that one signal contains the curves of bodies of
different models. Right is red and left is blue; signals without a side have the color of their
body. Dashes distinguish several bodies.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from homodyn.capture.world_frame import world_axes
from homodyn.errors import CaptureError
from homodyn.model import Model
from homodyn.model.side import side_of
from homodyn.motion import ContactForce
from homodyn.motion.clinical import CoordinateName, coordinate_readings
from homodyn.report.colors import SIDE_COLORS, Rgb, rgb_from_hex
from homodyn.report.posed_geometry import marker_sides
from homodyn.studio.document import Actor, StudioDocument
from homodyn.studio.pose_editing import angle_mask

SIGNAL_KINDS = ("coordinate", "torque", "ground force", "power", "marker error")
MAX_CURVE_POINTS = 600
"""Points of a plotted curve; a plot is not wider than this many pixels."""
ALL_MARKERS = "all markers, rms"
"""The root mean square error of all markers."""
FORCE_PARTS = {"magnitude": "magnitude", "x": "forward", "y": "to the left", "z": "upward"}
"""Components of a ground force in axes with Z up, and their names."""
DASHES: tuple[tuple[int, ...], ...] = ((), (7, 4), (2, 3), (10, 3, 2, 3))
"""Dash patterns (pixels) that distinguish curves of one color."""


@dataclass(frozen=True)
class PlotSignal:
    """A quantity that can be plotted: its kind, and its clinical or own name."""

    kind: str
    name: str
    coordinates: tuple[str, ...] = ()
    """Names of the coordinate in the models that have it, with a minus where it is negated."""
    unit: str = ""

    @property
    def label(self) -> str:
        """Text of a menu: ``"Angle: Right knee flexion (KneeRight_RY)"``."""
        kind = self.kind.capitalize()
        if self.kind == "coordinate":
            kind = "Angle" if self.unit == "deg" else "Position"
        beside = f" ({', '.join(self.coordinates)})" if self.coordinates else ""
        return f"{kind}: {self.name}{beside}"


@dataclass(frozen=True, eq=False)
class PlotCurve:
    """Values over time, with the body they belong to and the style of their line."""

    owner: str
    color: Rgb
    time: np.ndarray
    """(frames,), s."""
    values: np.ndarray
    """(frames,); NaN where unknown."""
    dash: tuple[int, ...] = ()
    """Pixels of strokes and gaps; empty for a solid line."""


def plot_signals(document: StudioDocument) -> tuple[PlotSignal, ...]:
    """All signals of the bodies of a document, by kind."""
    found: dict[tuple[str, str], PlotSignal] = {}
    for kind in SIGNAL_KINDS:
        for actor in document.actors:
            for signal in _actor_signals(actor, kind):
                known = found.setdefault((kind, signal.name), signal)
                names = tuple(dict.fromkeys((*known.coordinates, *signal.coordinates)))
                found[kind, signal.name] = PlotSignal(kind, signal.name, names, known.unit)
    return tuple(found.values())


def signal_curves(document: StudioDocument, signal: PlotSignal) -> list[PlotCurve]:
    """The curves of a signal: one per visible body that has it."""
    found: list[PlotCurve] = []
    for actor in document.actors:
        own = {other.name for other in _actor_signals(actor, signal.kind)}
        if actor.shown and actor.motion is not None and signal.name in own:
            side = _side(actor, signal)
            color = actor.color if side is None else rgb_from_hex(SIDE_COLORS[side])
            values = _values(actor, signal)
            dash = line_dash(len(found))
            found.append(PlotCurve(actor.name, color, actor.motion.time, values, dash))
    return found


def line_dash(index: int) -> tuple[int, ...]:
    """The dash pattern of the index-th of several curves; the first is solid."""
    return DASHES[index % len(DASHES)]


def thin_curve(curve: PlotCurve, points: int = MAX_CURVE_POINTS) -> PlotCurve:
    """The curve with about ``points`` points at most, which include its minima and maxima."""
    count = len(curve.time)
    if count <= points:
        return curve
    edges = np.linspace(0, count, points // 2 + 1).astype(int)
    kept: list[int] = []
    for first, last in pairwise(edges.tolist()):
        values = curve.values[first:last]
        if np.isfinite(values).any():
            kept += sorted({first + int(np.nanargmin(values)), first + int(np.nanargmax(values))})
        else:
            kept.append(int(first))
    rows = np.array(sorted({0, *kept, count - 1}))
    return PlotCurve(curve.owner, curve.color, curve.time[rows], curve.values[rows], curve.dash)


def _actor_signals(actor: Actor, kind: str) -> list[PlotSignal]:
    """The signals of one body."""
    if actor.motion is None:
        return []
    loads = actor.loads
    if kind == "marker error":
        names = (ALL_MARKERS, *actor.motion.markers) if actor.motion.residual.size else ()
        return [PlotSignal(kind, name, unit="mm") for name in names]
    if kind == "ground force":
        feet = () if loads is None else loads.feet
        return [
            PlotSignal(kind, _force_name(foot, part), (f"{foot.body} {part}",), "N")
            for foot in feet
            for part in FORCE_PARTS
        ]
    coordinates = actor.model.coordinate_names
    if kind == "coordinate":
        index = actor.model.position_index
        coordinates = tuple(n for n, k in zip(coordinates, index, strict=True) if k is not None)
    elif loads is None:
        return []
    elif kind == "power":
        coordinates = tuple(coordinates[k] for k in loads.joints) if loads.power.size else ()
    return [_coordinate_signal(actor, kind, name) for name in coordinates]


def _coordinate_signal(actor: Actor, kind: str, name: str) -> PlotSignal:
    reading = coordinate_readings(actor.model)[name]
    sign = "−" if reading.sign < 0 and kind != "power" else ""
    beside = () if reading.title == name else (f"{sign}{name}",)
    is_angle = bool(angle_mask(actor.model)[actor.model.coordinate_names.index(name)])
    unit = {
        "coordinate": "deg" if is_angle else "m",
        "torque": "N m" if is_angle else "N",
        "power": "W",
    }[kind]
    return PlotSignal(kind, reading.title, beside, unit)


def _force_name(foot: ContactForce, part: str) -> str:
    owner = f"{str(foot.side).capitalize()} foot" if foot.side else foot.body
    return f"{owner}, {FORCE_PARTS[part]}"


def _foot_part(actor: Actor, name: str) -> tuple[ContactForce, str]:
    """The foot and the component of a ground force signal."""
    assert actor.loads is not None
    return next(
        (foot, part)
        for foot in actor.loads.feet
        for part in FORCE_PARTS
        if _force_name(foot, part) == name
    )


def _reading(actor: Actor, title: str) -> CoordinateName:
    """The coordinate of a body that has a clinical or own name."""
    return next(r for r in coordinate_readings(actor.model).values() if r.title == title)


def _side(actor: Actor, signal: PlotSignal) -> str | None:
    """The side of a signal; None for the middle of the body."""
    if signal.kind == "marker error":
        found = marker_sides(actor.model, [signal.name])[signal.name]
        return None if found == "middle" or signal.name == ALL_MARKERS else found
    if signal.kind == "ground force":
        side = _foot_part(actor, signal.name)[0].side
    else:
        side = side_of(signal.name)
    return None if side is None else str(side)


def _values(actor: Actor, signal: PlotSignal) -> np.ndarray:
    assert actor.motion is not None
    model = actor.model
    if signal.kind == "marker error":
        return _marker_error(actor, signal.name)
    if signal.kind == "ground force":
        foot, part = _foot_part(actor, signal.name)
        if part == "magnitude":
            return np.asarray(np.linalg.norm(foot.force, axis=1))
        return np.asarray(foot.force @ _axes(model)["xyz".index(part)])
    reading = _reading(actor, signal.name)
    if signal.kind == "coordinate":
        column = model.position_index[model.coordinate_index(reading.coordinate)]
        values = reading.sign * actor.motion.q[:, column]
        return np.degrees(values) if signal.unit == "deg" else values
    assert actor.loads is not None
    if signal.kind == "torque":
        return reading.sign * actor.loads.torque(reading.coordinate)
    return actor.loads.power[:, model.coordinate_index(reading.coordinate)]


def _axes(model: Model) -> np.ndarray:
    """Forward, left and up (3, 3) of a model; its own axes where gravity does not show them."""
    try:
        return world_axes(model)
    except CaptureError:
        return np.eye(3)


def _marker_error(actor: Actor, name: str) -> np.ndarray:
    """(frames,), mm: the error of a marker, or the root mean square of all markers."""
    assert actor.motion is not None
    residual = 1000.0 * actor.motion.residual
    if name != ALL_MARKERS:
        return residual[:, actor.motion.markers.index(name)]
    known = np.isfinite(residual)
    squares = np.where(known, residual, 0.0) ** 2
    return np.asarray(np.sqrt(squares.sum(axis=1) / np.maximum(known.sum(axis=1), 1)))
