"""Folders of results read back: those of an analysis and those of a simulation."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from homodyn.capture import Event, FootForce, Loads, Motion
from homodyn.errors import FormatError
from homodyn.model import WORLD, Model, load
from homodyn.report.files import SUMMARY, position_columns
from homodyn.studio.document import Actor

Columns = Mapping[str, np.ndarray]


def is_result(folder: Path) -> bool:
    """Whether a folder looks like a result: it has a summary."""
    return (folder / SUMMARY).is_file()


def read_result(folder: str | Path) -> Actor:
    """The body, motion and forces in a folder that ``analyze`` or ``simulate`` wrote."""
    folder = Path(folder)
    if not is_result(folder):
        raise FormatError(
            f"it is no folder of results: {SUMMARY} is missing; "
            "homodyn analyze and homodyn simulate write such folders",
            str(folder),
        )
    try:
        summary: dict[str, Any] = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FormatError(f"it cannot be read: {error}", str(folder / SUMMARY)) from error
    if not (folder / "model.toml").is_file():
        raise FormatError(
            "model.toml is missing, so the body that moved is not known; write the result again",
            str(folder),
        )
    model = load(folder / "model.toml")
    analysed = (folder / "motion.csv").is_file()
    read = _analysed if analysed else _simulated
    motion, loads = read(model, folder)
    events = _events(folder / "events.csv") if analysed else _happenings(summary)
    return Actor(
        str(summary.get("trial") or folder.resolve().name),
        model,
        motion.q[0],
        motion,
        loads,
        events,
        source=str(folder),
    )


def read_columns(path: Path) -> dict[str, np.ndarray]:
    """Columns of numbers under their headings without units; NaN where a cell is empty."""
    try:
        with open(path, encoding="utf-8", newline="") as stream:
            rows = [row for row in csv.reader(stream) if row]
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(f"it cannot be read: {error}", str(path)) from error
    if len(rows) < 2:
        raise FormatError("there are no rows of numbers", str(path))
    heads = [head.rpartition(" (")[0] or head for head in rows[0]]
    table = np.empty((len(rows) - 1, len(heads)))
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(heads):
            raise FormatError(
                f"{len(row)} cells under {len(heads)} headings", str(path), f"line {number}"
            )
        try:
            table[number - 2] = [float(cell) if cell else np.nan for cell in row]
        except ValueError as error:
            raise FormatError(str(error), str(path), f"line {number}") from error
    return dict(zip(heads, table.T, strict=True))


def _analysed(model: Model, folder: Path) -> tuple[Motion, Loads | None]:
    path = folder / "motion.csv"
    columns = read_columns(path)
    names, _ = position_columns(model)
    rates = model.coordinate_names
    residuals = read_columns(folder / "markers.csv") if (folder / "markers.csv").is_file() else {}
    markers = tuple(name for name in residuals if name != "time")
    motion = Motion(
        model,
        _block(columns, ["time"], path)[:, 0],
        _block(columns, names, path),
        _block(columns, [f"{name} speed" for name in rates], path),
        _block(columns, [f"{name} acceleration" for name in rates], path),
        markers=markers,
        measured=np.full((len(columns["time"]), len(markers), 3), np.nan),
        residual=_block(residuals, markers, folder / "markers.csv"),
        method=f"read from {folder.name}",
    )
    if not (folder / "torques.csv").is_file():
        return motion, None
    tau = _block(read_columns(folder / "torques.csv"), rates, folder / "torques.csv")
    path = folder / "forces.csv"
    forces = read_columns(path)
    bodies = [
        head.removesuffix(" force x")
        for head in forces
        if head.endswith(" force x") and head != "residual force x"
    ]
    feet = tuple(
        FootForce(
            body,
            _side(body),
            _triple(forces, f"{body} force", path),
            _triple(forces, f"{body} point", path),
            _triple(forces, f"{body} moment", path),
        )
        for body in bodies
    )
    return motion, _loads(
        motion,
        tau,
        feet,
        _triple(forces, "residual force", path),
        _triple(forces, "residual moment", path),
    )


def _simulated(model: Model, folder: Path) -> tuple[Motion, Loads | None]:
    path = folder / "positions.csv"
    columns = read_columns(path)
    time = _block(columns, ["time"], path)[:, 0]
    q = np.column_stack([values for name, values in columns.items() if name != "time"])
    if q.shape[1] != model.nq:
        raise FormatError(f"{q.shape[1]} positions, the model has {model.nq}", str(path))
    v = _block(
        read_columns(folder / "velocities.csv"), model.coordinate_names, folder / "velocities.csv"
    )
    tau = _block(
        read_columns(folder / "torques.csv"), model.coordinate_names, folder / "torques.csv"
    )
    a = np.gradient(v, time, axis=0) if len(time) > 1 else np.zeros_like(v)
    motion = Motion(model, time, q, v, a, method=f"simulated, read from {folder.name}")
    return motion, _loads(motion, tau, (), np.zeros((len(q), 3)), np.zeros((len(q), 3)))


def _loads(
    motion: Motion,
    tau: np.ndarray,
    feet: tuple[FootForce, ...],
    residual_force: np.ndarray,
    residual_moment: np.ndarray,
) -> Loads:
    model = motion.model
    root = tuple(
        k
        for joint, place in zip(model.joints, model.joint_slots, strict=True)
        if joint.parent == WORLD
        for k in range(place.v.start, place.v.stop)
    )
    power = tau * motion.v
    power[:, list(root)] = 0.0
    return Loads(motion, tau, root, residual_force, residual_moment, feet, power)


def _block(columns: Columns, names: Sequence[str], path: Path) -> np.ndarray:
    absent = [name for name in names if name not in columns]
    if absent:
        raise FormatError(f"columns are missing: {', '.join(absent[:5])}", str(path))
    if not names:
        return np.zeros((0, 0))
    return np.column_stack([columns[name] for name in names])


def _triple(columns: Columns, stem: str, path: Path) -> np.ndarray:
    return _block(columns, [f"{stem} {axis}" for axis in "xyz"], path)


def _side(body: str) -> str:
    word = body.lower()
    return "left" if "left" in word else "right" if "right" in word else ""


def _events(path: Path) -> tuple[Event, ...]:
    if not path.is_file():
        return ()
    with open(path, encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream))[1:]
    try:
        return tuple(Event(float(row[0]), row[1], row[2].capitalize()) for row in rows if row)
    except (ValueError, IndexError) as error:
        raise FormatError(f"a row is no event: {error}", str(path)) from error


def _happenings(summary: Mapping[str, Any]) -> tuple[Event, ...]:
    return tuple(
        Event(float(event["time"]), str(event["name"])) for event in summary.get("events", ())
    )
