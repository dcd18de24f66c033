"""Result folders of ``homodyn synthesize``: one body per step."""

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
    FOOT_OFF,
    FOOT_STRIKE,
    ContactForce,
    Event,
    Loads,
    MotionSource,
    Side,
    motion_from_poses,
)
from homodyn.motion.mirrored_motion import VECTOR_IMAGE
from homodyn.report.synthesis_folder import step_file_stem
from homodyn.studio.document import Actor, StudioDocument
from homodyn.studio.result_folders import (
    Columns,
    lowest_contact_points,
    read_columns,
)


def is_steps(folder: Path) -> bool:
    """Whether a folder contains synthesized steps and their model."""
    return bool(_steps(folder)) and (folder / "model.toml").is_file()


def read_steps(folder: Path) -> StudioDocument:
    """A document with one body per step of a folder; each step is followed by its mirror image."""
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
    """Events of a step and its mirror image.

    The left foot strikes at the start of the third phase, and the right foot leaves at the end.
    """
    duration = float(row["duration"])
    strike = sum([float(x) for x in dict(row.get("phases", {})).values()][:2])
    right, left = Side.RIGHT.title, Side.LEFT.title
    return (
        Event(strike, FOOT_STRIKE, left),
        Event(duration, FOOT_OFF, right),
        Event(duration + strike, FOOT_STRIKE, right),
        Event(2 * duration, FOOT_OFF, left),
    )


def _actor(model: Model, image: MirrorMap, folder: Path, name: str, duration: float) -> Actor:
    stem = step_file_stem(name)
    time, q = _table(folder / f"{stem}_motion.csv", model.coordinate_names)
    motion = motion_from_poses(
        model,
        time,
        q,
        method=f"step {name!r}, read from {folder.name}",
        source=MotionSource.OPTIMIZED,
    )
    is_mirrored = (time // duration).astype(int) % 2 == 1
    phase = time % duration

    known, tau = _table(folder / f"{stem}_torques.csv", model.coordinate_names)
    tau = _interpolate_rows(phase, known, tau)
    tau[is_mirrored] = [np.asarray(image.velocity(row)).reshape(-1) for row in tau[is_mirrored]]

    heads = [f"{side.title} {axis}" for side in Side for axis in "xyz"]
    known, forces = _table(folder / f"{stem}_forces.csv", heads)
    right, left = np.split(_interpolate_rows(phase, known, forces), 2, axis=1)
    swap = is_mirrored[:, None]
    own = {
        Side.RIGHT: np.where(swap, left * VECTOR_IMAGE, right),
        Side.LEFT: np.where(swap, right * VECTOR_IMAGE, left),
    }
    feet = tuple(
        ContactForce(body, side, own[side], places, np.zeros_like(places))
        for body, places in lowest_contact_points(model, q).items()
        if (side := side_of(body)) is not None
    )
    motion = replace(motion, tau=tau, contact_forces=feet)
    return Actor(name, model, q[0], motion, Loads.from_motion(motion), source=str(folder))


def _table(path: Path, header: tuple[str, ...] | list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Times (s) and the named columns of a table."""
    columns: Columns = read_columns(path)
    absent = [name for name in ("time", *header) if name not in columns]
    if absent:
        raise FormatError(f"columns are missing: {', '.join(absent[:5])}", str(path))
    return columns["time"], np.column_stack([columns[name] for name in header])


def _interpolate_rows(at: np.ndarray, time: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Rows linearly interpolated at other instants."""
    return np.column_stack([np.interp(at, time, column) for column in rows.T])
