"""The folder of a simulation: a page with its replay, a figure and tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from homodyn.analysis.result_files import SUMMARY, is_result
from homodyn.analysis.result_tables import write_csv
from homodyn.foundation import atomic_folder
from homodyn.model import Model, save
from homodyn.model.side import side_of
from homodyn.motion import (
    Event,
    Motion,
    PlaneObstacle,
    motion_from_poses,
)
from homodyn.motion.clinical import coordinate_readings
from homodyn.report.colors import SERIES_COLORS, curve_styles
from homodyn.report.html import page_html, paragraph
from homodyn.report.model_drawing import save_figure
from homodyn.report.posed_geometry import body_sides
from homodyn.report.replay import (
    MAX_REPLAY_RATE_HZ,
    pack_vectors,
    pose_strip,
    replay_data,
    replay_html,
)
from homodyn.simulate import (
    ContactGeometry,
    SimulationResult,
    gap_distances,
    level_ground,
)

MAX_CURVES = 8
"""Contacts and joints in the figure, those with the largest values."""
MAX_EVENT_LINES = 50
ENERGIES = ("kinetic", "potential", "actuators", "contacts", "dissipated", "events", "error")


def write_simulation(
    record: SimulationResult, folder: str | Path, *, overwrite: bool = False
) -> list[Path]:
    """Write the page, figure and tables of a simulation, completely or not at all.

    Args:
        record: What `homodyn.simulate.run` returned.
        folder: The folder to write; its parents are created.
        overwrite: Replace a folder that already contains a result.

    Returns:
        The files that were written.

    Raises:
        FormatError: The folder exists and may not be replaced, or cannot be written.
    """
    folder = Path(folder)
    model = record.model
    forces = [f"{name} {axis}" for name in record.contact_names for axis in "xyz"]
    tables = {
        "positions.csv": (position_names(model), record.q),
        "velocities.csv": (model.coordinate_names, record.v),
        "torques.csv": (model.coordinate_names, record.torques),
        "forces.csv": (forces, record.forces.reshape(len(record.time), -1)),
        "energy.csv": (ENERGIES, np.stack([getattr(record.energy, n) for n in ENERGIES], axis=1)),
    }
    with atomic_folder(folder, overwrite=overwrite, is_replaceable=is_result) as temporary:
        save(model, temporary / "model.toml")
        for name, (columns, values) in tables.items():
            write_csv(temporary / name, record.time, list(columns), values)
        save_figure(simulation_figure(record), temporary / "simulation.png")
        (temporary / "replay.html").write_text(simulation_page(record), encoding="utf-8")
        text = json.dumps(simulation_summary(record), indent=2, allow_nan=False)
        (temporary / SUMMARY).write_text(text + "\n", encoding="utf-8")
    return [
        folder / name
        for name in ("model.toml", *tables, "simulation.png", "replay.html", "summary.json")
    ]


def simulation_summary(record: SimulationResult) -> dict[str, Any]:
    """The results of a simulation as plain numbers (SI units)."""
    total = record.total_force
    return {
        "model": record.model.name,
        "duration": float(record.time[-1]),
        "steps": record.steps,
        "status": record.status.name.lower(),
        "message": record.message,
        "notes": list(record.notes),
        "last_contact_force": total[-1].tolist(),
        "largest_contact_force": float(np.linalg.norm(total, axis=1).max(initial=0.0)),
        "deepest_contact": float(-record.distances.min(initial=0.0)),
        "energy_error": float(np.abs(record.energy.error).max()),
        "residual": record.residual,
        "events": [
            {key: value for key, value in asdict(event).items() if key in ("name", "time", "value")}
            for event in record.events
        ],
    }


def simulation_figure(record: SimulationResult) -> Figure:
    """Contact forces, energy, and the coordinates that move most, over time.

    Curves of the right are red and curves of the left are blue.
    """
    figure = Figure(figsize=(9.0, 8.0), layout="constrained", dpi=120)
    force, energy, joints = figure.subplots(3, 1, sharex=True)
    _plot_forces(force, record)
    _plot_energy(energy, record)
    _plot_coordinates(joints, record)
    joints.set_xlabel("time (s)")
    for plot in (force, energy, joints):
        for event in record.events[:MAX_EVENT_LINES]:
            plot.axvline(event.time, color="gray", linewidth=0.5)
        if plot.lines:
            plot.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=7, frameon=False)
    force.set_title(f"{record.model.name}: {record.message}", fontsize=10, loc="left")
    return figure


def _plot_forces(plot: Axes, record: SimulationResult) -> None:
    model = record.model
    weight = model.mass * float(np.linalg.norm(model.nominal_value(model.gravity)))
    size = np.linalg.norm(record.forces, axis=2)
    chosen = np.argsort(-size.max(axis=0, initial=0.0))[:MAX_CURVES]
    names = [record.contact_names[k] for k in chosen]
    styles = curve_styles([_contact_side(model, name) for name in names])
    for k, name, (color, dash) in zip(chosen, names, styles, strict=True):
        plot.plot(record.time, size[:, k], dash, color=color, linewidth=1, label=name)
    plot.plot(record.time, np.linalg.norm(record.total_force, axis=1), "k", label="total")
    plot.axhline(weight, color="gray", linestyle=":", linewidth=1)
    plot.set_ylabel("contact force (N)")


def _plot_energy(plot: Axes, record: SimulationResult) -> None:
    for name, color in zip(ENERGIES, SERIES_COLORS, strict=False):
        values = getattr(record.energy, name)
        if name == "events" and not values.any():
            continue
        start = values[0] if name == "potential" else 0.0
        plot.plot(record.time, values - start, color=color, linewidth=1, label=name)
    plot.set_ylabel("energy (J), potential from its start")


def _plot_coordinates(plot: Axes, record: SimulationResult) -> None:
    model = record.model
    fastest = np.argsort(-np.ptp(record.v, axis=0))[:MAX_CURVES]
    chosen = [(k, q) for k in fastest if (q := model.position_index[k]) is not None]
    names = [model.coordinate_names[k] for k, _ in chosen]
    styles = curve_styles([side_of(name) for name in names])
    for (_, q), name, (color, dash) in zip(chosen, names, styles, strict=True):
        reading = coordinate_readings(model)[name]
        values = reading.sign * (record.q[:, q] - record.q[0, q])
        plot.plot(record.time, values, dash, color=color, linewidth=1, label=reading.title)
    plot.set_ylabel("change of position (rad, m)")


def simulation_page(record: SimulationResult) -> str:
    """The page of a simulation with its replay: one self-contained HTML file."""
    motion = evenly_sampled(record)
    data = replay_data(motion, events=_events(record))
    data["feet"] = _arrows(record, motion)
    data["floor"] = _floor(record, data["floor"])
    replay = f'<section id="replay">{replay_html(data, pose_strip(motion))}</section>'
    notes = "".join(paragraph(note) for note in record.notes)
    title = f"{record.model.name}: {record.message}"
    return page_html(title, record.model.name, record.message, replay + notes)


def evenly_sampled(record: SimulationResult) -> Motion:
    """The motion at the frame rate of the replay."""
    start, end = float(record.time[0]), float(record.time[-1])
    if end <= start:
        end = start + 1 / MAX_REPLAY_RATE_HZ
    count = max(2, round((end - start) * MAX_REPLAY_RATE_HZ) + 1)
    time = np.linspace(start, end, count)
    motion = record.motion
    if motion.frames < 2:
        return motion_from_poses(record.model, time, np.repeat(motion.q, count, axis=0))
    return motion.resample(time)


def _floor(record: SimulationResult, default: float) -> float:
    """Height (m) of the horizontal plane of the scene; ``default`` without one."""
    geometry = record.geometry or ContactGeometry(record.model)
    up = level_ground(record.model).normal
    levels = [
        x.height
        for x in geometry.obstacles
        if isinstance(x, PlaneObstacle) and np.array_equal(x.normal, up)
    ]
    return float(max(levels)) if levels and record.contact_names else default


def _arrows(record: SimulationResult, motion: Motion) -> list[dict[str, Any]]:
    """Force and point of application of each contact that is loaded at some time."""
    if not record.contact_names:
        return []
    nearest = np.clip(np.searchsorted(record.time, motion.time - 1e-9), 0, len(record.time) - 1)
    points = np.asarray(
        gap_distances(record.geometry or ContactGeometry(record.model))(motion.q)["point"]
    )
    return [
        {
            "side": _contact_side(record.model, record.contact_names[k]),
            "force": pack_vectors(record.forces[nearest, k]),
            "point": pack_vectors(points[:, k]),
        }
        for k in range(points.shape[1])
        if np.any(record.forces[:, k])
    ]


def _contact_side(model: Model, name: str) -> str:
    """The side of the body of a contact, which may be one point of a contact shape."""
    body = next((c.body for c in model.contacts if name.startswith(c.name)), "")
    return body_sides(model).get(body, "middle")


def _events(record: SimulationResult) -> Sequence[Event]:
    return [Event(event.time, event.name, "General") for event in record.events]


def position_names(model: Model) -> list[str]:
    """A name for each entry of q; entries of quaternions are named qw, qx, qy, qz."""
    names = [""] * model.nq
    for name, place in zip(model.coordinate_names, model.position_index, strict=True):
        if place is not None:
            names[place] = name
    for joint, slots in zip(model.joints, model.joint_slots, strict=True):
        if joint.quaternion:
            first = slots.q.stop - 4
            for k in range(slots.q.start, first):
                names[k] = f"{joint.name} {'xyz'[k - slots.q.start]}"
            for k, letter in enumerate("wxyz"):
                names[first + k] = f"{joint.name} q{letter}"
    return names
