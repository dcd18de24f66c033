"""``homodyn plan``: motions of a manikin through a scene."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from homodyn.cli.json_output import print_json
from homodyn.cli.models import find
from homodyn.cli.option_groups import AsJson, OutputFolder, Overwrite
from homodyn.cli.progress import stage_progress

if TYPE_CHECKING:
    from homodyn.model import Model
    from homodyn.motion import Scene

PHASE_COLUMNS = ("phase", "start_s", "end_s", "flights", "clearance_mm", "margin_Nm")
"""Columns of the phase table that are printed."""


def plan(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SCENE",
            help="A scene whose supports name bodies: a .toml file, or a case: board, car, "
            "car-all, egress, beam-h1, beam-h2, beam-h3.",
        ),
    ],
    output: OutputFolder,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            metavar="NAME|FILE",
            help="Model; by default the manikin with the mass of the scene.",
        ),
    ] = None,
    height: Annotated[
        float | None,
        typer.Option(metavar="M", help="Height of the manikin (m); the scene is fitted to it."),
    ] = None,
    mass: Annotated[
        float | None, typer.Option(metavar="KG", help="Mass of the manikin (kg).")
    ] = None,
    sex: Annotated[
        str, typer.Option(metavar="SEX", help="Sex of the manikin: male or female.")
    ] = "male",
    clearance: Annotated[
        float, typer.Option(metavar="M", help="Distance that is kept from obstacles (m).")
    ] = 0.01,
    flight: Annotated[
        str,
        typer.Option(metavar="METHOD", help="Paths of feet and hands: automatic, arc or birrt."),
    ] = "automatic",
    rate: Annotated[
        float, typer.Option(metavar="HZ", help="Frames of the motion per second (Hz).")
    ] = 50.0,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of random samples.")] = 0,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Plan a motion through a scene: balance, postures, flights of feet and hands, clearance.

    Example: `homodyn plan board -o board-plan`

    Example: `homodyn plan car -o car-woman --height 1.60 --mass 58 --sex female`
    """
    from homodyn.plan import MotionPlanOptions, load_case, motion
    from homodyn.plan.cases import RECORDED_INSTANTS_S
    from homodyn.report import motion_plan_folder as report

    options = MotionPlanOptions(clearance=clearance, flight=flight, seed=seed, rate=rate)
    scene, person = _person(load_case(source), model, height, mass, sex)
    with stage_progress("planning") as stage:
        planned = motion(scene, person, options=options, progress=stage)
        stage("report")
        recorded = RECORDED_INSTANTS_S.get(source, ())
        files = report.write_motion_plan(planned, output, recorded=recorded, overwrite=overwrite)
    if as_json:
        print_json({**report.plan_summary(planned), "files": files})
        return
    console = Console(highlight=False)
    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in PHASE_COLUMNS:
        table.add_column(name.replace("_", " "))
    for row in planned.rows():
        table.add_row(*(_cell(row[name]) for name in PHASE_COLUMNS))
    console.print(table)
    console.print(Text(planned.sentence, style="bold"), soft_wrap=True)
    console.print(Text(f"{output}: {', '.join(path.name for path in files)}"), soft_wrap=True)


def _person(
    scene: Scene, model: str | None, height: float | None, mass: float | None, sex: str
) -> tuple[Scene, Model | None]:
    """The model, and the scene fitted to it; None for the default of the scene."""
    if model is not None:
        if height is not None or mass is not None or sex != "male":
            raise typer.BadParameter(
                "height, mass and sex are those of the manikin, not of --model"
            )
        return scene, find(model)
    if height is None and mass is None and sex == "male":
        return scene, None
    from homodyn import catalog
    from homodyn.plan.scene_fitting import DEFAULT_MASS_KG, REFERENCE_STATURE_M, fit_scene

    stature = REFERENCE_STATURE_M if height is None else height
    weight = (scene.mass or DEFAULT_MASS_KG) if mass is None else mass
    return fit_scene(scene, stature, weight), catalog.manikin(stature, weight, sex)


def _cell(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else "" if value is None else str(value)
