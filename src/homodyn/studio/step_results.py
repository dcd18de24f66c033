"""Result folders of ``homodyn synthesize``: one body per step."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from homodyn.analysis.result_files import SUMMARY
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
    document = StudioDocument()
    for row in _steps(folder):
        actor = _actor(model, folder, str(row["name"]))
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


def _actor(model: Model, folder: Path, name: str) -> Actor:
    stem = step_file_stem(name)
    time, q = _table(folder / f"{stem}_motion.csv", model.coordinate_names)
    motion = motion_from_poses(
        model,
        time,
        q,
        method=f"step {name!r}, read from {folder.name}",
        source=MotionSource.OPTIMIZED,
    )
    _, tau = _table(folder / f"{stem}_torques.csv", model.coordinate_names, time)
    heads = [f"{side.title} {axis}" for side in Side for axis in "xyz"]
    _, forces = _table(folder / f"{stem}_forces.csv", heads, time)
    own = dict(zip(Side, np.split(forces, 2, axis=1), strict=True))
    feet = tuple(
        ContactForce(body, side, own[side], places, np.zeros_like(places))
        for body, places in lowest_contact_points(model, q).items()
        if (side := side_of(body)) is not None
    )
    motion = replace(motion, tau=tau, contact_forces=feet)
    return Actor(name, model, q[0], motion, Loads.from_motion(motion), source=str(folder))


def _table(
    path: Path, header: tuple[str, ...] | list[str], time: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Times (s) and the named columns of a table; its times must be those given."""
    columns: Columns = read_columns(path)
    absent = [name for name in ("time", *header) if name not in columns]
    if absent:
        raise FormatError(f"columns are missing: {', '.join(absent[:5])}", str(path))
    if time is not None and not np.array_equal(columns["time"], time):
        raise FormatError("its times are not those of the motion; synthesize again", str(path))
    return columns["time"], np.column_stack([columns[name] for name in header])
