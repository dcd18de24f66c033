"""``homodyn reconstruct``: torques and ground forces of one recorded step by optimal control."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from homodyn.cli.option_groups import AsJson, Overwrite, SubjectOptions, expand_options
from homodyn.errors import HomodynError

if TYPE_CHECKING:
    from homodyn.gait import Reconstruction


@dataclass(frozen=True)
class StepOptions:
    """The optimal control problem of one step."""

    phases: Annotated[
        str,
        typer.Option(
            "--phases", metavar="auto|CSV", help="Contact phases: detected, or read from a table."
        ),
    ] = "auto"
    plates: Annotated[
        str,
        typer.Option(
            "--plates", metavar="check|term", help="Compare with measured forces, or track them."
        ),
    ] = "check"
    nodes: Annotated[
        int | None, typer.Option("--nodes", metavar="N", help="Approximate number of intervals.")
    ] = None
    preset: Annotated[
        str,
        typer.Option("--preset", metavar="NAME", help="Set of weights: step, felis2015 or close."),
    ] = "step"
    effort: Annotated[
        float | None,
        typer.Option("--effort", help="Weight of squared torques."),
    ] = None
    friction: Annotated[
        float | None, typer.Option("--friction", help="Friction coefficient of the ground.")
    ] = None
    first: Annotated[
        float | None, typer.Option("--from", metavar="S", help="Start of the step (s).")
    ] = None
    last: Annotated[
        float | None, typer.Option("--to", metavar="S", help="End of the step (s).")
    ] = None
    seconds: Annotated[
        float, typer.Option("--seconds", metavar="S", help="Time limit of the solver (s).")
    ] = 600.0

    def check(self) -> None:
        """Raise `HomodynError` where options contradict each other."""
        if self.plates not in ("check", "term"):
            raise HomodynError(f"--plates is {self.plates!r}; accepted: check, term")
        if (self.first is None) != (self.last is None):
            raise HomodynError(
                "a step has a start and an end: give both --from and --to, or neither"
            )
        if self.nodes is not None and self.nodes < 1:
            raise HomodynError(f"--nodes is {self.nodes}; expected at least 1")

    def choices(self, cutoff: float) -> dict[str, str | float | None]:
        """What the summary of the result records."""
        return {
            "phases": self.phases,
            "plates": self.plates,
            "preset": self.preset,
            "nodes": self.nodes,
            "effort": self.effort,
            "friction": self.friction,
            "cutoff_hz": cutoff,
        }


@expand_options
def reconstruct(
    motion: Annotated[
        Path,
        typer.Argument(
            metavar="MOTION",
            help="A recording (.c3d, .trc), a table of coordinates, or a result of analyze.",
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder for the result.")
    ],
    person: SubjectOptions,
    step: StepOptions,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Reconstruct one step by optimal control: the feasible motion nearest to the recorded one.

    Writes torques, ground forces, tracking errors and a page with figures. Exit code 1 when there
    is no solution; the page then says which constraints conflict.

    Example: `homodyn reconstruct walk.c3d --mass 72 --height 1.78 -o step`
    """
    from homodyn.analysis import read_motion
    from homodyn.gait import contact_phases, read_contact_schedule
    from homodyn.gait import reconstruct as solve
    from homodyn.report.reconstruction_folder import reconstruction_summary, write_reconstruction

    step.check()
    settings = person.settings()
    if output.exists() and not overwrite:
        raise HomodynError(f"{output} exists already; choose another folder, or --overwrite")
    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        console=Console(stderr=True, highlight=False),
        transient=True,
    ) as progress:
        task = progress.add_task("reading")

        def show(stage: str) -> None:
            progress.update(task, description=stage)

        recorded = read_motion(motion, settings, progress=show)
        given = None if step.phases == "auto" else read_contact_schedule(step.phases)
        span = recorded.measured_step
        if step.first is not None and step.last is not None:
            span = (step.first, step.last)
        show("detecting phases")
        phases = given or tuple(contact_phases(recorded.motion, events=recorded.events, span=span))
        duration = phases[-1].end - phases[0].begin
        show(f"solving: {', '.join(phase.name for phase in phases)}")
        result = solve(
            recorded.motion,
            recorded.loads,
            phases=phases,
            step=0.02 if step.nodes is None else duration / step.nodes,
            preset=step.preset,
            effort=step.effort,
            friction=step.friction,
            force=1.0 if step.plates == "term" else 0.0,
            time_limit=step.seconds,
        )
        show("writing")
        choices = step.choices(person.cutoff)
        folder = write_reconstruction(
            result, output, name=recorded.name, settings=choices, overwrite=overwrite
        )
    if as_json:
        typer.echo(json.dumps(reconstruction_summary(result, recorded.name, choices), indent=2))
    else:
        _print_result(result, folder)
    if not result.solution.status.success:
        Console(stderr=True, highlight=False).print(
            Text(result.solution.explain(), style="red"), soft_wrap=True
        )
        raise typer.Exit(1)


def _print_result(result: Reconstruction, folder: Path) -> None:
    console = Console(highlight=False)
    console.print(Text(result.sentence), soft_wrap=True)
    weight = result.weight
    for error in result.force_errors():
        parts = " ".join(f"{100 * x / weight:.1f}" for x in error.rms)
        console.print(f"{error.side}: force error {parts} % of body weight (x y z, rms)")
    console.print(Text(f"{folder / 'report.html'}"), soft_wrap=True)
