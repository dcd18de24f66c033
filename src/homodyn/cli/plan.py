"""``homodyn plan``: motions of a manikin through a scene."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
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
    from homodyn.analysis.plan_comparison import PlanComparison
    from homodyn.model import Model
    from homodyn.motion import Scene
    from homodyn.plan import MotionPlan

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
    execute: Annotated[
        bool,
        typer.Option(
            "--execute", help="Track the plan in simulation by whole-body control (5 ms)."
        ),
    ] = False,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="A recorded motion to show beside the plan: a .c3d or .trc file, a .mot table of "
            "the same model, or a folder of `homodyn analyze`.",
        ),
    ] = None,
    sole_margin: Annotated[
        float,
        typer.Option(
            metavar="M",
            help="Plan with soles that are narrower by this on every side and with 10 % less "
            "friction (m); 0: with those of the scene.",
        ),
    ] = 0.0,
    rate: Annotated[
        float, typer.Option(metavar="HZ", help="Frames of the motion per second (Hz).")
    ] = 50.0,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of random samples.")] = 0,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Plan a motion through a scene: balance, postures, flights of feet and hands, clearance.

    A scene without phases gets supports and their order from the support planner.

    Example: `homodyn plan board --execute -o board-run`

    Example: `homodyn plan car -o car-woman --height 1.60 --mass 58 --sex female`
    """
    from homodyn.plan import MotionPlanOptions, load_case, motion, plan_supports, robust_scene
    from homodyn.plan import execute as execute_plan
    from homodyn.plan.cases import RECORDED_INSTANTS_S
    from homodyn.report import motion_plan_folder as report

    options = MotionPlanOptions(clearance=clearance, flight=flight, seed=seed, rate=rate)
    scene, person = _person(load_case(source), model, height, mass, sex)
    with stage_progress("planning") as stage:
        found = None if scene.steps else plan_supports(scene, person, progress=stage)
        scene = scene if found is None else found.scene
        if sole_margin > 0:
            scene = robust_scene(scene, sole_margin)
        planned = motion(scene, person, options=options, progress=stage)
        executed = execute_plan(planned, progress=stage) if execute else None
        compared = None if against is None else _comparison(planned, against, model, stage)
        stage("report")
        recorded = RECORDED_INSTANTS_S.get(source, ())
        files = report.write_motion_plan(
            planned,
            output,
            recorded=recorded,
            execution=executed,
            comparison=compared,
            overwrite=overwrite,
        )
    if as_json:
        print_json({**report.plan_summary(planned, executed, compared), "files": files})
        return
    console = Console(highlight=False)
    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in PHASE_COLUMNS:
        table.add_column(name.replace("_", " "))
    for row in planned.rows():
        table.add_row(*(_cell(row[name]) for name in PHASE_COLUMNS))
    console.print(table)
    if found is not None:
        console.print(Text(f"Support planner: {found.sentence}"), soft_wrap=True)
    console.print(Text(planned.sentence, style="bold"), soft_wrap=True)
    if executed is not None:
        console.print(Text(executed.sentence, style="bold"), soft_wrap=True)
    if compared is not None:
        console.print(Text(compared.headline()), soft_wrap=True)
    console.print(Text(f"{output}: {', '.join(path.name for path in files)}"), soft_wrap=True)


def _comparison(
    planned: MotionPlan, source: str, model: str | None, stage: Callable[[str], None]
) -> PlanComparison:
    """The plan beside a recording, which is analyzed with its own default model."""
    from homodyn.analysis import RecordedMotion, Settings, read_motion
    from homodyn.analysis.plan_comparison import PlanComparison
    from homodyn.analysis.recorded_motion import TABLE_SUFFIXES

    path = Path(source)
    if path.suffix.lower() in TABLE_SUFFIXES and model is None:
        from homodyn.capture import motion_from_table, read_table

        motion = motion_from_table(planned.model, read_table(path))
        return PlanComparison(planned, RecordedMotion(path.stem, motion))
    settings = Settings() if model is None else Settings(model=model)
    return PlanComparison(planned, read_motion(path, settings, progress=stage))


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
