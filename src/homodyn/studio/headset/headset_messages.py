"""The messages of the headset page: the body, each frame, and the place of the head."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from homodyn.model import Model
from homodyn.model.side import side_of
from homodyn.report.colors import rgb_from_hex, side_color
from homodyn.studio.body_geometry import body_geometry
from homodyn.track.experiments.experiment_run import ShownTarget
from homodyn.track.streams import LiveSample

MAX_COORDINATE_M = 100.0
POSITION_DIGITS = 4


def body_message(model: Model) -> str:
    """The shapes of a body.

    Args:
        model: The model.

    Returns:
        JSON text: radii (m), lengths (m) and colors of its capsules.
    """
    geometry = body_geometry(model)
    colors = []
    for body in geometry.bodies:
        side = side_of(body)
        red, green, blue = rgb_from_hex(side_color(None if side is None else side.value))
        colors.append([red / 255, green / 255, blue / 255])
    data = {
        "kind": "body",
        "model": model.name,
        "radii": geometry.radii.tolist(),
        "lengths": geometry.lengths.tolist(),
        "colors": colors,
    }
    return json.dumps(data, separators=(",", ":"))


def frame_message(
    model: Model,
    sample: LiveSample,
    shown: ShownTarget | None,
    pointer: np.ndarray | None,
    pointer_radius: float,
) -> str:
    """One frame: capsules, forces, pointer and target.

    Args:
        model: The model.
        sample: The result of the frame.
        shown: The target; None without one.
        pointer: (3,), m; None without one.
        pointer_radius: m.

    Returns:
        JSON text, in Z-up axes.
    """
    geometry = body_geometry(model)
    rotation = geometry.rotation
    forces = [
        [*(rotation @ contact.point).tolist(), *(rotation @ contact.force).tolist()]
        for contact in sample.ground.values()
        if np.isfinite(contact.point).all()
    ]
    has_pointer = pointer is not None and bool(np.isfinite(pointer).all())
    data: dict[str, Any] = {
        "kind": "frame",
        "time": round(sample.time, POSITION_DIGITS),
        "ends": np.round(geometry.poses(sample.q).ends[0].astype(float), POSITION_DIGITS)
        .ravel()
        .tolist(),
        "forces": np.round(np.array(forces), POSITION_DIGITS).tolist(),
        "effort": sample.effort,
        "power": sample.power,
        "latency_ms": 1e3 * sample.latency_s,
        "text": "Tracking" if shown is None else shown.text,
        "sound_hz": 0.0 if shown is None else shown.sound_hz,
        "path": [] if shown is None else np.round(shown.path, POSITION_DIGITS).tolist(),
        "pointer": pointer.tolist() if has_pointer and pointer is not None else None,
        "pointer_radius": pointer_radius,
        "target": None,
    }
    if shown is not None:
        data["target"] = {
            "position": shown.position.tolist(),
            "radius": shown.radius,
            "color": list(shown.color),
        }
    return json.dumps(data, separators=(",", ":"), allow_nan=False)


def parse_head(message: str | bytes) -> np.ndarray | None:
    """The place of the headset in a message of the page.

    Args:
        message: Whatever the page sent.

    Returns:
        (3,), m, Z up; None if the message is something else.
    """
    try:
        data = json.loads(message)
        head = np.array(data["head"], dtype=float)
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    if head.shape != (3,) or not (np.abs(head) <= MAX_COORDINATE_M).all():
        return None
    return head
