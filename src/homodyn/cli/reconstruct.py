"""``homodyn reconstruct``: torques and ground forces of one recorded step by optimal control."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text


def reconstruct(
    motion: Annotated[
        Path,
        typer.Argument(
            metavar="MOTION",
            help="A recording (.c3d, .trc), a table of coordinates, or a result of analyze.",
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where the results go.")
    ],
    phases: Annotated[
        str, typer.Option("--phases", metavar="auto|CSV", help="Found in the motion, or a table.")
    ] = "auto",
    model: Annotated[
        str,
        typer.Option("--model", metavar="NAME|FILE", help="A body of the catalog, or a file."),
    ] = "heiman",
    height: Annotated[
        float | None, typer.Option("--height", metavar="M", help="Of the subject (m).")
    ] = None,
    mass: Annotated[
        float | None, typer.Option("--mass", metavar="KG", help="Of the subject (kg).")
    ] = None,
    static: Annotated[
        Path | None,
        typer.Option("--static", metavar="FILE", help="The subject standing still, to scale from."),
    ] = None,
    forces: Annotated[
        Path | None,
        typer.Option("--forces", metavar="FILE", help="Ground forces: .mot, .sto or .csv."),
    ] = None,
    setup: Annotated[
        Path | None,
        typer.Option("--setup", metavar="XML", help="ExternalLoads of OpenSim for --forces."),
    ] = None,
    plates: Annotated[
        str,
        typer.Option(
            "--plates", metavar="check|term", help="Compare with measured forces, or track them."
        ),
    ] = "check",
    nodes: Annotated[
        int | None, typer.Option("--nodes", metavar="N", help="Intervals of the step, about.")
    ] = None,
    recipe: Annotated[
        str, typer.Option("--recipe", metavar="NAME", help="Weights: step, thesis or close.")
    ] = "step",
    effort: Annotated[
        float | None, typer.Option("--effort", help="Weight of squared torques; the recipe's.")
    ] = None,
    friction: Annotated[
        float | None, typer.Option("--friction", help="Largest part of the force along the ground.")
    ] = None,
    first: Annotated[
        float | None, typer.Option("--from", metavar="S", help="Begin of the step (s).")
    ] = None,
    last: Annotated[
        float | None, typer.Option("--to", metavar="S", help="End of the step (s).")
    ] = None,
    cutoff: Annotated[
        float, typer.Option("--cutoff", metavar="HZ", help="Of the low-pass filter (Hz).")
    ] = 6.0,
    seconds: Annotated[
        float, typer.Option("--seconds", metavar="S", help="Longest time to search (s).")
    ] = 600.0,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a result that is there.")
    ] = False,
) -> None:
    """Reconstruct one step: the motion nearest to the recorded one that obeys all laws.

    Writes torques, ground forces, tracking errors and a page with figures. Exit code 1 when no
    answer was found; the page then tells what stands in the way.

    Example: `homodyn reconstruct walk.c3d --mass 72 --height 1.78 -o step`
    """
    from homodyn.analysis.settings import Settings
    from homodyn.errors import HomodynError
    from homodyn.gait import (
        footings,
        read_phases,
    )
    from homodyn.gait import reconstruct as solve
    from homodyn.report.reconstruction import write_reconstruction
    from homodyn.report.recorded import read_recorded

    if plates not in ("check", "term"):
        raise HomodynError(f"--plates is {plates!r}; accepted: check, term")
    if (first is None) != (last is None):
        raise HomodynError("a step has a begin and an end: give both --from and --to, or neither")
    if nodes is not None and nodes < 1:
        raise HomodynError(f"--nodes is {nodes}; expected at least 1")
    settings = Settings(
        model=model,
        static=None if static is None else str(static),
        height=height,
        mass=mass,
        forces=None if forces is None else str(forces),
        setup=None if setup is None else str(setup),
        cutoff=cutoff,
    )
    if output.exists() and not overwrite:
        raise HomodynError(f"{output}: it is there already; choose another folder, or --overwrite")
    console = Console(stderr=True, highlight=False)
    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    ) as progress:
        task = progress.add_task("reading")

        def tell(stage: str) -> None:
            progress.update(task, description=stage)

        recorded = read_recorded(motion, settings, tell=tell)
        told = None if phases == "auto" else read_phases(phases)
        span = recorded.measured_step
        if first is not None and last is not None:
            span = (first, last)
        tell("finding phases")
        stands = told or tuple(footings(recorded.motion, events=recorded.events, span=span))
        lasting = stands[-1].end - stands[0].begin
        tell(f"solving: {', '.join(footing.name for footing in stands)}")
        result = solve(
            recorded.motion,
            recorded.loads,
            phases=stands,
            step=0.02 if nodes is None else lasting / nodes,
            recipe=recipe,
            effort=effort,
            friction=friction,
            force=1.0 if plates == "term" else 0.0,
            seconds=seconds,
        )
        tell("writing")
        chosen: dict[str, str | float | None] = {
            "phases": phases,
            "plates": plates,
            "recipe": recipe,
            "nodes": nodes,
            "effort": effort,
            "friction": friction,
            "cutoff_hz": cutoff,
        }
        folder = write_reconstruction(
            result, output, name=recorded.name, settings=chosen, overwrite=overwrite
        )
    console = Console(highlight=False)
    console.print(Text(result.sentence), soft_wrap=True)
    weight = result.weight
    for error in result.force_errors():
        parts = " ".join(f"{100 * x / weight:.1f}" for x in error.rms)
        console.print(f"{error.side}: {parts} % of weight off the plates (x y z, rms)")
    console.print(Text(f"{folder / 'report.html'}"), soft_wrap=True)
    if not result.solution.status.good:
        console.print(Text(result.solution.explain(), style="red"), soft_wrap=True)
        raise typer.Exit(1)
