"""Result folders of analyses, reconstructions and simulations, read as bodies."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from homodyn.analysis.muscle_tables import with_stored_activations
from homodyn.analysis.result_files import SUMMARY
from homodyn.analysis.result_tables import column_name, torque_columns
from homodyn.errors import FormatError
from homodyn.model import Model, load
from homodyn.model.side import side_of
from homodyn.motion import (
    Axes,
    ContactForce,
    Event,
    Loads,
    Motion,
    MotionSource,
    Side,
    motion_from_states,
)
from homodyn.motion.coordinate_columns import position_columns
from homodyn.simulate import ContactGeometry, gap_distances
from homodyn.studio.document import Actor

Columns = Mapping[str, np.ndarray]
MEASURED_FILE = "measured.csv"
"""Measured marker positions; written by the studio only."""


def is_result(folder: Path) -> bool:
    """Whether a folder contains the summary of a result."""
    return (folder / SUMMARY).is_file()


def read_result(folder: str | Path) -> Actor:
    """The body, motion and loads in a folder of ``analyze``, ``reconstruct`` or ``simulate``.

    Raises:
        FormatError: The folder does not contain a complete result.
    """
    folder = Path(folder)
    if not is_result(folder):
        raise FormatError(
            f"this is not a result folder: {SUMMARY} is missing; "
            "homodyn analyze, reconstruct, simulate and synthesize write result folders",
            str(folder),
        )
    try:
        summary: dict[str, Any] = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FormatError(f"the file cannot be read: {error}", str(folder / SUMMARY)) from error
    if not (folder / "model.toml").is_file():
        raise FormatError(
            "model.toml is missing, so the model is unknown; write the result again",
            str(folder),
        )
    model = load(folder / "model.toml")
    analyzed = (folder / "motion.csv").is_file()
    reconstructed = analyzed and (folder / "tracking.csv").is_file()
    read = (
        _read_reconstruction if reconstructed else _read_analysis if analyzed else _read_simulation
    )
    motion, loads = read(model, folder)
    events = _read_events(folder / "events.csv") if analyzed else _simulation_events(summary)
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
    """Columns of a CSV table by name, without clinical names and units; empty cells are NaN.

    Raises:
        FormatError: The file cannot be read, or a row is incomplete.
    """
    try:
        with open(path, encoding="utf-8", newline="") as stream:
            rows = [row for row in csv.reader(stream) if row]
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(f"the file cannot be read: {error}", str(path)) from error
    if len(rows) < 2:
        raise FormatError("the table has no rows", str(path))
    names = [column_name(heading) for heading in rows[0]]
    table = np.empty((len(rows) - 1, len(names)))
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(names):
            raise FormatError(
                f"{len(row)} cells in a table of {len(names)} columns", str(path), f"line {number}"
            )
        try:
            table[number - 2] = [float(cell) if cell else np.nan for cell in row]
        except ValueError as error:
            raise FormatError(str(error), str(path), f"line {number}") from error
    return dict(zip(names, table.T, strict=True))


def _read_reconstruction(model: Model, folder: Path) -> tuple[Motion, Loads | None]:
    """A result of ``reconstruct``, whose torques and forces have their own instants.

    The tables do not contain the center of pressure: the mean of the lowest contact points of a
    foot is used instead.
    """
    motion = _read_motion(model, folder)
    path = folder / "torques.csv"
    torques = read_columns(path)
    tau = np.zeros((len(motion.time), model.nv))
    for k, name in enumerate(model.coordinate_names):
        if name in torques:
            tau[:, k] = np.interp(motion.time, torques["time"], torques[name])
    path = folder / "forces.csv"
    forces = read_columns(path)
    places = lowest_contact_points(model, motion.q)
    feet = []
    for side in Side:
        rows = _triple(forces, side.title, path)
        force = np.column_stack([np.interp(motion.time, forces["time"], x) for x in rows.T])
        body = next((name for name in places if side_of(name) is side), "")
        if body:
            feet.append(
                ContactForce(body, side_of(body), force, places[body], np.zeros_like(force))
            )
    motion = replace(motion, tau=tau, contact_forces=tuple(feet), source=MotionSource.OPTIMIZED)
    return motion, Loads.from_motion(motion)


def lowest_contact_points(model: Model, q: np.ndarray) -> dict[str, np.ndarray]:
    """By body, the mean (frames, 3), m, of its contact points within 2 cm of the lowest one."""
    scene = ContactGeometry(model)
    if not scene.names:
        return {}
    seen = gap_distances(scene)(q)
    points, heights = np.asarray(seen["point"]), np.asarray(seen["distance"])
    found = {}
    for contact in model.contacts:
        others = [c.name for c in model.contacts if c.body == contact.body]
        own = [any(_names_gap(name, gap) for name in others) for gap in scene.names]
        low = heights[:, own]
        share = (low < low.min(axis=1, keepdims=True) + 0.02).astype(float)
        share /= share.sum(axis=1, keepdims=True)
        found[contact.body] = np.einsum("tc,tcx->tx", share, points[:, own])
    return found


def _read_motion(model: Model, folder: Path) -> Motion:
    """Coordinates over time, with marker errors where the folder has them."""
    path = folder / "motion.csv"
    columns = read_columns(path)
    names = [column.name for column in position_columns(model)]
    rates = model.coordinate_names
    residuals = read_columns(folder / "markers.csv") if (folder / "markers.csv").is_file() else {}
    markers = tuple(name for name in residuals if name != "time")
    return Motion(
        model,
        _block(columns, ["time"], path)[:, 0],
        _block(columns, names, path),
        _block(columns, [f"{name} speed" for name in rates], path),
        _block(columns, [f"{name} acceleration" for name in rates], path),
        markers=markers,
        measured=_read_measured(markers, len(columns["time"]), folder / MEASURED_FILE),
        residual=_block(residuals, markers, folder / "markers.csv"),
        method=f"read from {folder.name}",
        source=MotionSource.RECORDED,
    )


def _read_measured(markers: Sequence[str], frames: int, path: Path) -> np.ndarray:
    """(frames, markers, 3), m; NaN where unknown."""
    if not markers or not path.is_file():
        return np.full((frames, len(markers), 3), np.nan)
    heads = [f"{name} {axis}" for name in markers for axis in "xyz"]
    return _block(read_columns(path), heads, path).reshape(frames, len(markers), 3)


def _read_analysis(model: Model, folder: Path) -> tuple[Motion, Loads | None]:
    motion = with_stored_activations(_read_motion(model, folder), folder)
    path = folder / "torques.csv"
    if not path.is_file():
        return motion, None
    torques = read_columns(path)
    shown = torque_columns(torques, motion, path)
    tau = np.zeros((motion.frames, model.nv))
    tau[:, shown] = _block(torques, [model.coordinate_names[k] for k in shown], path)
    path = folder / "forces.csv"
    forces = read_columns(path)
    bodies = [
        head.removesuffix(" force x")
        for head in forces
        if head.endswith(" force x") and head != "residual force x"
    ]
    feet = tuple(
        ContactForce(
            body,
            side_of(body),
            _triple(forces, f"{body} force", path),
            _triple(forces, f"{body} point", path),
            _triple(forces, f"{body} moment", path),
        )
        for body in bodies
    )
    return motion, Loads.from_torques(
        motion,
        tau,
        feet,
        residual_force=_triple(forces, "residual force", path),
        residual_moment=_triple(forces, "residual moment", path),
    )


def _read_simulation(model: Model, folder: Path) -> tuple[Motion, Loads | None]:
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
    kept = np.flatnonzero(np.append(np.diff(time) > 0, True))
    motion = motion_from_states(
        model,
        time[kept],
        q[kept],
        v[kept],
        tau=tau[kept],
        method=f"simulated, read from {folder.name}",
        source=MotionSource.SIMULATED,
    )
    forces = _read_contact_forces(model, q, folder / "forces.csv")
    motion = replace(motion, contact_forces=tuple(force.take(kept) for force in forces))
    return motion, Loads.from_motion(motion)


def _read_contact_forces(model: Model, q: np.ndarray, path: Path) -> tuple[ContactForce, ...]:
    """Forces of contacts in a file; none where they are not those of the model on level ground."""
    if not path.is_file():
        return ()
    columns = read_columns(path)
    scene = ContactGeometry(model)
    heads = [f"{name} {axis}" for name in scene.names for axis in "xyz"]
    if not heads or any(head not in columns for head in heads):
        return ()
    forces = _block(columns, heads, path).reshape(len(q), -1, 3)
    points = np.asarray(gap_distances(scene)(q)["point"])
    up = Axes.of(model).up
    found = []
    for body in dict.fromkeys(contact.body for contact in model.contacts):
        names = [contact.name for contact in model.contacts if contact.body == body]
        own = [any(_names_gap(name, gap) for name in names) for gap in scene.names]
        if forces[:, own].any():
            found.append(ContactForce.from_points(body, forces[:, own], points[:, own], up))
    return tuple(found)


def _names_gap(contact: str, gap: str) -> bool:
    """Whether a gap belongs to a contact: it has its name, or its name and a suffix."""
    return gap == contact or gap.startswith((f"{contact}.", f"{contact} "))


def _block(columns: Columns, names: Sequence[str], path: Path) -> np.ndarray:
    absent = [name for name in names if name not in columns]
    if absent:
        raise FormatError(f"columns are missing: {', '.join(absent[:5])}", str(path))
    if not names:
        return np.zeros((0, 0))
    return np.column_stack([columns[name] for name in names])


def _triple(columns: Columns, stem: str, path: Path) -> np.ndarray:
    return _block(columns, [f"{stem} {axis}" for axis in "xyz"], path)


def _read_events(path: Path) -> tuple[Event, ...]:
    if not path.is_file():
        return ()
    with open(path, encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream))[1:]
    try:
        return tuple(Event(float(row[0]), row[1], row[2].capitalize()) for row in rows if row)
    except (ValueError, IndexError) as error:
        raise FormatError(f"a row is not a valid event: {error}", str(path)) from error


def _simulation_events(summary: Mapping[str, Any]) -> tuple[Event, ...]:
    return tuple(
        Event(float(event["time"]), str(event["name"])) for event in summary.get("events", ())
    )
