"""Tables of a result: coordinates, torques, forces, events, energy, work and gait cycles.

Column headings of coordinates are ``name = clinical name (unit)``: the name in the model, and where
there is one the clinical name with its sign, such as ``HipRight_RY = -Right hip flexion (rad)``.
`column_name` gives the name in the model.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from homodyn import dynamics
from homodyn.analysis.curves import CYCLE_PERCENT, BilateralCurve, angle_curves
from homodyn.analysis.load_curves import ground_force_curves, power_curves, torque_curves
from homodyn.analysis.load_validity import joint_work
from homodyn.analysis.opensim_files import write_opensim_motion
from homodyn.analysis.pipeline import Analysis
from homodyn.capture import Table, write_table
from homodyn.capture.kinematics.segment_observability import (
    MAX_UNSEEN_MASS_SHARE,
    seen_segments,
)
from homodyn.errors import FormatError
from homodyn.gait.plug_in_gait import PlugInGaitAngles
from homodyn.model import Model
from homodyn.motion import Event, Loads, Motion
from homodyn.motion.clinical import CoordinateName, coordinate_readings
from homodyn.motion.coordinate_columns import angular_coordinates, position_columns

MEASURED_COLUMN = "measured"
"""Column of forces.csv that is 1 where plates measured all ground contact."""
MAX_CONSTANT_SPEED = 1e-6
"""Speed (rad/s, m/s) below which a coordinate of a table is constant."""
VALID_COLUMN = "valid"
"""Column of torques.csv that is 1 where ground forces and accelerations are known."""


def write_csv(path: Path, time: np.ndarray, heads: Sequence[str], values: np.ndarray) -> None:
    """Write columns over time, separated by commas; cells are empty for NaN.

    Args:
        path: The file.
        time: (rows,), s.
        heads: Headings of the columns.
        values: (rows, columns).
    """
    table = np.column_stack([time, values])
    lines = [",".join(_quote(head) for head in ("time (s)", *heads))]
    lines += [",".join(f"{x:.9g}" if x == x else "" for x in row) for row in table.tolist()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_plug_in_gait(found: PlugInGaitAngles, folder: Path) -> None:
    """Write the angles of Plug-in Gait as ``plug_in_gait.csv``.

    Args:
        found: The angles.
        folder: The folder to write into.
    """
    parts = ("flexion", "adduction", "internal rotation")
    heads = [f"{name} {part} (deg)" for name in found.angles for part in parts]
    values = np.column_stack(list(found.angles.values()))
    write_csv(folder / "plug_in_gait.csv", found.time, heads, values)


def write_rows(path: Path, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write a table of text cells as CSV."""
    with open(path, "w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(head)
        writer.writerows(rows)


def heading_with_unit(name: str, unit: str) -> str:
    """Column heading with the unit in parentheses."""
    return f"{name} ({unit})" if unit else name


def column_name(heading: str) -> str:
    """The name of a column without clinical name and unit.

    Args:
        heading: Such as ``"KneeRight_RY = Right knee flexion (rad)"``.

    Returns:
        Such as ``"KneeRight_RY"``.
    """
    without_unit = heading.rpartition(" (")[0] or heading
    return without_unit.partition(" = ")[0]


def coordinate_headings(
    model: Model, *, quantity: str = "", units: tuple[str, str], signed: bool = True
) -> list[str]:
    """Headings of columns with one value per velocity coordinate.

    Args:
        model: The model.
        quantity: What the columns contain, appended to the names; empty for the coordinate itself.
        units: Unit of angular and of linear coordinates.
        signed: Whether the sign of the quantity follows that of the coordinate.

    Returns:
        ``model.nv`` headings.
    """
    angular = angular_coordinates(model)
    readings = coordinate_readings(model)
    return [
        _coordinate_heading(readings[name], quantity, units[0] if angular[k] else units[1], signed)
        for k, name in enumerate(model.coordinate_names)
    ]


def _coordinate_heading(
    reading: CoordinateName, quantity: str, unit: str, signed: bool = True
) -> str:
    column = f"{reading.coordinate} {quantity}".rstrip()
    if reading.title != reading.coordinate:
        sign = "-" if signed and reading.sign < 0 else ""
        column += f" = {sign}{reading.title} {quantity}".rstrip()
    return heading_with_unit(column, unit)


def position_headings(model: Model) -> list[str]:
    """Headings of columns with one value per entry of q (rad, m)."""
    readings = coordinate_readings(model)
    return [
        _coordinate_heading(readings[column.name], "", column.unit)
        if column.name in readings
        else heading_with_unit(column.name, column.unit or "1")
        for column in position_columns(model)
    ]


def write_motion(motion: Motion, events: Sequence[Event], folder: Path) -> None:
    """Write coordinates, marker errors and events of a motion into a folder."""
    write_coordinates(motion, folder)
    _write_marker_errors(motion, folder)
    _write_events(events, folder)


def write_loads(loads: Loads, folder: Path) -> None:
    """Write torques and ground forces into a folder."""
    _write_torques(loads, folder)
    _write_forces(loads, folder)


def write_coordinates(motion: Motion, folder: Path) -> None:
    """Write coordinates and their derivatives as ``motion.csv``, and for OpenSim ``motion.mot``."""
    model = motion.model
    heads = [
        *position_headings(model),
        *coordinate_headings(model, quantity="speed", units=("rad/s", "m/s")),
        *coordinate_headings(model, quantity="acceleration", units=("rad/s2", "m/s2")),
    ]
    values = np.column_stack([motion.q, motion.v, motion.a])
    write_csv(folder / "motion.csv", motion.time, heads, values)
    write_opensim_motion(motion, folder)


def _write_torques(loads: Loads, folder: Path) -> None:
    model = loads.motion.model
    # There is no torque of a coordinate that no marker shows.
    kept = [
        k for k, name in enumerate(model.coordinate_names) if name not in loads.motion.unobserved
    ]
    every = coordinate_headings(model, units=("N m", "N"))
    tau = loads.tau[:, kept]
    heads = [*(every[k] for k in kept), VALID_COLUMN]
    valid = loads.valid.astype(float)[:, None]
    write_csv(folder / "torques.csv", loads.motion.time, heads, np.hstack([tau, valid]))
    angular = angular_coordinates(model)
    names = tuple(
        f"{model.coordinate_names[k]}_{'moment' if angular[k] else 'force'}" for k in kept
    )
    write_table(
        Table(names, loads.motion.time, tau, title="Inverse Dynamics Generalized Forces"),
        folder / "torques.sto",
    )


def torque_columns(names: Collection[str], motion: Motion, path: Path) -> list[int]:
    """Velocity coordinates with a column in a table of torques.

    Coordinates that no marker shows have no column: they keep constant values.

    Args:
        names: Columns of the table.
        motion: The motion of the table.
        path: The file, for errors.

    Returns:
        Indices of the coordinates, in the order of the model.

    Raises:
        FormatError: A coordinate that moves has no column.
    """
    coordinates = motion.model.coordinate_names
    shown = [k for k, name in enumerate(coordinates) if name in names]
    moves = np.abs(motion.v).max(axis=0, initial=0.0) > MAX_CONSTANT_SPEED
    absent = [name for k, name in enumerate(coordinates) if moves[k] and k not in shown]
    if absent:
        raise FormatError(f"columns are missing: {', '.join(absent)}", str(path))
    return shown


def _write_forces(loads: Loads, folder: Path) -> None:
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


def _write_marker_errors(motion: Motion, folder: Path) -> None:
    heads = [heading_with_unit(name, "m") for name in motion.markers]
    residual = motion.residual if motion.markers else np.zeros((len(motion.time), 0))
    write_csv(folder / "markers.csv", motion.time, heads, residual)


def _write_events(events: Sequence[Event], folder: Path) -> None:
    write_rows(
        folder / "events.csv",
        ["time (s)", "event", "side", "found by"],
        [
            [f"{event.time:.6g}", event.label, event.context.lower(), event.description]
            for event in sorted(events, key=lambda event: event.time)
        ],
    )


def write_energy(analysis: Analysis, folder: Path) -> None:
    """Write the energy of the body and the power of the joints over time.

    There is no energy of a body whose segments no marker shows; without any column there is no
    file.
    """
    motion = analysis.motion
    model = motion.model
    heads, columns = [], []
    if seen_segments(motion).unseen_mass_share <= MAX_UNSEEN_MASS_SHARE:
        kinetic = dynamics.kinetic_energy(model, motion.q, motion.v)
        potential = dynamics.potential_energy(model, motion.q)
        heads = ["kinetic energy (J)", "potential energy (J)", "energy (J)"]
        columns = [kinetic, potential, kinetic + potential]
    if analysis.loads is not None and analysis.loads.power.size:
        power = analysis.loads.power
        heads += ["power of all joints (W)"]
        columns += [power.sum(axis=1)]
        joints = [
            k
            for k, name in enumerate(model.coordinate_names)
            if k not in analysis.loads.root and name not in motion.unobserved
        ]
        every = coordinate_headings(model, quantity="power", units=("W", "W"), signed=False)
        heads += [every[k] for k in joints]
        columns += [power[:, k] for k in joints]
    if columns:
        write_csv(folder / "energy.csv", motion.time, heads, np.array(columns).T)


def write_work(analysis: Analysis, folder: Path) -> None:
    """Write the work of each joint."""
    assert analysis.loads is not None
    write_rows(
        folder / "work.csv",
        ["joint", "side", "strides", "positive (J)", "negative (J)", "net (J)", "absolute (J)"],
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
    """Write mean and standard deviation of all curves at 0 to 100 % of the gait cycle.

    The standard deviation of a single cycle is empty.
    """
    curves: list[BilateralCurve] = list(angle_curves(analysis.motion, analysis.cycles))
    if analysis.loads is not None:
        for word, load_curves in (
            ("torque", torque_curves),
            ("", power_curves),
            ("force", ground_force_curves),
        ):
            curves += [
                replace(curve, title=f"{curve.title} {word}".strip())
                for curve in load_curves(analysis.loads, analysis.cycles)
            ]
    heads, columns = ["gait cycle (%)"], [CYCLE_PERCENT]
    for curve in curves:
        for side, ensemble in curve.ensembles:
            heads += [f"{curve.title} {side} {what} ({curve.unit})" for what in ("mean", "sd")]
            columns += [ensemble.mean, ensemble.sd]
    write_rows(
        folder / "cycles.csv",
        heads,
        [[f"{x:.6g}" if x == x else "" for x in row] for row in np.column_stack(columns).tolist()],
    )


def _quote(word: str) -> str:
    return f'"{word}"' if "," in word or '"' in word else word
