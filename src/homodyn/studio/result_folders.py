"""Folders of results read back: of an analysis, a reconstruction or a simulation."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from homodyn.analysis.result_files import SUMMARY
from homodyn.analysis.result_tables import position_columns
from homodyn.errors import FormatError
from homodyn.model import WORLD, Model, load
from homodyn.model.side import side_of
from homodyn.motion import (
    ContactForce,
    Event,
    Loads,
    Motion,
)
from homodyn.simulate import ContactGeometry, gap_distances
from homodyn.studio.document import Actor

Columns = Mapping[str, np.ndarray]
MEASURED_FILE = "measured.csv"
"""Where markers were measured; only the studio writes it."""


def is_result(folder: Path) -> bool:
    """Whether a folder looks like a result: it has a summary."""
    return (folder / SUMMARY).is_file()


def read_result(folder: str | Path) -> Actor:
    """Body, motion and forces in a folder of ``analyze``, ``reconstruct`` or ``simulate``."""
    folder = Path(folder)
    if not is_result(folder):
        raise FormatError(
            f"it is no folder of results: {SUMMARY} is missing; "
            "homodyn analyze, reconstruct, simulate and synthesize write such folders",
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
    reconstructed = analysed and (folder / "tracking.csv").is_file()
    read = (
        _read_reconstruction if reconstructed else _read_analysis if analysed else _read_simulation
    )
    motion, loads = read(model, folder)
    events = _read_events(folder / "events.csv") if analysed else _simulation_events(summary)
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


def _read_reconstruction(model: Model, folder: Path) -> tuple[Motion, Loads | None]:
    """A result of ``reconstruct``: torques of driven joints and forces of sides, at own instants.

    Where a foot is pressed is not in the tables: the mean of its lowest places of contact stands
    for it.
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
    for side in ("Right", "Left"):
        rows = _triple(forces, side, path)
        force = np.column_stack([np.interp(motion.time, forces["time"], x) for x in rows.T])
        body = next((name for name in places if side_of(name) == side.lower()), "")
        if body:
            feet.append(
                ContactForce(body, side_of(body), force, places[body], np.zeros_like(force))
            )
    return motion, loads_from_torques(motion, tau, tuple(feet))


def lowest_contact_points(model: Model, q: np.ndarray) -> dict[str, np.ndarray]:
    """By body, the mean (frames, 3), m, of its places of contact within 2 cm of its lowest one."""
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
    """Coordinates over time, with the errors of markers where they are told."""
    path = folder / "motion.csv"
    columns = read_columns(path)
    names, _ = position_columns(model)
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
    )


def _read_measured(markers: Sequence[str], frames: int, path: Path) -> np.ndarray:
    """(frames, markers, 3), m; NaN where it is not told."""
    if not markers or not path.is_file():
        return np.full((frames, len(markers), 3), np.nan)
    heads = [f"{name} {axis}" for name in markers for axis in "xyz"]
    return _block(read_columns(path), heads, path).reshape(frames, len(markers), 3)


def _read_analysis(model: Model, folder: Path) -> tuple[Motion, Loads | None]:
    motion = _read_motion(model, folder)
    rates = model.coordinate_names
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
        ContactForce(
            body,
            side_of(body),
            _triple(forces, f"{body} force", path),
            _triple(forces, f"{body} point", path),
            _triple(forces, f"{body} moment", path),
        )
        for body in bodies
    )
    return motion, loads_from_torques(
        motion,
        tau,
        feet,
        _triple(forces, "residual force", path),
        _triple(forces, "residual moment", path),
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
    a = np.gradient(v, time, axis=0) if len(time) > 1 else np.zeros_like(v)
    motion = Motion(model, time, q, v, a, method=f"simulated, read from {folder.name}")
    return motion, loads_from_torques(
        motion, tau, _read_contact_forces(motion, folder / "forces.csv")
    )


def _read_contact_forces(motion: Motion, path: Path) -> tuple[ContactForce, ...]:
    """Forces of contacts in a file; none where they are not those of the model on level ground."""
    if not path.is_file():
        return ()
    columns = read_columns(path)
    scene = ContactGeometry(motion.model)
    heads = [f"{name} {axis}" for name in scene.names for axis in "xyz"]
    if not heads or any(head not in columns for head in heads):
        return ()
    forces = _block(columns, heads, path).reshape(len(motion.time), -1, 3)
    points = np.asarray(gap_distances(scene)(motion.q)["point"])
    return foot_forces(motion.model, scene.names, forces, points)


def foot_forces(
    model: Model, names: Sequence[str], forces: np.ndarray, points: np.ndarray
) -> tuple[ContactForce, ...]:
    """Forces (frames, contacts, 3), N, that act at points (m), gathered by the body they act on.

    Each body's point is the mean of its points weighted by the size of their forces; what turns it
    about there is its moment. Bodies that are never touched are left out.
    """
    owner = {contact.name: contact.body for contact in model.contacts}
    bodies = [
        next((body for contact, body in owner.items() if _names_gap(contact, name)), "")
        for name in names
    ]
    found = []
    for body in dict.fromkeys(body for body in bodies if body):
        own = np.array([known == body for known in bodies])
        force, point = forces[:, own], points[:, own]
        size = np.linalg.norm(force, axis=2)
        total = size.sum(axis=1)
        if not total.any():
            continue
        share = np.divide(
            size, total[:, None], out=np.full(size.shape, np.nan), where=total[:, None] > 0
        )
        center = np.einsum("tc,tcx->tx", share, point)
        moment = np.nan_to_num(np.cross(point - center[:, None], force)).sum(axis=1)
        found.append(ContactForce(body, side_of(body), force.sum(axis=1), center, moment))
    return tuple(found)


def _names_gap(contact: str, gap: str) -> bool:
    """Whether a gap is one of a contact: its name, or that with a place after it."""
    return gap == contact or gap.startswith((f"{contact}.", f"{contact} "))


def loads_from_torques(
    motion: Motion,
    tau: np.ndarray,
    feet: tuple[ContactForce, ...],
    residual_force: np.ndarray | None = None,
    residual_moment: np.ndarray | None = None,
) -> Loads:
    """Torques and forces on feet, with the power of the joints; residuals are zero if left out."""
    model = motion.model
    nothing = np.zeros((len(motion.time), 3))
    residual_force = nothing if residual_force is None else residual_force
    residual_moment = nothing if residual_moment is None else residual_moment
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


def _read_events(path: Path) -> tuple[Event, ...]:
    if not path.is_file():
        return ()
    with open(path, encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream))[1:]
    try:
        return tuple(Event(float(row[0]), row[1], row[2].capitalize()) for row in rows if row)
    except (ValueError, IndexError) as error:
        raise FormatError(f"a row is no event: {error}", str(path)) from error


def _simulation_events(summary: Mapping[str, Any]) -> tuple[Event, ...]:
    return tuple(
        Event(float(event["time"]), str(event["name"])) for event in summary.get("events", ())
    )
