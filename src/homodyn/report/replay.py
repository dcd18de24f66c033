"""Replay of a motion in a page: body, markers, forces and floor, packed for the browser.

Positions are sent in the axes of Homodyn (Z up) as 16-bit integers, at most 50 frames per second;
their resolution of about 0.1 mm is finer than a screen can show.
"""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, product
from typing import Any

import casadi as ca
import numpy as np

from homodyn import dynamics
from homodyn.analysis.curves import walking_direction
from homodyn.capture.kinematics import world_axes
from homodyn.capture.kinematics.segment_observability import (
    MAX_UNSEEN_MASS_SHARE,
    seen_segments,
)
from homodyn.dynamics.tree import Tree
from homodyn.model import WORLD, Body, ContactShape, Model
from homodyn.motion import (
    Event,
    ForcePlate,
    Loads,
    Motion,
)
from homodyn.motion.anatomical_axes import Axes
from homodyn.muscle.path_points import path_points
from homodyn.report.bone_surfaces import bone_surfaces, simplify_surface
from homodyn.report.html import asset
from homodyn.report.posed_geometry import geometry_at_pose, marker_sides
from homodyn.report.svg import Plot
from homodyn.symbolic import kernel

MAX_REPLAY_RATE_HZ = 50.0
"""Largest frame rate (Hz)."""
MISSING_VALUE = -32768
"""The integer that encodes a missing marker."""
ARROW_LENGTH_M = 0.7
"""Length (m) of the arrow of a force of one body weight."""
BODY_DENSITY_KG_M3 = 1000.0
"""Density (kg/m3) from which the radius of bodies without capsules is computed."""
MIN_RADIUS_M, MAX_RADIUS_M = 0.018, 0.085
"""Range of these radii (m)."""

MAX_BONE_TRIANGLES = 240
"""Of the surface of a body, so that a canvas draws all of them in each frame."""
ROTATION_UNITS = 32000
"""Integers that encode the entries of rotations from -1 to 1."""
UNSEEN_SEGMENTS = "Faint segments have no markers: their pose is not known."
"""Hint under the replay of a recording that shows a part of the body."""


@dataclass(frozen=True, eq=False)
class BodyCapsule:
    """A capsule fixed in a body: ends in the axes of the body (m), radius (m), side."""

    body: str
    start: np.ndarray
    end: np.ndarray
    radius: float
    side: str


