"""``homodyn simulate``: simulate a model on level ground."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from homodyn.cli.json_output import fail_with_json, print_json
from homodyn.cli.models import Source, find
from homodyn.cli.option_groups import AsJson, OutputFolder, Overwrite
from homodyn.cli.progress import stage_progress

if TYPE_CHECKING:
    import numpy as np

    from homodyn.model import Model


def simulate(
    source: Source,
    output: OutputFolder,
    drop: Annotated[
        float | None,
        typer.Option(metavar="M", help="Initial height above ground (m); in contact by default."),
    ] = None,
    pose: Annotated[
        Path | None,
        typer.Option(
            metavar="CSV",
            help="Initial pose: a header of coordinates or clinical names, then positions "
            "(rad, m); or positions.csv of a simulation, whose first row is used.",
        ),
    ] = None,
    torques: Annotated[
        Path | None,
        typer.Option(
            metavar="CSV", help="Torques over time: time, then coordinates or clinical names."
        ),
    ] = None,
    contact: Annotated[
        str,
        typer.Option(
            metavar="LAW",
            help="Contact law: event_driven, time_stepping, soft, implicit or none.",
        ),
    ] = "implicit",
    hold: Annotated[
        float,
        typer.Option(metavar="K", help="Stiffness (N m/rad) of servos that hold the initial pose."),
    ] = 0.0,
    duration: Annotated[float, typer.Option(metavar="S", help="Duration (s).")] = 1.0,
    dt: Annotated[float, typer.Option(metavar="S", help="Time step (s).")] = 1e-3,
    integrator: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="explicit_euler, semi_implicit_euler, leapfrog, heun, rk4, dormand_prince or "
            "implicit_midpoint; rigid and implicit contacts have their own.",
        ),
    ] = "semi_implicit_euler",
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Simulate a model on level ground and write a replay, a figure and tables.

    A simulation that fails writes its result up to the failure and exits with code 1.

    Example: `homodyn simulate heiman --drop 0.05 --hold 500 -o dropped`
    """
    from homodyn.report import write_simulation
    from homodyn.report.simulation_folder import simulation_summary
    from homodyn.simulate import PD, SimulationOptions, SimulationStatus, run

    model = find(source)
    q = _initial_pose(model, drop, pose, touching=contact != "none")
    actuation: list[object] = []
    if hold:
        actuation.append(PD(hold, hold / 10, target=q, stable=True))
    if torques is not None:
        actuation.append(_torques(model, torques))
    with stage_progress("simulating") as show:
        result = run(
            model,
            q,
            None,
            duration,
            dt,
            contact=contact,
            actuation=tuple(actuation),
            options=SimulationOptions(integrator=integrator, record_interval=max(dt, 1e-3)),
        )
        show("writing")
        paths = write_simulation(result, output, overwrite=overwrite)
    failed = result.status is not SimulationStatus.FINISHED
    if as_json:
        summary = {**simulation_summary(result), "files": paths}
        if failed:
            fail_with_json(summary, result.message)
        print_json(summary)
        return
    typer.echo(f"{model.name}: {result.message}")
    for note in result.notes:
        typer.echo(f"note: {note}")
    if result.contact_names:
        force = result.total_force[-1]
        typer.echo(f"contact force at the end: {force[0]:.1f} {force[1]:.1f} {force[2]:.1f} N")
    typer.echo(f"energy error of the integration: {abs(result.energy.error).max():.3g} J")
    for path in paths:
        typer.echo(str(path))
    if failed:
        raise typer.Exit(1)


def _initial_pose(
    model: Model, drop: float | None, pose: Path | None, touching: bool
) -> np.ndarray:
    """The initial pose: from a file, or the neutral pose with its lowest contact on the ground.

    A model without contacts or with a fixed base stays in its neutral pose. A file has columns for
    some coordinates, the others being neutral, or all columns of ``positions.csv`` of a
    simulation, quaternions included.
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
        if written:
            q = np.array([named[name] for name in places])
        else:
            q = model.pose(_resolve_values(model, named, pose))
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
    values = np.zeros((len(rows), model.nv))
    columns = dict(zip(heads[1:], rows[:, 1:].T, strict=True))
    for name, column in _resolve_values(model, columns, path).items():
        values[:, model.coordinate_index(name)] = column
    return SampledTorques(rows[:, 0], values)


def _resolve_values(model: Model, values: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Values of a file by coordinate; its columns may have clinical or OpenSim names."""
    from homodyn.errors import FormatError, HomodynError
    from homodyn.motion.clinical import resolve_values

    try:
        return resolve_values(model, values)
    except HomodynError as error:
        raise FormatError(str(error), str(path), "line 1") from error


def _table(path: Path) -> tuple[list[str], np.ndarray]:
    """Column names and rows of a file of comma-separated numbers."""
    import numpy as np

    from homodyn.errors import FormatError

    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(f"it cannot be read: {error}", str(path)) from error
    # Tables written by simulations have the unit of time in their header.
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
            raise FormatError(f"{wrong[0]} is not finite", str(path), f"line {number}")
        if len(row) != len(heads):
            raise FormatError(
                f"{len(row)} numbers for {len(heads)} columns", str(path), f"line {number}"
            )
        rows.append(row)
    if not rows:
        raise FormatError("there are no rows of numbers", str(path))
    return heads, np.array(rows)
