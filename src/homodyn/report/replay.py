"""The motion as a replay in a page: the body, markers, forces and floor, packed for the browser.

Positions are told to the browser in the axes of Homodyn (Z up) as 16-bit steps, at most 50 times a
second; a tenth of a millimetre is finer than any screen shows.
"""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from itertools import combinations, product
from typing import Any

import casadi as ca
import numpy as np

from homodyn import dynamics
from homodyn.analysis.curves import walking_direction
from homodyn.capture.kinematics import world_axes
from homodyn.dynamics.tree import Tree
from homodyn.model import WORLD, Body, ContactShape, Model
from homodyn.motion import (
    Event,
    ForcePlate,
    Loads,
    Motion,
)
from homodyn.motion.anatomical_axes import Axes
from homodyn.report.posed_geometry import geometry_at_pose
from homodyn.report.svg import Plot
from homodyn.symbolic import kernel

MAX_REPLAY_RATE_HZ = 50.0
"""Most pictures a second (Hz)."""
MISSING_STEP = -32768
"""The step that stands for a marker that was not seen."""
ARROW_LENGTH_M = 0.7
"""Length (m) of the arrow of a force of one body weight."""
BODY_DENSITY_KG_M3 = 1000.0
"""Of bodies whose width the model does not tell (kg/m3)."""
MIN_RADIUS_M, MAX_RADIUS_M = 0.018, 0.085
"""Radii (m) of such bodies."""


@dataclass(frozen=True, eq=False)
class BodyCapsule:
    """A capsule fixed in a body: ends in the axes of the body (m), radius (m), side of the body."""

    body: str
    start: np.ndarray
    end: np.ndarray
    radius: float
    side: str


@lru_cache(maxsize=8)
def body_capsules(model: Model) -> tuple[BodyCapsule, ...]:
    """What is drawn of each body: its capsules, or a bone as thick as its mass would fill.

    A body without either is drawn by the shapes it touches with. Where there are none of these, all
    are balls.
    """
    scene = geometry_at_pose(model, model.neutral())
    bodies = {body.name: body for body in model.bodies}
    made = [
        BodyCapsule(
            capsule.body,
            np.asarray(capsule.start, dtype=float),
            np.asarray(capsule.end, dtype=float),
            float(capsule.radius),
            scene.sides[capsule.body],
        )
        for capsule in model.capsules
        if capsule.body != WORLD
    ]
    covered = {stick.body for stick in made}
    shares = Counter(name for name, _, _ in scene.bones)
    for name, start, end in scene.bones:
        length = float(np.linalg.norm(end - start))
        if name in covered or length < 1e-3:
            continue
        place = scene.bodies[name]
        mass = float(bodies[name].mass) / shares[name]
        radius = np.sqrt(mass / (BODY_DENSITY_KG_M3 * np.pi * max(length, 0.05)))
        made.append(
            BodyCapsule(
                name,
                np.asarray(place.point(start)),
                np.asarray(place.point(end)),
                float(np.clip(0.8 * radius, MIN_RADIUS_M, MAX_RADIUS_M)),
                scene.sides[name],
            )
        )
    drawn = {stick.body for stick in made}
    for contact in model.contacts:
        if contact.body not in drawn and contact.body != WORLD:
            made += _shape_sticks(contact, scene.sides[contact.body])
    if not made:
        made = [_ball(body, scene.sides[body.name]) for body in model.bodies]
    return tuple(made)


def _shape_sticks(contact: ContactShape, side: str) -> list[BodyCapsule]:
    """A contact shape: a ball, a capsule, or the edges of a box."""
    back = np.asarray(contact.rotation, dtype=float).T
    middle, size = np.asarray(contact.position, float), np.asarray(contact.size, dtype=float)
    if contact.kind == "box":
        corners = np.array(list(product((-1.0, 1.0), repeat=3)))
        thin = max(0.02 * float(size.max()), 0.002)
        return [
            BodyCapsule(
                contact.body, middle + back @ (size * a), middle + back @ (size * b), thin, side
            )
            for a, b in combinations(corners, 2)
            if np.abs(a - b).sum() == 2
        ]
    arm = back @ [size[0], 0.0, 0.0] if contact.kind in ("line", "capsule") else np.zeros(3)
    round_ones = contact.kind in ("sphere", "capsule")
    radius = max(float(contact.radius) if round_ones else 0.0, MIN_RADIUS_M / 2)
    return [BodyCapsule(contact.body, middle - arm, middle + arm, radius, side)]


