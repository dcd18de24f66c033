"""``homodyn track``: movement and loads of a trial by physics, without force plates."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from homodyn.cli.json_output import fail_with_json, print_json
from homodyn.cli.models import find
from homodyn.cli.option_groups import AsJson, OutputFolder, Overwrite
from homodyn.cli.progress import stage_progress


def track(
    trial: Annotated[Path, typer.Argument(metavar="TRIAL", help="A recording (.c3d, .trc, .csv).")],
    output: OutputFolder,
    model: Annotated[
        str,
        typer.Option(
            "--model",
            "-m",
            metavar="MODEL",
            help="A file (.toml, .lua, .urdf, .osim) or a catalog name, such as hdm.",
        ),
    ] = "hdm",
    residual: Annotated[
        float,
        typer.Option(metavar="NM", help="Largest residual torque about the horizontal axes (N m)."),
    ] = 100.0,
    cutoff: Annotated[
        float,
        typer.Option(metavar="HZ", help="Low-pass filter of the markers (Hz); 0 for none."),
    ] = 6.0,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Track a trial by physics: joint angles, torques and ground forces without force plates.

    A simulated body follows the markers, and a second one is driven by motors to the same joint
    angles while it stands on the ground. A driven body that falls is put back; the result says so.
    Frames without a pose end the command with exit code 1, after the result is written.

    Example: `homodyn track walk.c3d --model hdm -o tracked`
    """
    from homodyn.capture import read
    from homodyn.report import write_tracking
    from homodyn.report.tracking_folder import tracking_summary
    from homodyn.track import TrackingStatus
    from homodyn.track import track as track_trial

    with stage_progress("tracking") as show:
        result = track_trial(
            find(model), read(trial), residual_limits=residual, filter=cutoff or None
        )
        show("writing")
        paths = write_tracking(result, output, overwrite=overwrite)
    failed = result.status is TrackingStatus.INCOMPLETE
    if as_json:
        summary = {**tracking_summary(result), "files": paths}
        if failed:
            fail_with_json(summary, result.message)
        print_json(summary)
        return
    typer.echo(f"{result.motion.model.name}: {result.message}")
    typer.echo(f"marker error: {1e3 * result.motion.rms:.1f} mm rms")
    for name, values in result.residual.items():
        limit = result.residual_limits[name]
        typer.echo(f"residual {name}: at most {abs(values).max():.1f} of {limit:g} N m")
    for note in result.notes:
        typer.echo(f"note: {note}")
    for path in paths:
        typer.echo(str(path))
    if failed:
        raise typer.Exit(1)