@lru_cache(maxsize=8)
def body_capsules(model: Model) -> tuple[BodyCapsule, ...]:
    """Capsules that represent the bodies of a model.

    A body has its own capsules, else a bone whose thickness follows from its mass, else its contact
    shapes. If no body has any of these, each is a ball of its mass.
    """
    scene = geometry_at_pose(model, model.neutral())
    bodies = {body.name: body for body in model.bodies}
    capsules = [
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
    covered = {capsule.body for capsule in capsules}
    shares = Counter(name for name, _, _ in scene.bones)
    for name, start, end in scene.bones:
        length = float(np.linalg.norm(end - start))
        if name in covered or length < 1e-3:
            continue
        place = scene.bodies[name]
        mass = float(bodies[name].mass) / shares[name]
        radius = np.sqrt(mass / (BODY_DENSITY_KG_M3 * np.pi * max(length, 0.05)))
        capsules.append(
            BodyCapsule(
                name,
                np.asarray(place.point(start)),
                np.asarray(place.point(end)),
                float(np.clip(0.8 * radius, MIN_RADIUS_M, MAX_RADIUS_M)),
                scene.sides[name],
            )
        )
    covered = {capsule.body for capsule in capsules}
    for contact in model.contacts:
        if contact.body not in covered and contact.body != WORLD:
            capsules += _contact_capsules(contact, scene.sides[contact.body])
    if not capsules:
        capsules = [_ball(body, scene.sides[body.name]) for body in model.bodies]
    return tuple(capsules)


def _contact_capsules(contact: ContactShape, side: str) -> list[BodyCapsule]:
    """A contact shape as a ball, a capsule, or the edges of a box."""
    back = np.asarray(contact.rotation, dtype=float).T
    middle, half = np.asarray(contact.position, float), np.asarray(contact.half_size, float)
    if contact.kind == "box":
        corners = np.array(list(product((-1.0, 1.0), repeat=3)))
        radius = max(0.02 * float(half.max()), 0.002)
        return [
            BodyCapsule(
                contact.body, middle + back @ (half * a), middle + back @ (half * b), radius, side
            )
            for a, b in combinations(corners, 2)
            if np.abs(a - b).sum() == 2
        ]
    arm = back @ [half[0], 0.0, 0.0] if contact.kind in ("line", "capsule") else np.zeros(3)
    is_round = contact.kind in ("sphere", "capsule")
    radius = max(float(contact.radius) if is_round else 0.0, MIN_RADIUS_M / 2)
    return [BodyCapsule(contact.body, middle - arm, middle + arm, radius, side)]


def _ball(body: Body, side: str) -> BodyCapsule:
    """A ball of the mass of a body around its center of mass."""
    center = np.asarray(body.com, dtype=float)
    radius = max((3 * float(body.mass) / (4 * np.pi * BODY_DENSITY_KG_M3)) ** (1 / 3), MIN_RADIUS_M)
    return BodyCapsule(body.name, center, center, radius, side)


def capsule_ends(model: Model, q: np.ndarray) -> np.ndarray:
    """Ends of all capsules, (poses, capsules, 2, 3), m, in the world of the model."""
    index = {name: place for place, name in enumerate(model.body_names)}

    def ends(positions: ca.SX) -> ca.SX:
        placed = Tree(model, positions).placements
        points = [
            placed[index[capsule.body]].point_back(end)
            for capsule in body_capsules(model)
            for end in (capsule.start, capsule.end)
        ]
        return ca.horzcat(*points).T

    return kernel(ends, q=model.nq)(q).reshape(len(q), -1, 2, 3)


def replay_data(
    motion: Motion,
    loads: Loads | None = None,
    events: Sequence[Event] = (),
    plates: Sequence[ForcePlate] = (),
) -> dict[str, Any]:
    """The data of a replay for the browser: numbers, lists and packed arrays.

    A motion with activations shows the muscles of its model as lines.
    Segments that no marker shows are marked as unseen, and with a good part of the mass unseen the
    center of mass is not drawn.
    """
    model = motion.model
    seen = seen_segments(motion)
    turn = world_axes(model)
    stride = max(int(np.ceil(motion.rate / MAX_REPLAY_RATE_HZ - 1e-6)), 1)
    frames = slice(None, None, stride)
    q = motion.q[frames]
    ends = capsule_ends(model, q) @ turn.T
    com = dynamics.center_of_mass(model, q) @ turn.T
    along = turn @ walking_direction(motion)
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
    capsules = body_capsules(model)
    boned = {surface.body for surface in bone_surfaces(model).surfaces}
    max_radius = max(capsule.radius for capsule in capsules)
    return {
        "frames": len(q),
        "rate": motion.rate / stride,
        "start": float(motion.time[0]),
        "first": 0.42,
        "height": round(
            max(float(np.median(np.ptp(heights, axis=(1, 2)))) + 0.1, 5 * max_radius), 3
        ),
        "floor": round(_floor(heights, plates), 4),
        "center": np.round(com.mean(axis=0), 3).tolist(),
        "heading": round(float(np.arctan2(along[1], along[0])), 4),
        "weight": round(weight, 1),
        "arrow": ARROW_LENGTH_M,
        "segments": {
            "radius": [round(capsule.radius, 4) for capsule in capsules],
            "side": [capsule.side for capsule in capsules],
            "unseen": [capsule.body in seen.unseen_bodies for capsule in capsules],
            "bone": [capsule.body in boned for capsule in capsules],
            "ends": pack_vectors(ends),
        },
        "markers": _marker_data(motion, frames),
        "muscles": _muscle_data(motion, frames),
        "bones": _bone_data(model, q, turn),
        "com": pack_vectors(com),
        "com_known": seen.unseen_mass_share <= MAX_UNSEEN_MASS_SHARE,
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


def _marker_data(motion: Motion, frames: slice) -> dict[str, Any]:
    """Names, sides and positions of the markers, on the model and measured."""
    model, turn, q = motion.model, world_axes(motion.model), motion.q[frames]
    placed = measured = np.zeros((len(q), 0, 3))
    if motion.markers:
        order = [marker.name for marker in model.markers]
        columns = [order.index(name) for name in motion.markers]
        placed = dynamics.marker_positions(model, q)[:, columns] @ turn.T
        measured = motion.measured[frames] @ turn.T
    sides = marker_sides(model, motion.markers)
    return {
        "names": list(motion.markers),
        "sides": [sides[name] for name in motion.markers],
        "model": pack_vectors(placed),
        "measured": pack_vectors(measured),
    }


def _muscle_data(motion: Motion, frames: slice) -> dict[str, Any] | None:
    """Paths and activations of the muscles; None without activations."""
    if not motion.activations.size:
        return None
    points, counts = path_points(motion.model, motion.q[frames])
    levels = np.rint(np.nan_to_num(motion.activations[frames], nan=-0.01) * 100).astype("<i2")
    return {
        "counts": list(counts),
        "points": pack_vectors(points @ world_axes(motion.model).T),
        "activations": _base64(levels),
    }


def _bone_data(model: Model, q: np.ndarray, turn: np.ndarray) -> dict[str, Any] | None:
    """Simplified surfaces in the axes of their bodies, and the poses of these; None without."""
    surfaces = [simplify_surface(one, MAX_BONE_TRIANGLES) for one in bone_surfaces(model).surfaces]
    if not surfaces:
        return None
    bodies = list(dict.fromkeys(surface.body for surface in surfaces))
    index = {name: place for place, name in enumerate(model.body_names)}

    def poses(positions: ca.SX) -> ca.SX:
        placed = Tree(model, positions).placements
        rows = [
            ca.vertcat(ca.SX(placed[index[name]].r).T, ca.SX(placed[index[name]].E))
            for name in bodies
        ]
        return ca.vertcat(*rows)

    found = kernel(poses, q=model.nq)(q).reshape(len(q), len(bodies), 4, 3) @ turn.T
    return {
        "body": [bodies.index(surface.body) for surface in surfaces],
        "bodies": len(bodies),
        "side": [surface.side for surface in surfaces],
        "counts": [len(surface.vertices) for surface in surfaces],
        "vertices": pack_vectors(np.concatenate([surface.vertices for surface in surfaces])),
        "triangles": [_base64(surface.triangles.astype("<u2")) for surface in surfaces],
        "origins": pack_vectors(found[:, :, 0]),
        # The axes of each body in the world.
        "axes": _base64(np.rint(found[:, :, 1:] * ROTATION_UNITS).astype("<i2")),
    }


def replay_html(data: dict[str, Any], still: str) -> str:
    """The replay as a part of a page; the image ``still`` is for print and without scripts."""
    views = "".join(
        f'<button type="button" data-view="{view}">{view.capitalize()}</button>'
        for view in ("right", "front", "left", "above", "corner")
    )
    boxes = "".join(
        f'<label><input type="checkbox" name="{name}"> {label}</label>'
        for name, label in (
            ("follow", "follow"),
            ("body", "solid"),
            *((("bones", "bones"),) if data["bones"] else ()),
            ("markers", "markers"),
            ("names", "names"),
            ("forces", "forces"),
            ("com", "center of mass"),
            *((("muscles", "muscles"),) if data["muscles"] else ()),
        )
        if name != "com" or data["com_known"]
    )
    unseen = f" {UNSEEN_SEGMENTS}" if any(data["segments"]["unseen"]) else ""
    speeds = "".join(
        f'<option value="{speed}"{" selected" if speed == 1 else ""}>{label}</option>'
        for speed, label in ((0.1, "⅒ ×"), (0.25, "¼ ×"), (0.5, "½ ×"), (1, "1 ×"), (2, "2 ×"))
    )
    text = json.dumps(data, separators=(",", ":"), allow_nan=False).replace("</", "<\\/")
    return (
        f'<div id="player" tabindex="0" role="group" aria-label="Replay of the motion">'
        f'<div class="still">{still}</div>'
        f'<canvas aria-label="The body with markers and ground forces"></canvas>'
        f'<div class="timeline"><div class="events"></div>'
        f'<input type="range" min="0" max="{data["frames"] - 1}" value="0" step="1" '
        f'aria-label="Time"></div>'
        f'<div class="controls"><button type="button" data-do="play" class="play">▶ Play</button>'
        f'<select aria-label="Speed">{speeds}</select><output>0.00 s</output>'
        f'<span class="group">{views}</span><span class="group">{boxes}</span></div>'
        f'<p class="hint">Drag to rotate, scroll or pinch to zoom, Shift+drag to pan. Space plays '
        f"and pauses; the arrow keys step one frame, with Shift ten frames.{unseen}</p></div>"
        f'<script type="application/json" id="replay-data">{text}</script>'
        f"<script>{asset('replay.js')}</script>"
    )


def pose_strip(motion: Motion, poses: int = 7) -> str:
    """The body at several instants, from the right side: an SVG for print and without scripts."""
    model = motion.model
    axes = Axes.of(model)
    along = walking_direction(motion)
    frames = np.linspace(0, len(motion.q) - 1, poses).astype(int)
    ends = capsule_ends(model, motion.q[frames])
    com = dynamics.center_of_mass(model, motion.q[frames])
    # Poses of a motion in place are drawn side by side.
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
    depth = (ends @ side_axis).mean(axis=-1)
    unseen = seen_segments(motion).unseen_bodies
    for k in range(poses):
        for place in np.argsort(-depth[k]):
            capsule = body_capsules(model)[place]
            (x0, x1), (y0, y1) = plot.at(flat[k, place, :, 0], flat[k, place, :, 1])
            faint = " unseen" if capsule.body in unseen else ""
            plot.parts.append(
                f'<path class="limb {capsule.side}{faint}" '
                f'stroke-width="{2 * capsule.radius * scale:.1f}" '
                f'd="M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}"/>'
            )
    return plot.svg()


def pack_vectors(array: np.ndarray) -> dict[str, Any]:
    """Vectors (..., 3) as 16-bit integers: base64 text, a scale, and an offset per axis.

    NaN becomes `MISSING_VALUE`.
    """
    rows = np.asarray(array, dtype=float).reshape(-1, 3)
    if not np.isfinite(rows).any():
        integers = np.full(rows.shape, MISSING_VALUE, dtype="<i2")
        return {"data": _base64(integers), "scale": 1.0, "offset": [0.0, 0.0, 0.0]}
    low, high = np.nanmin(rows, axis=0), np.nanmax(rows, axis=0)
    offset = (low + high) / 2
    scale = float(max((high - low).max() / 2 / 32000.0, 1e-6))
    integers = np.where(np.isfinite(rows), np.rint((rows - offset) / scale), MISSING_VALUE).astype(
        "<i2"
    )
    return {"data": _base64(integers), "scale": scale, "offset": np.round(offset, 6).tolist()}


def _floor(heights: np.ndarray, plates: Sequence[ForcePlate]) -> float:
    corners = [plate.corners[:, 2].mean() for plate in plates if plate.corners is not None]
    if corners:
        return float(np.mean(corners))
    return float(np.clip(np.percentile(heights, 0.5) - 0.03, -0.15, 0.15))


def _base64(integers: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(integers).tobytes()).decode("ascii")