def _ball(body: Body, side: str) -> BodyCapsule:
    """A ball of the mass of a body around its centre of mass."""
    center = np.asarray(body.com, dtype=float)
    radius = max((3 * float(body.mass) / (4 * np.pi * BODY_DENSITY_KG_M3)) ** (1 / 3), MIN_RADIUS_M)
    return BodyCapsule(body.name, center, center, radius, side)


def capsule_ends(model: Model, q: np.ndarray) -> np.ndarray:
    """Ends of all sticks in the model's world, (poses, sticks, 2, 3), m."""
    index = {name: place for place, name in enumerate(model.body_names)}

    def ends(positions: ca.SX) -> ca.SX:
        placed = Tree(model, positions).placements
        points = [
            placed[index[stick.body]].point_back(end)
            for stick in body_capsules(model)
            for end in (stick.start, stick.end)
        ]
        return ca.horzcat(*points).T

    return kernel(ends, q=model.nq)(q).reshape(len(q), -1, 2, 3)


def replay_data(
    motion: Motion,
    loads: Loads | None = None,
    events: Sequence[Event] = (),
    plates: Sequence[ForcePlate] = (),
) -> dict[str, Any]:
    """Everything the browser needs, as plain lists, numbers and packed arrays."""
    model = motion.model
    turn = world_axes(model)
    every = max(int(np.ceil(motion.rate / MAX_REPLAY_RATE_HZ - 1e-6)), 1)
    frames = slice(None, None, every)
    q = motion.q[frames]
    ends = capsule_ends(model, q) @ turn.T
    com = dynamics.center_of_mass(model, q) @ turn.T
    along = turn @ walking_direction(motion)
    if motion.markers:
        order = [marker.name for marker in model.markers]
        columns = [order.index(name) for name in motion.markers]
        placed = dynamics.marker_positions(model, q)[:, columns] @ turn.T
        measured = motion.measured[frames] @ turn.T
    else:
        placed = measured = np.zeros((len(q), 0, 3))
    weight = model.mass * float(np.linalg.norm(model.gravity))
    feet = [
        {
            "side": foot.side or "middle",
            "force": pack_vectors(foot.force[frames] @ turn.T),
            "point": pack_vectors(foot.point[frames] @ turn.T),
        }
        for foot in (loads.feet if loads else ())
    ]
    heights = ends[..., 2]
    thickest = max(stick.radius for stick in body_capsules(model))
    return {
        "frames": len(q),
        "rate": motion.rate / every,
        "start": float(motion.time[0]),
        "first": 0.42,
        "height": round(max(float(np.median(np.ptp(heights, axis=(1, 2)))) + 0.1, 5 * thickest), 3),
        "floor": round(_floor(heights, plates), 4),
        "centre": np.round(com.mean(axis=0), 3).tolist(),
        "heading": round(float(np.arctan2(along[1], along[0])), 4),
        "weight": round(weight, 1),
        "arrow": ARROW_LENGTH_M,
        "segments": {
            "radius": [round(stick.radius, 4) for stick in body_capsules(model)],
            "side": [stick.side for stick in body_capsules(model)],
            "ends": pack_vectors(ends),
        },
        "markers": {
            "names": list(motion.markers),
            "model": pack_vectors(placed),
            "measured": pack_vectors(measured),
        },
        "com": pack_vectors(com),
        "feet": feet,
        "plates": [
            np.round(plate.corners, 4).tolist() for plate in plates if plate.corners is not None
        ],
        "events": [
            {
                "time": round(event.time, 4),
                "label": event.label,
                "side": event.context.lower() or "general",
            }
            for event in events
            if motion.time[0] <= event.time <= motion.time[-1]
        ],
    }


