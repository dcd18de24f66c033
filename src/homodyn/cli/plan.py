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
    from homodyn.plan import MotionPlan

PHASE_COLUMNS = ("phase", "start_s", "end_s", "flights", "clearance_mm", "margin_Nm")
"""Columns of the phase table that are printed."""


def plan(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SCENE",
            help="A scene whose supports name bodies: a .toml file, or a case: board, car.",
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
    ] = 100.0,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of random samples.")] = 0,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Plan a motion through a scene: balance, postures, flights of feet and hands, clearance.

    A scene without phases gets supports and their order from the support planner.

    Examples: `homodyn plan board -o board-plan`, `homodyn plan board --execute -o board-run`
    """
    from homodyn.plan import MotionPlanOptions, load_case, motion, plan_supports, robust_scene
    from homodyn.plan import execute as execute_plan
    from homodyn.plan.cases import RECORDED_INSTANTS_S
    from homodyn.report import motion_plan_folder as report

    options = MotionPlanOptions(clearance=clearance, flight=flight, seed=seed, rate=rate)
    scene = load_case(source)
    with stage_progress("planning") as stage:
        person = None if model is None else find(model)
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


def _cell(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else "" if value is None else str(value)
