"""``homodyn control``: studies of robots under control."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from homodyn.cli.json_output import fail_with_json, print_json
from homodyn.cli.option_groups import AsJson, OutputFolder, Overwrite
from homodyn.cli.progress import stage_progress
from homodyn.errors import ModelError

STUDIES = ("bip-step",)


def control(
    study: Annotated[str, typer.Argument(metavar="STUDY", help="The study: bip-step.")],
    output: OutputFolder,
    length: Annotated[float, typer.Option(metavar="M", help="Length of the step (m).")] = 0.14,
    height: Annotated[
        float, typer.Option(metavar="M", help="Height of the foot in the swing (m).")
    ] = 0.05,
    phase: Annotated[
        float, typer.Option(metavar="S", help="Duration of each of the three phases (s).")
    ] = 1.0,
    period: Annotated[
        float, typer.Option(metavar="S", help="Time between calls of the control law (s).")
    ] = 0.005,
    delay: Annotated[
        float, typer.Option(metavar="S", help="Time from a call until its voltages act (s).")
    ] = 0.002,
    threshold: Annotated[
        float, typer.Option(metavar="N", help="Force from which a foot counts as loaded (N).")
    ] = 40.0,
    observer: Annotated[
        bool,
        typer.Option(
            "--observer/--true-pose", help="Pose for the control law: estimated, or the true one."
        ),
    ] = True,
    duration: Annotated[
        float | None,
        typer.Option(
            metavar="S", help="Duration (s); by default half a second beyond the trajectory."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Of the noise of the sensors.")] = 0,
    trajectory: Annotated[
        Path | None,
        typer.Option(
            metavar="TRAJ3", help="Values of the task function over time, instead of the step."
        ),
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Simulate one step of the robot Bip by task-function control with its observer.

    A robot that falls writes its result up to the fall and exits with code 1.

    Example: `homodyn control bip-step -o step`
    """
    from homodyn.control import read_trajectory
    from homodyn.control.robot_step import RobotStepOptions, simulate_step
    from homodyn.foundation import unknown_name
    from homodyn.report.robot_step_folder import robot_step_summary, write_robot_step

    if study not in STUDIES:
        raise ModelError(unknown_name("study", study, STUDIES))
    options = RobotStepOptions(
        length=length,
        height=height,
        phase=phase,
        period=period,
        delay=delay,
        threshold=threshold,
        observer=observer,
        seed=seed,
    )
    points = None if trajectory is None else read_trajectory(trajectory)
    with stage_progress("simulating") as show:
        step = simulate_step(options, trajectory=points, duration=duration)
        show("writing")
        paths = write_robot_step(step, output, overwrite=overwrite)
    if as_json:
        summary = {**robot_step_summary(step), "files": paths}
        if not step.status.success:
            fail_with_json(summary, step.sentence)
        print_json(summary)
        return
    typer.echo(step.sentence)
    for note in step.assumptions:
        typer.echo(f"note: {note}")
    for path in paths:
        typer.echo(str(path))
    if not step.status.success:
        raise typer.Exit(1)
