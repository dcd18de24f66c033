"""A folder of ``homodyn synthesize`` read back: every step in it is a body of its own."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from homodyn.analysis.result_files import SUMMARY
from homodyn.catalog.mirror import MirrorMap, mirror_map
from homodyn.errors import FormatError
from homodyn.model import Model, load
from homodyn.model.side import side_of
from homodyn.motion import (
    ContactForce,
    Event,
    Motion,
)
from homodyn.report.synthesis_folder import step_file_stem
from homodyn.studio.document import Actor, StudioDocument
from homodyn.studio.result_folders import (
    Columns,
    loads_from_torques,
    lowest_contact_points,
    read_columns,
)

MIRROR_Y = np.array([1.0, -1.0, 1.0])
"""The mirror image of a force: left and right exchange."""


def is_steps(folder: Path) -> bool:
    """Whether a folder holds synthesized steps and the body that takes them."""
    return bool(_steps(folder)) and (folder / "model.toml").is_file()


def read_steps(folder: Path) -> StudioDocument:
    """The steps of a folder, side by side in time, each followed by its mirror image."""
    model = load(folder / "model.toml")
    image = mirror_map(model)
    document = StudioDocument()
    for row in _steps(folder):
        actor = _actor(model, image, folder, str(row["name"]), float(row["duration"]))
        document = document.with_actor(replace(actor, events=_read_events(row)))
    return document


def _steps(folder: Path) -> list[dict[str, Any]]:
    try:
        summary = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    steps = summary.get("steps") if isinstance(summary, dict) else None
    rows = steps if isinstance(steps, list) else []
    return [row for row in rows if isinstance(row, dict) and {"name", "duration"} <= set(row)]


def _read_events(row: dict[str, Any]) -> tuple[Event, ...]:
    """The left foot lands as the third phase begins, the right leaves at the end; then mirrored."""
    lasting = float(row["duration"])
    strike = sum([float(x) for x in dict(row.get("phases", {})).values()][:2])
    return (
        Event(strike, "Foot Strike", "Left"),
        Event(lasting, "Foot Off", "Right"),
        Event(lasting + strike, "Foot Strike", "Right"),
        Event(2 * lasting, "Foot Off", "Left"),
    )


def _actor(model: Model, image: MirrorMap, folder: Path, name: str, lasting: float) -> Actor:
    stem = step_file_stem(name)
    time, q = _table(folder / f"{stem}_motion.csv", model.coordinate_names)
    v = np.gradient(q, time, axis=0)
    a = np.gradient(v, time, axis=0)
    motion = Motion(model, time, q, v, a, method=f"step {name!r}, read from {folder.name}")
    is_mirrored = (time // lasting).astype(int) % 2 == 1
    phase = time % lasting

    told, tau = _table(folder / f"{stem}_torques.csv", model.coordinate_names)
    tau = _interpolate_rows(phase, told, tau)
    tau[is_mirrored] = [np.asarray(image.velocity(row)).reshape(-1) for row in tau[is_mirrored]]

    heads = [f"{side} {axis}" for side in ("Right", "Left") for axis in "xyz"]
    told, forces = _table(folder / f"{stem}_forces.csv", heads)
    right, left = np.split(_interpolate_rows(phase, told, forces), 2, axis=1)
    swap = is_mirrored[:, None]
    own = {
        "right": np.where(swap, left * MIRROR_Y, right),
        "left": np.where(swap, right * MIRROR_Y, left),
    }
    feet = tuple(
        ContactForce(body, side, own[side], places, np.zeros_like(places))
        for body, places in lowest_contact_points(model, q).items()
        if (side := side_of(body)) is not None
    )
    return Actor(
        name, model, q[0], motion, loads_from_torques(motion, tau, feet), source=str(folder)
    )


def _table(path: Path, heads: tuple[str, ...] | list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Times (s) and the columns of these headings."""
    columns: Columns = read_columns(path)
    absent = [head for head in ("time", *heads) if head not in columns]
    if absent:
        raise FormatError(f"columns are missing: {', '.join(absent[:5])}", str(path))
    return columns["time"], np.column_stack([columns[head] for head in heads])


def _interpolate_rows(at: np.ndarray, time: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Rows at other instants, along straight lines."""
    return np.column_stack([np.interp(at, time, column) for column in rows.T])
