"""``homodyn synthesize``: walking steps by optimal control, from objectives alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from homodyn.cli.option_groups import AsJson, Overwrite
from homodyn.errors import HomodynError, NoSolution

if TYPE_CHECKING:
    from homodyn.analysis import StepComparison
    from homodyn.gait import (
        Synthesis,
        SynthesisStage,
    )


def synthesize(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder for the result.")
    ],
    objective: Annotated[
        str,
        typer.Option(
            help="Objective, or several separated by commas: torque, angular-momentum, head, "
            "time, mixed, or a sum such as torque+3*head; all for these five."
        ),
    ] = "mixed",
    speed: Annotated[
        str | None,
        typer.Option(help="Speed (m/s), or several separated by commas; free by default."),
    ] = None,
    free: Annotated[bool, typer.Option("--free", help="Optimize the speed too.")] = False,
    start: Annotated[
        str | None,
        typer.Option(help="Stored step as initial guess, such as walk; by default the nearest."),
    ] = None,
    height: Annotated[float, typer.Option(help="Height (m).")] = 1.79,
    mass: Annotated[float, typer.Option(help="Mass (kg).")] = 76.0,
    friction: Annotated[
        float | None, typer.Option(help="Friction coefficient of the ground; unlimited by default.")
    ] = None,
    seconds: Annotated[float, typer.Option(help="Time limit per step (s).")] = 300.0,
    stored: Annotated[bool, typer.Option("--stored", help="Show the bundled steps only.")] = False,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Optimize periodic walking steps for chosen objectives and compare them on a page.

    Example: `homodyn synthesize --speed 1.5 --objective mixed -o steps`
    """
    from homodyn.analysis import StepComparison
    from homodyn.gait import (
        WALKING_OBJECTIVES,
        walking_model,
    )

    if output.exists() and not overwrite:
        raise HomodynError(f"{output} exists already; choose another folder, or --overwrite")
    if free and speed is not None:
        raise HomodynError("--free and --speed exclude each other; give one of them")
    if stored:
        _write(StepComparison.from_bundled_steps(walking_model()), output, overwrite, as_json)
        return
    goals = list(WALKING_OBJECTIVES) if objective == "all" else objective.split(",")
    paces = [None] if speed is None else [_number(part) for part in speed.split(",")]
    model = walking_model(height, mass)
    found = [
        _synthesize_step(goal.strip(), pace, model, start, friction, seconds)
        for goal in goals
        for pace in paces
    ]
    compared = StepComparison.from_syntheses(found)
    _write(compared, output, overwrite, as_json)
    missed = [each for each in found if not each.solution.status.success]
    for each in missed:
        Console(stderr=True).print(Text(f"{each.step.name}\n{each.explain()}\n"), soft_wrap=True)
    if missed:
        told = ", ".join(f"{each.step.name} ({each.solution.status})" for each in missed)
        raise NoSolution(
            f"no solution: {told}; see the reasons above and in {output / 'index.html'}"
        )


def _write(compared: StepComparison, output: Path, overwrite: bool, as_json: bool) -> None:
    """Write the comparison and print its table or its summary."""
    from homodyn.report import write_synthesis
    from homodyn.report.synthesis_folder import synthesis_summary

    paths = write_synthesis(compared, output, overwrite=overwrite)
    if as_json:
        typer.echo(json.dumps(synthesis_summary(compared), indent=2))
        return
    typer.echo(str(compared.table))
    for path in paths:
        typer.echo(str(path))


def _synthesize_step(
    goal: str,
    pace: float | None,
    model: object,
    start: str | None,
    friction: float | None,
    seconds: float,
) -> Synthesis:
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from homodyn.gait import SynthesisOptions, synthesize_step
    from homodyn.model import Model

    assert isinstance(model, Model)
    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task(goal, total=None)

        def heard(stage: SynthesisStage) -> None:
            if stage.status is None:
                bar.update(task, description=f"{goal}: {stage.name}")
            else:
                typer.echo(str(stage))

        made = synthesize_step(
            model,
            speed=pace,
            objective=goal,
            start=start,
            friction=friction,
            options=SynthesisOptions(time_limit=seconds, progress=heard),
        )
    typer.echo(made.sentence)
    return made


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise HomodynError(f"--speed is {text!r}; expected a speed in m/s") from None
