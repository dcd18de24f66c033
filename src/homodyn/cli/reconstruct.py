"""``homodyn reconstruct``: torques and ground forces of one recorded step by optimal control."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from homodyn.cli.json_output import fail_with_json, print_json
from homodyn.cli.option_groups import (
    AsJson,
    OutputFolder,
    Overwrite,
    SubjectOptions,
    belt_setting,
    cutoff_setting,
    expand_options,
    path_text,
)
from homodyn.cli.progress import Stage, stage_progress
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
        typer.Option(
            "--preset", metavar="NAME", help="Set of weights: recorded, step, felis2015 or close."
        ),
    ] = "recorded"
    effort: Annotated[
        float | None,
        typer.Option("--effort", metavar="WEIGHT", help="Weight of squared torques."),
    ] = None
    friction: Annotated[
        float | None,
        typer.Option("--friction", metavar="MU", help="Friction coefficient of the ground."),
    ] = None
    belt: Annotated[
        str,
        typer.Option(
            "--belt",
            metavar="auto|M/S",
            help="Speed of a treadmill: found in the stance feet, or given; 0 is still ground.",
        ),
    ] = "auto"
    steps: Annotated[
        int, typer.Option("--steps", metavar="N", help="Number of consecutive steps.")
    ] = 1
    first: Annotated[
        float | None, typer.Option("--from", metavar="S", help="Start of the step (s).")
    ] = None
    last: Annotated[
        float | None, typer.Option("--to", metavar="S", help="End of the step (s).")
    ] = None
    seconds: Annotated[
        float | None,
        typer.Option(
            "--time-limit", metavar="S", help="Time limit (s) of the solver; none by default."
        ),
    ] = None

    def check(self) -> None:
        """Check the options.

        Raises:
            HomodynError: An option is wrong, or options contradict each other.
        """
        if self.plates not in ("check", "term"):
            raise HomodynError(f"--plates is {self.plates!r}; accepted: check, term")
        if (self.first is None) != (self.last is None):
            raise HomodynError(
                "a step has a start and an end: give both --from and --to, or neither"
            )
        if self.steps < 1:
            raise HomodynError(f"--steps is {self.steps}; expected at least 1")
        if self.nodes is not None and self.nodes < 1:
            raise HomodynError(f"--nodes is {self.nodes}; expected at least 1")
        _ = self.belt_speed

    @property
    def belt_speed(self) -> float | None:
        """Speed of the belt (m/s); None where it is to be found.

        Raises:
            HomodynError: The option is not a speed.
        """
        return belt_setting(self.belt)

    def choices(self, cutoff: float | str) -> dict[str, str | float | None]:
        """The options that are recorded in the summary of the result."""
        return {
            "phases": self.phases,
            "plates": self.plates,
            "preset": self.preset,
            "nodes": self.nodes,
            "steps": self.steps,
            "effort": self.effort,
            "friction": self.friction,
            "belt": self.belt,
            "cutoff_hz": cutoff,
        }


@expand_options
def reconstruct(
    motion: Annotated[
        Path,
        typer.Argument(
            metavar="MOTION",
            help="A recording (.c3d, .trc), a folder with one walking trial, a table of "
            "coordinates, or a result folder of analyze.",
        ),
    ],
    output: OutputFolder,
    person: SubjectOptions,
    step: StepOptions,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Reconstruct one step by optimal control: the feasible motion nearest to the recorded one.

    Writes torques, ground forces, tracking errors and a page with figures. The exit code is 1 when
    there is no solution; the page then lists the constraints that conflict.

    Example: `homodyn reconstruct walk.c3d --mass 72 --height 1.78 -o step`
    """
    from homodyn.report.reconstruction_folder import reconstruction_summary, write_reconstruction

    step.check()
    if output.exists() and not overwrite:
        raise HomodynError(f"{output} exists already; choose another folder, or --overwrite")
    motion, person = _select_trial(motion, person)
    with stage_progress("reading") as show:
        name, result = _solve(motion, person, step, show)
        show("writing")
        choices = step.choices(cutoff_setting(person.cutoff))
        folder = write_reconstruction(
            result, output, name=name, settings=choices, overwrite=overwrite
        )
    error = "" if result.solution.status.success else result.solution.explain()
    if as_json:
        summary = reconstruction_summary(result, name, choices)
        if error:
            fail_with_json(summary, error)
        print_json(summary)
        return
    _print_result(result, folder)
    if not error and result.deviations:
        text = f"{result.status}: {', '.join(result.deviations)}"
        Console(stderr=True, highlight=False).print(Text(text, style="yellow"), soft_wrap=True)
    if error:
        Console(stderr=True, highlight=False).print(Text(error, style="red"), soft_wrap=True)
        raise typer.Exit(1)


def _select_trial(motion: Path, person: SubjectOptions) -> tuple[Path, SubjectOptions]:
    """The trial of a folder of recordings, with its static trial; other sources as they are."""
    from homodyn.analysis.trial_folders import TRIAL_SUFFIXES, select_trials

    files = motion.iterdir() if motion.is_dir() else ()
    if not any(file.suffix.lower() in TRIAL_SUFFIXES for file in files):
        return motion, person
    selected = select_trials([motion], path_text(person.static))
    if len(selected.trials) > 1:
        names = ", ".join(selected.trials)
        raise HomodynError(f"{motion} has several trials: {names}; name one of them")
    static = None if selected.static is None else Path(selected.static)
    return Path(selected.trials[0]), replace(person, static=static)


def _solve(
    motion: Path, person: SubjectOptions, step: StepOptions, show: Stage
) -> tuple[str, Reconstruction]:
    """Name and reconstruction of the step."""
    from homodyn.analysis import read_motion
    from homodyn.gait import reconstruct as solve
    from homodyn.gait.contact_schedule import read_contact_schedule
    from homodyn.gait.reconstruction import RECONSTRUCTION_PRESETS, prepare_step

    recorded = read_motion(motion, person.settings(), progress=show)
    show("detecting phases")
    span = None if step.first is None or step.last is None else (step.first, step.last)
    preset = RECONSTRUCTION_PRESETS.get(step.preset)
    prepared = prepare_step(
        recorded.motion,
        recorded.loads,
        events=recorded.events,
        phases=None if step.phases == "auto" else read_contact_schedule(step.phases),
        span=span,
        steps=step.steps,
        belt_speed=step.belt_speed,
        fit_contacts=preset is not None and preset.compliant,
    )
    if prepared.belt.any():
        Console(stderr=True, highlight=False).print(
            f"The feet stand on a belt that moves at {prepared.belt_speed:.2f} m/s: the "
            "step is reconstructed relative to it, as if overground.",
            soft_wrap=True,
        )
    phases = prepared.phases
    duration = phases[-1].end - phases[0].begin
    show(f"solving: {', '.join(phase.name for phase in phases)}")
    result = solve(
        prepared.motion,
        prepared.loads,
        phases=phases,
        step=0.02 if step.nodes is None else duration / step.nodes,
        preset=step.preset,
        effort=step.effort,
        friction=step.friction,
        force=1.0 if step.plates == "term" else 0.0,
        time_limit=step.seconds,
    )
    return recorded.name, result


def _print_result(result: Reconstruction, folder: Path) -> None:
    console = Console(highlight=False)
    console.print(Text(result.sentence), soft_wrap=True)
    weight = result.weight
    for error in result.force_errors():
        parts = " ".join(f"{100 * x / weight:.1f}" for x in error.rms)
        console.print(f"{error.side}: force error {parts} % of body weight (x y z, rms)")
    console.print(Text(f"{folder / 'report.html'}"), soft_wrap=True)
