"""``homodyn make-trial``: a walking trial from the laws of motion, with its truth beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def make_trial(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where to write.")
    ],
    speed: Annotated[float, typer.Option(help="Speed of walking (m/s).")] = 1.2,
    step_length: Annotated[
        float | None, typer.Option(help="Length of a step (m); comfortable when left out.")
    ] = None,
    cadence: Annotated[
        float | None, typer.Option(help="Steps per minute, instead of the step length.")
    ] = None,
    strides: Annotated[int, typer.Option(help="Strides of the right foot that are recorded.")] = 4,
    height: Annotated[float, typer.Option(help="Stature of the person (m).")] = 1.75,
    mass: Annotated[float, typer.Option(help="Mass of the person (kg).")] = 70.0,
    sex: Annotated[str, typer.Option(help="male or female.")] = "male",
    rate: Annotated[float, typer.Option(help="Frames of the markers per second (Hz).")] = 100.0,
    plate_rate: Annotated[
        float, typer.Option(help="Samples of plates and EMG per second (Hz).")
    ] = 1000.0,
    noise: Annotated[
        float, typer.Option(help="Noise of the markers, standard deviation (mm).")
    ] = 1.0,
    gaps: Annotated[float, typer.Option(help="Share of marker positions that are hidden.")] = 0.01,
    no_gaps: Annotated[bool, typer.Option("--no-gaps", help="Hide no marker.")] = False,
    swaps: Annotated[int, typer.Option(help="Exchanges of left and right labels.")] = 0,
    plates: Annotated[int, typer.Option(help="Force plates, one footfall each.")] = 3,
    both: Annotated[
        bool, typer.Option("--both", help="Add a plate that both feet step on.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Same seed, same trial, to the bit.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
) -> None:
    """Make a walking trial whose motion, forces and torques are known.

    Writes walk.c3d, static.c3d and the folder truth with the body, its motion, torques, ground
    forces and markers without noise.

    Example: `homodyn make-trial -o trial --speed 1.3`
    """
    from homodyn.synthetic import walking_trial, write_trial

    made = walking_trial(
        height=height,
        mass=mass,
        sex=sex,
        speed=speed,
        step_length=step_length,
        cadence=cadence,
        strides=strides,
        rate=rate,
        plate_rate=plate_rate,
        noise=noise / 1000,
        gaps=0.0 if no_gaps else gaps,
        swaps=swaps,
        plates=plates,
        shared_plate=both,
        seed=seed,
    )
    paths = write_trial(made, output, force=force)
    typer.echo(made.summary)
    for path in paths:
        typer.echo(str(path))
