"""``homodyn synthesize``: steps from objectives alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from homodyn.errors import HomodynError, NoSolution

if TYPE_CHECKING:
    from homodyn.gait import (
        Stage,
        Synthesis,
    )


def synthesize(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where to write; a new folder.")
    ],
    objective: Annotated[
        str,
        typer.Option(
            help="What steps are best at, with commas between several: torque, "
            "angular-momentum, head, time, mixed, or a sum such as torque+3*head; all: those five."
        ),
    ] = "mixed",
    speed: Annotated[
        str | None,
        typer.Option(help="Speed (m/s), with commas between several; free when left out."),
    ] = None,
    free: Annotated[bool, typer.Option("--free", help="Let the speed be chosen too.")] = False,
    start: Annotated[
        str | None,
        typer.Option(help="Stored step to begin from, such as walk; the nearest when left out."),
    ] = None,
    height: Annotated[float, typer.Option(help="Stature (m).")] = 1.79,
    mass: Annotated[float, typer.Option(help="Mass (kg).")] = 76.0,
    friction: Annotated[
        float | None, typer.Option(help="Friction of the ground; no bound when left out.")
    ] = None,
    seconds: Annotated[float, typer.Option(help="Time for the search of one step (s).")] = 300.0,
    stored: Annotated[
        bool, typer.Option("--stored", help="Only show the steps that come with the program.")
    ] = False,
) -> None:
    """Find periodic steps that are best at something, and compare them on a page.

    Example: `homodyn synthesize --speed 1.5 --objective mixed -o steps`
    """
    from homodyn.gait import (
        OBJECTIVES,
        walker,
    )
    from homodyn.report import (
        Compared,
        write_synthesis,
    )

    if output.exists():
        raise HomodynError(f"{output} is there already; name another folder")
    if free and speed is not None:
        raise HomodynError("--free and --speed exclude each other; give one of them")
    if stored:
        compared = Compared.stored(walker())
        typer.echo(str(compared.table))
        for path in write_synthesis(compared, output):
            typer.echo(str(path))
        return
    goals = list(OBJECTIVES) if objective == "all" else objective.split(",")
    paces = [None] if speed is None else [_number(part) for part in speed.split(",")]
    model = walker(height, mass)
    found = [
        _found(goal.strip(), pace, model, start, friction, seconds)
        for goal in goals
        for pace in paces
    ]
    compared = Compared.found(found)
    typer.echo(str(compared.table))
    for path in write_synthesis(compared, output):
        typer.echo(str(path))
    missed = [each for each in found if not each.solution.status.good]
    for each in missed:
        Console(stderr=True).print(Text(f"{each.step.name}\n{each.explain()}\n"), soft_wrap=True)
    if missed:
        told = ", ".join(f"{each.step.name} ({each.solution.status})" for each in missed)
        raise NoSolution(f"not found: {told}; why is told above, and in {output / 'index.html'}")


def _found(
    goal: str,
    pace: float | None,
    model: object,
    start: str | None,
    friction: float | None,
    seconds: float,
) -> Synthesis:
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from homodyn.gait import synthesize as search
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

        def heard(stage: Stage) -> None:
            if stage.status is None:
                bar.update(task, description=f"{goal}: {stage.name}")
            else:
                typer.echo(str(stage))

        made = search(
            goal,
            speed=pace,
            model=model,
            start=start,
            friction=friction,
            seconds=seconds,
            progress=heard,
        )
    typer.echo(made.sentence)
    return made


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise HomodynError(f"--speed {text!r} is not a number of m/s") from None