def replay_html(data: dict[str, Any], picture: str) -> str:
    """The replay as a part of a page; ``picture`` is seen where scripts are off, and on paper."""
    views = "".join(
        f'<button type="button" data-view="{view}">{view.capitalize()}</button>'
        for view in ("right", "front", "left", "above", "corner")
    )
    boxes = "".join(
        f'<label><input type="checkbox" name="{name}"> {word}</label>'
        for name, word in (
            ("follow", "follow"),
            ("body", "solid"),
            ("markers", "markers"),
            ("names", "names"),
            ("forces", "forces"),
            ("com", "centre of mass"),
        )
    )
    speeds = "".join(
        f'<option value="{speed}"{" selected" if speed == 1 else ""}>{word}</option>'
        for speed, word in ((0.1, "⅒ ×"), (0.25, "¼ ×"), (0.5, "½ ×"), (1, "1 ×"), (2, "2 ×"))
    )
    text = json.dumps(data, separators=(",", ":"), allow_nan=False).replace("</", "<\\/")
    return (
        f'<div id="player" tabindex="0" role="group" aria-label="Replay of the motion">'
        f'<div class="still">{picture}</div>'
        f'<canvas aria-label="The body with markers and ground forces"></canvas>'
        f'<div class="timeline"><div class="events"></div>'
        f'<input type="range" min="0" max="{data["frames"] - 1}" value="0" step="1" '
        f'aria-label="Time"></div>'
        f'<div class="controls"><button type="button" data-do="play" class="play">▶ Play</button>'
        f'<select aria-label="Speed">{speeds}</select><output>0.00 s</output>'
        f'<span class="group">{views}</span><span class="group">{boxes}</span></div>'
        f'<p class="hint">Drag to turn, wheel or two fingers to zoom, shift and drag to move; '
        f"space plays, the arrow keys step, with shift by ten.</p></div>"
        f'<script type="application/json" id="replay-data">{text}</script>'
        f"<script>{asset('replay.js')}</script>"
    )


def pose_strip(motion: Motion, poses: int = 7) -> str:
    """The motion as a row of figures from the right side: an SVG for paper and without scripts."""
    model = motion.model
    axes = Axes.of(model)
    along = walking_direction(motion)
    frames = np.linspace(0, len(motion.q) - 1, poses).astype(int)
    ends = capsule_ends(model, motion.q[frames])
    com = dynamics.center_of_mass(model, motion.q[frames])
    # Figures of somebody who stays in place are put beside each other.
    shift = com @ along
    spread = np.ptp(shift)
    step = max(spread / max(poses - 1, 1), 0.75)
    flat = np.stack([ends @ along, ends @ axes.up], axis=-1)
    flat[..., 0] += (np.arange(poses) * step - shift)[:, None, None]
    low = float(min(flat[..., 1].min(), 0.0))
    high = float(flat[..., 1].max()) + 0.1
    x = (float(flat[..., 0].min()) - 0.2, float(flat[..., 0].max()) + 0.2)
    width = 980.0
    height = float(min(52 + (width - 56) * (high - low) / (x[1] - x[0]), 420))
    plot = Plot(
        "",
        x,
        (low, high),
        "",
        width=width,
        height=height,
        top=6,
        bottom=26,
        x_ticks=[(k * step, f"{motion.time[frame]:.2f} s") for k, frame in enumerate(frames)],
        alt=f"The body at {poses} instants, seen from the right side",
    )
    scale = (width - 56) / (x[1] - x[0])
    side_axis = np.cross(axes.up, along)
    near = (ends @ side_axis).mean(axis=-1)
    for k in range(poses):
        for place in np.argsort(-near[k]):
            stick = body_capsules(model)[place]
            (x0, x1), (y0, y1) = plot.at(flat[k, place, :, 0], flat[k, place, :, 1])
            plot.parts.append(
                f'<path class="limb {stick.side}" stroke-width="{2 * stick.radius * scale:.1f}" '
                f'd="M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}"/>'
            )
    return plot.svg()


def pack_vectors(array: np.ndarray) -> dict[str, Any]:
    """Vectors (..., 3) as 16-bit steps: base64 text, the size of a step, and an offset an axis."""
    rows = np.asarray(array, dtype=float).reshape(-1, 3)
    if not np.isfinite(rows).any():
        steps = np.full(rows.shape, MISSING_STEP, dtype="<i2")
        return {"data": _text(steps), "scale": 1.0, "offset": [0.0, 0.0, 0.0]}
    low, high = np.nanmin(rows, axis=0), np.nanmax(rows, axis=0)
    offset = (low + high) / 2
    scale = float(max((high - low).max() / 2 / 32000.0, 1e-6))
    steps = np.where(np.isfinite(rows), np.rint((rows - offset) / scale), MISSING_STEP).astype(
        "<i2"
    )
    return {"data": _text(steps), "scale": scale, "offset": np.round(offset, 6).tolist()}


def asset(name: str) -> str:
    """The text of a file that belongs to the page."""
    return files("homodyn.report").joinpath("assets", name).read_text(encoding="utf-8")


def _floor(heights: np.ndarray, plates: Sequence[ForcePlate]) -> float:
    corners = [plate.corners[:, 2].mean() for plate in plates if plate.corners is not None]
    if corners:
        return float(np.mean(corners))
    return float(np.clip(np.percentile(heights, 0.5) - 0.03, -0.15, 0.15))


def _text(steps: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(steps).tobytes()).decode("ascii")
