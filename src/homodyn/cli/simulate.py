"""``homodyn simulate``: simulate a model on level ground."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from homodyn.cli.models import Source, find
from homodyn.cli.option_groups import AsJson, Overwrite

if TYPE_CHECKING:
    import numpy as np

    from homodyn.model import Model


def simulate(
    source: Source,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder for the result.")
    ],
    drop: Annotated[
        float | None,
        typer.Option(help="Initial height above the ground (m); by default in contact."),
    ] = None,
    pose: Annotated[
        Path | None,
        typer.Option(
            metavar="CSV",
            help="Initial pose: a header of coordinates, then positions (rad, m); "
            "or positions.csv of a simulation, whose first row is used.",
        ),
    ] = None,
    torques: Annotated[
        Path | None,
        typer.Option(metavar="CSV", help="Torques over time: time, then coordinates by name."),
    ] = None,
    contact: Annotated[
        str,
        typer.Option(
            metavar="LAW",
            help="Contact law: event_driven, time_stepping, soft, implicit or none.",
        ),
    ] = "implicit",
    hold: Annotated[
        float, typer.Option(help="Stiffness (N m/rad) of servos that hold the initial pose.")
    ] = 0.0,
    duration: Annotated[float, typer.Option(help="Duration (s).")] = 1.0,
    dt: Annotated[float, typer.Option(help="Time step (s).")] = 1e-3,
    integrator: Annotated[
        str,
        typer.Option(
            help="explicit_euler, semi_implicit_euler, leapfrog, heun, rk4, "
            "dormand_prince or implicit_midpoint; rigid and implicit contacts have their own."
        ),
    ] = "semi_implicit_euler",
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Simulate a model on level ground and write a replay, a figure and tables.

    A run that fails writes its result up to the failure, prints the reason, and exits with 1.

    Example: `homodyn simulate heiman --drop 0.05 --hold 500 -o dropped`
    """
    from homodyn.report import write_simulation
    from homodyn.report.simulation_folder import simulation_summary
    from homodyn.simulate import PD, SimulationOptions, SimulationStatus, run

    model = find(source)
    q = _start(model, drop, pose, touching=contact != "none")
    actuation: list[object] = []
    if hold:
        actuation.append(PD(hold, hold / 10, target=q, stable=True))
    if torques is not None:
        actuation.append(_torques(model, torques))
    record = run(
        model,
        q,
        None,
        duration,
        dt,
        contact=contact,
        actuation=tuple(actuation),
        options=SimulationOptions(integrator=integrator, record_interval=max(dt, 1e-3)),
    )
    paths = write_simulation(record, output, overwrite=overwrite)
    if as_json:
        files = [str(path) for path in paths]
        typer.echo(json.dumps({**simulation_summary(record), "files": files}, indent=2))
        raise typer.Exit(int(record.status is not SimulationStatus.FINISHED))
    typer.echo(f"{model.name}: {record.message}")
    for note in record.notes:
        typer.echo(f"note: {note}")
    if record.contact_names:
        force = record.total_force[-1]
        typer.echo(f"contact force at the end: {force[0]:.1f} {force[1]:.1f} {force[2]:.1f} N")
    typer.echo(f"energy error of the integration: {abs(record.energy.error).max():.3g} J")
    for path in paths:
        typer.echo(str(path))
    if record.status is not SimulationStatus.FINISHED:
        raise typer.Exit(1)


def _start(model: Model, drop: float | None, pose: Path | None, touching: bool) -> np.ndarray:
    """The first pose: from a file, or the neutral one with its lowest contact on the ground.

    What has no contacts, or a base that does not float, starts where it is. A file names
    coordinates, the others being neutral, or all that ``positions.csv`` of a simulation has,
    quaternions included.
    """
    import numpy as np

    from homodyn.report.simulation_folder import position_names
    from homodyn.simulate import place_on_ground

    if pose is not None:
        heads, rows = _table(pose)
        named = dict(zip(heads, rows[0], strict=True))
        named.pop("time", None)
        places = position_names(model)
        written = set(named) == set(places)
        if not written:
            _check_coordinates(model, named, pose)
        q = np.array([named[name] for name in places]) if written else model.pose(named)
        return q if drop is None else place_on_ground(model, q, drop)
    neutral = model.neutral()
    floating = bool(model.root)
    if drop is None and not (touching and floating and model.contacts):
        return neutral
    return place_on_ground(model, neutral, drop or 0.0)


def _torques(model: Model, path: Path) -> object:
    import numpy as np

    from homodyn.errors import FormatError
    from homodyn.simulate import SampledTorques

    heads, rows = _table(path)
    if not heads or heads[0] != "time":
        raise FormatError("the first column must be called time", str(path), "line 1")
    _check_coordinates(model, heads[1:], path)
    values = np.zeros((len(rows), model.nv))
    for column, name in enumerate(heads[1:], start=1):
        values[:, model.coordinate_index(name)] = rows[:, column]
    return SampledTorques(rows[:, 0], values)


def _check_coordinates(model: Model, names: Iterable[str], path: Path) -> None:
    """Refuse headings that are no coordinates, by the file they stand in."""
    from homodyn.errors import FormatError
    from homodyn.foundation.text import unknown_name

    for name in names:
        if name not in model.coordinate_names:
            told = unknown_name("coordinate", name, model.coordinate_names)
            raise FormatError(f"{model.name} has {told}", str(path), "line 1")


def _table(path: Path) -> tuple[list[str], np.ndarray]:
    """Heading and rows of a file of comma-separated numbers."""
    import numpy as np

    from homodyn.errors import FormatError

    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(f"it cannot be read: {error}", str(path)) from error
    # Tables that simulations write have the unit of time in their heading.
    heads = [word.strip().removesuffix(" (s)") for word in lines[0].split(",")]
    rows = []
    for number, line in enumerate(lines[1:], start=2):
        if not line.strip():
            continue
        try:
            row = [float(word) for word in line.split(",")]
        except ValueError as error:
            raise FormatError(str(error), str(path), f"line {number}") from error
        wrong = [head for head, x in zip(heads, row, strict=False) if not np.isfinite(x)]
        if wrong:
            raise FormatError(f"{wrong[0]} is no finite number", str(path), f"line {number}")
        if len(row) != len(heads):
            raise FormatError(
                f"{len(row)} numbers under {len(heads)} headings", str(path), f"line {number}"
            )
        rows.append(row)
    if not rows:
        raise FormatError("there are no rows of numbers", str(path))
    return heads, np.array(rows)
