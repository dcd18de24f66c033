"""Tables of numbers: coordinates, torques, forces, events, energy, work and gait cycles as CSV."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from homodyn import dynamics
from homodyn.analysis.curves import BilateralCurve, angle_curves
from homodyn.analysis.load_curves import ground_force_curves, power_curves, torque_curves
from homodyn.analysis.load_validity import joint_work
from homodyn.analysis.pipeline import Analysis
from homodyn.capture import (
    Table,
    write_table,
)
from homodyn.model import Model
from homodyn.motion import Event, Loads, Motion

MEASURED_COLUMN = "measured"
"""Heading of the column of forces.csv that is 1 where plates measured all that feet stand on."""


def write_csv(path: Path, time: np.ndarray, heads: Sequence[str], values: np.ndarray) -> None:
    """Columns over time with commas; empty where there is no number."""
    table = np.column_stack([time, values])
    lines = [",".join(_quote(head) for head in ("time (s)", *heads))]
    lines += [",".join(f"{x:.9g}" if x == x else "" for x in row) for row in table.tolist()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_motion(motion: Motion, events: Sequence[Event], folder: Path) -> None:
    """Tables of coordinates, errors of markers and events of a motion, into a folder."""
    _coordinates(motion, folder)
    _markers(motion, folder)
    _events(events, folder)


def write_loads(loads: Loads, folder: Path) -> None:
    """Tables of torques and forces of a motion, into a folder."""
    _torques(loads, folder)
    _forces(loads, folder)


def _coordinates(motion: Motion, folder: Path) -> None:
    model = motion.model
    names, turning = position_columns(model)
    heads = [
        heading_with_unit(name, unit) for name, unit in zip(names, _units(turning), strict=True)
    ]
    rates = [
        heading_with_unit(f"{name} {word}", unit)
        for word, slide, turn in (
            ("speed", "m/s", "rad/s"),
            ("acceleration", "m/s2", "rad/s2"),
        )
        for name, unit in zip(
            model.coordinate_names,
            [turn if turns else slide for turns in rotations(model)],
            strict=True,
        )
    ]
    everything = np.column_stack([motion.q, motion.v, motion.a])
    write_csv(folder / "motion.csv", motion.time, [*heads, *rates], everything)
    degrees = np.where([kind == "turn" for kind in turning], np.rad2deg(1.0), 1.0)
    write_table(
        Table(tuple(names), motion.time, motion.q * degrees, True, "Coordinates"),
        folder / "motion.mot",
    )


def _torques(loads: Loads, folder: Path) -> None:
    model = loads.motion.model
    turns = rotations(model)
    heads = [
        heading_with_unit(name, "N m" if turn else "N")
        for name, turn in zip(model.coordinate_names, turns, strict=True)
    ]
    write_csv(folder / "torques.csv", loads.motion.time, heads, loads.tau)
    names = tuple(
        f"{name}_{'moment' if turn else 'force'}"
        for name, turn in zip(model.coordinate_names, turns, strict=True)
    )
    write_table(
        Table(names, loads.motion.time, loads.tau, title="Inverse Dynamics Generalized Forces"),
        folder / "torques.sto",
    )


def _forces(loads: Loads, folder: Path) -> None:
    heads, columns = [], []
    for foot in loads.feet:
        for word, unit, values in (
            ("force", "N", foot.force),
            ("point", "m", foot.point),
            ("moment", "N m", foot.torque),
        ):
            heads += [heading_with_unit(f"{foot.body} {word} {axis}", unit) for axis in "xyz"]
            columns.append(values)
    for word, unit, values in (
        ("residual force", "N", loads.residual_force),
        ("residual moment", "N m", loads.residual_moment),
    ):
        heads += [heading_with_unit(f"{word} {axis}", unit) for axis in "xyz"]
        columns.append(values)
    heads.append(MEASURED_COLUMN)
    columns.append((loads.covered & (not loads.predicted)).astype(float)[:, None])
    write_csv(folder / "forces.csv", loads.motion.time, heads, np.column_stack(columns))


def _markers(motion: Motion, folder: Path) -> None:
    heads = [heading_with_unit(name, "m") for name in motion.markers]
    residual = motion.residual if motion.markers else np.zeros((len(motion.time), 0))
    write_csv(folder / "markers.csv", motion.time, heads, residual)


def _events(events: Sequence[Event], folder: Path) -> None:
    write_rows(
        folder / "events.csv",
        ["time (s)", "event", "side", "found by"],
        [
            [f"{event.time:.6g}", event.label, event.context.lower(), event.description]
            for event in sorted(events, key=lambda event: event.time)
        ],
    )


def write_energy(analysis: Analysis, folder: Path) -> None:
    """Write energy of the body and power of the joints over time."""
    motion = analysis.motion
    model = motion.model
    kinetic = dynamics.kinetic_energy(model, motion.q, motion.v)
    potential = dynamics.potential_energy(model, motion.q)
    heads = ["kinetic energy (J)", "potential energy (J)", "energy (J)"]
    columns = [kinetic, potential, kinetic + potential]
    if analysis.loads is not None and analysis.loads.power.size:
        heads += ["power of all joints (W)"]
        columns += [analysis.loads.power.sum(axis=1)]
        joints = [k for k in range(model.nv) if k not in analysis.loads.root]
        heads += [f"{model.coordinate_names[k]} power (W)" for k in joints]
        columns += [analysis.loads.power[:, k] for k in joints]
    write_csv(folder / "energy.csv", motion.time, heads, np.column_stack(columns))


def write_work(analysis: Analysis, folder: Path) -> None:
    """Write the work of each joint."""
    assert analysis.loads is not None
    write_rows(
        folder / "work.csv",
        ["joint", "side", "strides", "given (J)", "taken (J)", "net (J)", "absolute (J)"],
        [
            [
                row.joint,
                row.side,
                str(row.strides),
                *(
                    f"{value:.6g}"
                    for value in (row.positive, row.negative, row.net, row.positive - row.negative)
                ),
            ]
            for row in joint_work(analysis.loads, analysis.cycles)
        ],
    )


def write_cycles(analysis: Analysis, folder: Path) -> None:
    """Mean and standard deviation of the curves of the page at 0 to 100 % of the cycle."""
    curves: list[BilateralCurve] = list(angle_curves(analysis.motion, analysis.cycles))
    if analysis.loads is not None:
        for word, make in (
            ("torque", torque_curves),
            ("", power_curves),
            ("force", ground_force_curves),
        ):
            curves += [
                replace(curve, title=f"{curve.title} {word}".strip())
                for curve in make(analysis.loads, analysis.cycles)
            ]
    heads, columns = ["gait cycle (%)"], [np.linspace(0.0, 100.0, 101)]
    for curve in curves:
        for side, strand in curve.ensembles:
            heads += [f"{curve.title} {side} {what} ({curve.unit})" for what in ("mean", "sd")]
            columns += [strand.mean, strand.sd]
    write_rows(
        folder / "cycles.csv",
        heads,
        [[f"{x:.6g}" for x in row] for row in np.column_stack(columns).tolist()],
    )


def position_columns(model: Model) -> tuple[list[str], list[str]]:
    """Names of the entries of q and their kind: ``slide``, ``turn`` or ``quaternion``."""
    names, kinds = [], []
    turns = rotations(model)
    following = {coupler.coordinate for coupler in model.couplers}
    for joint, place in zip(model.joints, model.joint_slots, strict=True):
        own = [c.name for c in joint.coordinates if c.name not in following]
        if joint.quaternion:
            slides = own[:-3]
            names += [*slides, *(f"{joint.name}_{part}" for part in ("qw", "qx", "qy", "qz"))]
            kinds += ["slide"] * len(slides) + ["quaternion"] * 4
        else:
            names += own
            kinds += ["turn" if turns[place.v.start + k] else "slide" for k in range(len(own))]
    return names, kinds


def rotations(model: Model) -> list[bool]:
    """For each entry of v, whether it turns a body (else it slides it)."""
    neutral = model.neutral()
    turns = [False] * model.nv
    for joint, place in zip(model.joints, model.joint_slots, strict=True):
        if place.v.stop > place.v.start:
            turning = dynamics.angular_jacobian(model, neutral, joint.child)
            for k in range(place.v.start, place.v.stop):
                turns[k] = bool(np.abs(turning[:, k]).max() > 1e-9)
    return turns


def _units(kinds: Sequence[str]) -> list[str]:
    return [{"slide": "m", "turn": "rad", "quaternion": "1"}[kind] for kind in kinds]


def heading_with_unit(name: str, unit: str) -> str:
    """Column heading with the unit in parentheses."""
    return f"{name} ({unit})" if unit else name


def _quote(word: str) -> str:
    return f'"{word}"' if "," in word or '"' in word else word


def write_rows(path: Path, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write a table of text cells as CSV."""
    with open(path, "w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(head)
        writer.writerows(rows)
