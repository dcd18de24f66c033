"""A simulated movement for people: a page with its replay, curves and tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from homodyn.analysis.result_files import SUMMARY, is_result
from homodyn.analysis.result_tables import write_csv
from homodyn.foundation import atomic_folder
from homodyn.model import Model, save
from homodyn.motion import (
    Event,
    Motion,
)
from homodyn.report.model_drawing import save_figure
from homodyn.report.replay import (
    MAX_REPLAY_RATE_HZ,
    asset,
    pack_vectors,
    pose_strip,
    replay_data,
    replay_html,
)
from homodyn.simulate import (
    ContactGeometry,
    PlaneObstacle,
    SimulationResult,
    gap_distances,
    level_ground,
)

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
    heads = {
        "positions.csv": (position_names(model), record.q),
        "velocities.csv": (model.coordinate_names, record.v),
        "torques.csv": (model.coordinate_names, record.torques),
        "forces.csv": (forces, record.forces.reshape(len(record.time), -1)),
        "energy.csv": (ENERGIES, np.stack([getattr(record.energy, n) for n in ENERGIES], axis=1)),
    }
    with atomic_folder(folder, overwrite=overwrite, is_replaceable=is_result) as temporary:
        save(model, temporary / "model.toml")
        for name, (columns, values) in heads.items():
            write_csv(temporary / name, record.time, list(columns), values)
        save_figure(simulation_figure(record), temporary / "simulation.png")
        (temporary / "replay.html").write_text(simulation_page(record), encoding="utf-8")
        text = json.dumps(simulation_summary(record), indent=2, allow_nan=False)
        (temporary / SUMMARY).write_text(text + "\n", encoding="utf-8")
    return [
        folder / name
        for name in ("model.toml", *heads, "simulation.png", "replay.html", "summary.json")
    ]


def simulation_summary(record: SimulationResult) -> dict[str, Any]:
    """What came of it, in plain numbers (SI units)."""
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
    """Forces of contacts, energy, and the joints that moved most, over time."""
    drawn = Figure(figsize=(9.0, 8.0), layout="constrained", dpi=120)
    force, energy, joints = drawn.subplots(3, 1, sharex=True)
    weight = record.model.mass * float(
        np.linalg.norm(record.model._usual_value(record.model.gravity))
    )
    size = np.linalg.norm(record.forces, axis=2)
    for k in np.argsort(-size.max(axis=0, initial=0.0))[:8]:
        force.plot(record.time, size[:, k], linewidth=1, label=record.contact_names[k])
    force.plot(record.time, np.linalg.norm(record.total_force, axis=1), "k", label="together")
    force.axhline(weight, color="grey", linestyle=":", linewidth=1)
    force.set_ylabel("contact force (N)")
    for name in ENERGIES:
        values = getattr(record.energy, name)
        if name == "events" and not values.any():
            continue
        start = values[0] if name == "potential" else 0.0
        energy.plot(record.time, values - start, linewidth=1, label=name)
    energy.set_ylabel("energy (J), potential from its start")
    moved = np.ptp(record.v, axis=0)
    for k in np.argsort(-moved)[:8]:
        place = record.model.position_index[k]
        if place is not None:
            joints.plot(
                record.time,
                record.q[:, place] - record.q[0, place],
                linewidth=1,
                label=record.model.coordinate_names[k],
            )
    joints.set_ylabel("position from its start (rad, m)")
    joints.set_xlabel("time (s)")
    for plot in (force, energy, joints):
        for event in record.events[:50]:
            plot.axvline(event.time, color="grey", linewidth=0.5)
        if plot.lines:
            plot.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=7, frameon=False)
    force.set_title(f"{record.model.name}: {record.message}", fontsize=10, loc="left")
    return drawn


def simulation_page(record: SimulationResult) -> str:
    """One HTML file with the replay, that needs nothing but itself."""
    motion = _evenly(record)
    data = replay_data(motion, events=_events(record))
    data["feet"] = _arrows(record, motion)
    data["floor"] = _floor(record, data["floor"])
    title = escape(f"{record.model.name}: {record.message}")
    told = "".join(f"<p>{escape(note)}</p>" for note in record.notes)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{asset('page.css')}</style></head><body>"
        f"<header><h1>{escape(record.model.name)}</h1>"
        f'<p class="sub">{escape(record.message)}</p></header><main><section id="replay">'
        f"{replay_html(data, pose_strip(motion))}{told}</section></main></body></html>\n"
    )


def _evenly(record: SimulationResult) -> Motion:
    """The movement at equally spaced instants, at most as many as the replay shows."""
    start, end = float(record.time[0]), float(record.time[-1])
    if end <= start:
        end = start + 1 / MAX_REPLAY_RATE_HZ
    count = max(2, round((end - start) * MAX_REPLAY_RATE_HZ) + 1)
    time = np.linspace(start, end, count)
    nearest = np.clip(np.searchsorted(record.time, time - 1e-9), 0, len(record.time) - 1)
    still = np.zeros((count, record.model.nv))
    return Motion(record.model, time, record.q[nearest], record.v[nearest], still)


def _floor(record: SimulationResult, usual: float) -> float:
    """Height (m) of the level plane of the scene, or what the replay takes without one."""
    scene = record.scene or ContactGeometry(record.model)
    up = level_ground(record.model).normal
    levels = [
        x.height for x in scene.ground or () if isinstance(x, PlaneObstacle) and x.normal == up
    ]
    return float(max(levels)) if levels and record.contact_names else usual


def _arrows(record: SimulationResult, motion: Motion) -> list[dict[str, Any]]:
    """The force of each contact that ever touched, with the place it acts at."""
    if not record.contact_names:
        return []
    nearest = np.clip(np.searchsorted(record.time, motion.time - 1e-9), 0, len(record.time) - 1)
    points = np.asarray(
        gap_distances(record.scene or ContactGeometry(record.model))(motion.q)["point"]
    )
    return [
        {
            "side": "middle",
            "force": pack_vectors(record.forces[nearest, k]),
            "point": pack_vectors(points[:, k]),
        }
        for k in range(points.shape[1])
        if np.any(record.forces[:, k])
    ]


def _events(record: SimulationResult) -> Sequence[Event]:
    return [Event(happening.time, happening.name, "General") for happening in record.events]


def position_names(model: Model) -> list[str]:
    """A name for each entry of q; the entries of quaternions count w, x, y, z."""
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
