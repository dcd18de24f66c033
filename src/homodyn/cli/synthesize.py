"""``homodyn synthesize``: walking steps by optimal control, from objectives alone."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from homodyn.cli.json_output import fail_with_json, print_json
from homodyn.cli.option_groups import AsJson, OutputFolder, Overwrite
from homodyn.cli.progress import stage_progress
from homodyn.errors import HomodynError, NoSolution

if TYPE_CHECKING:
    from homodyn.analysis import StepComparison
    from homodyn.gait import Synthesis
    from homodyn.gait.synthesis import ReferenceStep, SynthesisStage
    from homodyn.model import Model


def synthesize(
    output: OutputFolder,
    objective: Annotated[
        str,
        typer.Option(
            metavar="NAME,...",
            help="Objectives, separated by commas: torque, angular-momentum, head, time, mixed, "
            "or a weighted sum such as torque+3*head; all: these five.",
        ),
    ] = "mixed",
    speed: Annotated[
        str | None,
        typer.Option(
            metavar="M/S,...", help="Speeds (m/s), separated by commas; optimized by default."
        ),
    ] = None,
    free: Annotated[bool, typer.Option("--free", help="Optimize the speed too.")] = False,
    start: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Stored step as initial guess, such as walk; nearest by default."
        ),
    ] = None,
    height: Annotated[float, typer.Option(metavar="M", help="Height (m).")] = 1.79,
    mass: Annotated[float, typer.Option(metavar="KG", help="Mass (kg).")] = 76.0,
    friction: Annotated[
        float,
        typer.Option(
            metavar="MU",
            help="Friction coefficient of the ground; inf: forces and impulses are not bounded.",
        ),
    ] = 0.8,
    reference: Annotated[
        Path | None,
        typer.Option(
            metavar="WALK",
            help="Recorded walk to compare the steps with: a recording of the person of --height "
            "and --mass, a table of coordinates, or a folder of homodyn analyze; a synthetic walk "
            "by default.",
        ),
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(metavar="S", help="Time limit per step (s); none by default."),
    ] = None,
    stored: Annotated[bool, typer.Option("--stored", help="Show the bundled steps only.")] = False,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Optimize periodic walking steps for chosen objectives and compare them on a page.

    The exit code is 1 when a step has no solution.

    Example: `homodyn synthesize --speed 1.5 --objective mixed -o steps`
    """
    from homodyn.analysis import StepComparison
    from homodyn.gait import walking_model
    from homodyn.gait.synthesis import WALKING_OBJECTIVES

    if output.exists() and not overwrite:
        raise HomodynError(f"{output} exists already; choose another folder, or --overwrite")
    if free and speed is not None:
        raise HomodynError("--free and --speed exclude each other; give one of them")
    model = walking_model() if stored else walking_model(height, mass)
    walk = None if reference is None else _read_reference(reference, model, height, mass)
    if stored:
        steps = _with_reference(StepComparison.from_bundled_steps(model), walk)
        _write(steps, output, overwrite, as_json, "")
        return
    goals = list(WALKING_OBJECTIVES) if objective == "all" else objective.split(",")
    speeds = [None] if speed is None else [_number(part) for part in speed.split(",")]
    bound = None if friction == math.inf else friction
    results = [
        _synthesize_step(goal.strip(), target, model, start, bound, time_limit)
        for goal in goals
        for target in speeds
    ]
    failed = [each for each in results if not each.solution.status.success]
    for each in failed:
        Console(stderr=True).print(Text(f"{each.step.name}\n{each.explain()}\n"), soft_wrap=True)
    error = ""
    if failed:
        listed = ", ".join(f"{each.step.name} ({each.solution.status})" for each in failed)
        error = f"no solution: {listed}; see the reasons above and in {output / 'index.html'}"
    compared = _with_reference(StepComparison.from_syntheses(results), walk)
    _write(compared, output, overwrite, as_json, error)


def _read_reference(source: Path, model: Model, height: float, mass: float) -> ReferenceStep:
    """The mean step of a walk, recorded with the person of this height and mass."""
    from homodyn.analysis import Settings, read_motion
    from homodyn.gait.synthesis import ReferenceStep

    recorded = read_motion(source, Settings(height=height, mass=mass))
    return ReferenceStep.from_motion(
        recorded.motion, model, name=recorded.name, events=recorded.events
    )


def _with_reference(compared: StepComparison, reference: ReferenceStep | None) -> StepComparison:
    return compared if reference is None else replace(compared, reference=reference)


def _write(steps: StepComparison, output: Path, overwrite: bool, as_json: bool, error: str) -> None:
    """Write the comparison, print its table or its summary, and fail where there is an error."""
    from homodyn.report import write_synthesis
    from homodyn.report.synthesis_folder import synthesis_summary

    paths = write_synthesis(steps, output, overwrite=overwrite)
    if as_json:
        summary = {**synthesis_summary(steps), "files": paths}
        if error:
            fail_with_json(summary, error)
        print_json(summary)
        return
    typer.echo(str(steps.cross_evaluation))
    for path in paths:
        typer.echo(str(path))
    if error:
        raise NoSolution(error)


def _synthesize_step(
    goal: str,
    speed: float | None,
    model: Model,
    start: str | None,
    friction: float | None,
    time_limit: float | None,
) -> Synthesis:
    from homodyn.gait import SynthesisOptions
    from homodyn.gait.synthesis import synthesize_step

    with stage_progress(goal) as show:

        def report(stage: SynthesisStage) -> None:
            if stage.status is None:
                show(f"{goal}: {stage.name}")
            else:
                typer.echo(str(stage))

        synthesis = synthesize_step(
            model,
            speed=speed,
            objective=goal,
            start=start,
            friction=friction,
            options=SynthesisOptions(time_limit=time_limit, progress=report),
        )
    typer.echo(synthesis.sentence)
    return synthesis


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise HomodynError(f"--speed is {text!r}; expected a speed in m/s") from None
