"""``homodyn ergonomics``: RULA, REBA, reach and strength of a movement."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from homodyn.cli.json_output import print_json
from homodyn.cli.option_groups import AsJson, OutputFolder, Overwrite
from homodyn.cli.progress import stage_progress


def ergonomics(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="MOTION",
            help="A recording (.c3d, .trc), a folder with a motion and its model, or a table of "
            "coordinates (.mot, .sto, .csv).",
        ),
    ],
    output: OutputFolder,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", metavar="NAME|FILE", help="Model of a recording or a table."),
    ] = None,
    mass: Annotated[
        float | None,
        typer.Option(
            "--mass", metavar="KG", help="Mass of the subject (kg); model files: or from plates."
        ),
    ] = None,
    load: Annotated[float, typer.Option(metavar="KG", help="Load in the hands (kg).")] = 0.0,
    static: Annotated[
        bool, typer.Option("--static", help="Postures last longer than a minute.")
    ] = False,
    repeated: Annotated[
        bool, typer.Option("--repeated", help="Movements repeat more than four times a minute.")
    ] = False,
    shock: Annotated[bool, typer.Option("--shock", help="Forces build up rapidly.")] = False,
    coupling: Annotated[
        int, typer.Option(metavar="N", help="Grip: 0 good, 1 fair, 2 poor, 3 unacceptable.")
    ] = 0,
    sex: Annotated[str, typer.Option(metavar="SEX", help="For strength: male or female.")] = "male",
    age: Annotated[
        str, typer.Option(metavar="AGE", help="For strength: '18 to 25', '55 to 65', 'over 65'.")
    ] = "18 to 25",
    height: Annotated[
        float | None,
        typer.Option(
            metavar="M", help="Height (m), for scaling and strength; by default that of the model."
        ),
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Assess the ergonomics of a movement: RULA, REBA, reach, limits of angles and strength.

    Example: `homodyn ergonomics results -o ergonomics`
    """
    from homodyn.analysis import Settings, read_motion
    from homodyn.capture.scaling.stature import stature
    from homodyn.plan.ergonomics import StrengthProfile, WorkConditions, assess
    from homodyn.plan.ergonomics.assessment import DEFAULT_HEIGHT_M
    from homodyn.report.ergonomics_section import ergonomics_summary, write_ergonomics

    conditions = WorkConditions(
        load=load, static=static, repeated=repeated, shock=shock, coupling=coupling
    )
    settings = Settings(mass=mass, height=height)
    if model is not None:
        settings = replace(settings, model=model)
    with stage_progress("reading") as show:
        recorded = read_motion(source, settings, progress=show)
        motion = recorded.motion
        tall = height or stature(motion.model) or DEFAULT_HEIGHT_M
        person = StrengthProfile(float(motion.model.mass), tall, sex=sex, age=age)
        show("assessing")
        torques = None if recorded.loads is None else recorded.loads.tau
        found = assess(motion, torques=torques, conditions=conditions, person=person)
        show("writing")
        paths = write_ergonomics(found, output, overwrite=overwrite)
    if as_json:
        print_json({**ergonomics_summary(found), "files": paths})
        return
    typer.echo(found.sentence)
    for note in found.notes:
        typer.echo(f"note: {note}")
    for path in paths:
        typer.echo(str(path))
