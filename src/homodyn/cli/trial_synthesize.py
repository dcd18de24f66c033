"""``homodyn trial synthesize``: a synthetic walking trial with its ground truth."""

from __future__ import annotations

from typing import Annotated

import typer

from homodyn.cli.json_output import print_json
from homodyn.cli.option_groups import AsJson, OutputFolder, Overwrite


def synthesize(
    output: OutputFolder,
    speed: Annotated[float, typer.Option(metavar="M/S", help="Walking speed (m/s).")] = 1.2,
    step_length: Annotated[
        float | None,
        typer.Option(metavar="M", help="Step length (m); by default the one that people prefer."),
    ] = None,
    cadence: Annotated[
        float | None,
        typer.Option(metavar="N", help="Steps per minute, instead of the step length."),
    ] = None,
    strides: Annotated[
        int, typer.Option(metavar="N", help="Recorded strides of the right foot.")
    ] = 4,
    height: Annotated[float, typer.Option(metavar="M", help="Height of the subject (m).")] = 1.75,
    mass: Annotated[float, typer.Option(metavar="KG", help="Mass of the subject (kg).")] = 70.0,
    sex: Annotated[
        str, typer.Option(metavar="SEX", help="Sex of the subject: male or female.")
    ] = "male",
    rate: Annotated[float, typer.Option(metavar="HZ", help="Marker frame rate (Hz).")] = 100.0,
    plate_rate: Annotated[
        float, typer.Option(metavar="HZ", help="Sampling rate of force plates and EMG (Hz).")
    ] = 1000.0,
    noise: Annotated[
        float, typer.Option(metavar="MM", help="Standard deviation of marker noise (mm).")
    ] = 1.0,
    gaps: Annotated[
        float, typer.Option(metavar="SHARE", help="Share of missing marker positions, 0 to 0.5.")
    ] = 0.01,
    no_gaps: Annotated[bool, typer.Option("--no-gaps", help="No missing markers.")] = False,
    swaps: Annotated[int, typer.Option(metavar="N", help="Number of left-right label swaps.")] = 0,
    plates: Annotated[
        int, typer.Option(metavar="N", help="Number of force plates, one foot contact each.")
    ] = 3,
    both: Annotated[
        bool, typer.Option("--shared-plate", help="Add a plate that both feet contact.")
    ] = False,
    seed: Annotated[
        int, typer.Option(metavar="N", help="Random seed; the same seed gives the same trial.")
    ] = 0,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Synthesize a walking trial whose motion, forces and torques are known.

    Writes walk.c3d, static.c3d and the folder truth with the model, its motion, torques, ground
    forces and noise-free markers.

    Example: `homodyn trial synthesize -o trial --speed 1.3`
    """
    from homodyn.synthetic import walking_trial, write_trial

    synthetic = walking_trial(
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
    paths = write_trial(synthetic, output, overwrite=overwrite)
    if as_json:
        print_json({"summary": synthetic.summary(), "files": paths})
        return
    typer.echo(synthetic.summary())
    for path in paths:
        typer.echo(str(path))
