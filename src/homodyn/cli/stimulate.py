"""``homodyn stimulate``: studies of electrically stimulated muscles."""

from __future__ import annotations

from typing import Annotated

import typer

from homodyn.cli.json_output import fail_with_json, print_json
from homodyn.cli.option_groups import AsJson, OutputFolder, Overwrite
from homodyn.cli.progress import stage_progress
from homodyn.errors import ModelError


def stimulate(
    study: Annotated[
        str, typer.Argument(metavar="STUDY", help="The study: knee-swing or sit-to-stand.")
    ],
    output: OutputFolder,
    mode: Annotated[
        str | None,
        typer.Option(
            metavar="MODE",
            help="Impulses: open (given) or closed (a controller that is called every period); by "
            "default open for knee-swing, closed for sit-to-stand.",
        ),
    ] = None,
    charge: Annotated[
        float,
        typer.Option(
            metavar="P", help="Pulse width times intensity, as a part of the largest (0 to 1)."
        ),
    ] = 1.0,
    period: Annotated[float, typer.Option(metavar="S", help="Time between impulses (s).")] = 0.03,
    delay: Annotated[
        float, typer.Option(metavar="S", help="Time from an impulse to its effect (s).")
    ] = 0.05,
    profile: Annotated[
        str,
        typer.Option(metavar="NAME", help="Fall of the command after an impulse: ramp or step."),
    ] = "ramp",
    strength: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="Factor of the muscle forces of the source; by default 1 for knee-swing, 8 for "
            "sit-to-stand.",
        ),
    ] = None,
    duration: Annotated[
        float | None,
        typer.Option(metavar="S", help="Duration (s); by default 1.5 or 3."),
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Swing up a knee, or stand up, by electrical stimulation, and write a page and tables.

    A simulation that fails writes its result up to the failure and exits with code 1.

    Example: `homodyn stimulate knee-swing --charge 0.8 -o swing`
    """
    from homodyn.foundation import unknown_name
    from homodyn.muscle.stimulation import CommandSignal, KneeGeometry
    from homodyn.report.stimulation_folder import stimulation_summary, write_stimulation
    from homodyn.simulate import SimulationStatus
    from homodyn.simulate.stimulation_studies import STUDIES

    if study not in STUDIES:
        raise ModelError(unknown_name("study", study, STUDIES))
    chosen: dict[str, object] = {"mode": mode, "duration": duration}
    if strength is not None:
        chosen["geometry"] = KneeGeometry(strength=strength)
    options = {name: value for name, value in chosen.items() if value is not None}
    with stage_progress("simulating") as show:
        found = STUDIES[study](
            charge=charge,
            period_s=period,
            command=CommandSignal(delay_s=delay, profile=profile),
            **options,
        )
        show("writing")
        paths = write_stimulation(found, output, overwrite=overwrite)
    failed = found.result.status is not SimulationStatus.FINISHED
    if as_json:
        summary = {**stimulation_summary(found), "files": paths}
        if failed:
            fail_with_json(summary, found.result.message)
        print_json(summary)
        return
    typer.echo(f"{found.name}: {found.sentence}")
    for note in (*found.assumptions, *found.result.notes):
        typer.echo(f"note: {note}")
    for path in paths:
        typer.echo(str(path))
    if failed:
        typer.echo(found.result.message)
        raise typer.Exit(1)
