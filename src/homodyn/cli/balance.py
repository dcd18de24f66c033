"""``homodyn balance``: how far a scene or a motion is from losing its balance."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from homodyn.cli.models import find
from homodyn.errors import FormatError

SHOWN = (
    "phase",
    "start_s",
    "end_s",
    "worst_s",
    "force_N",
    "wrench_Nm",
    "limit",
    "shortest_s",
    "static_polygon",
    "room_to_next_Nm",
)
"""Columns of the table of phases that fit a screen."""
TABLES = (".mot", ".sto", ".csv")


def balance(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SCENE|MOTION",
            help="A scene (.toml, or one that comes along: biped, car, complex, quadruped, ramp), "
            "or a table of coordinates (.mot, .sto, .csv).",
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where figures and tables go.")
    ],
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            help="The model that a motion moves; by default model.toml beside it, as "
            "`homodyn analyze` writes it.",
        ),
    ] = None,
    plates: Annotated[
        Path | None,
        typer.Option(
            "--plates", help="Force plates: they tell when feet stand, and check the stances."
        ),
    ] = None,
    friction: Annotated[float, typer.Option(help="Friction of the soles of a motion.")] = 0.7,
    grow: Annotated[float, typer.Option(help="Widen the soles of a motion by this, m.")] = 0.0,
    cutoff: Annotated[
        float, typer.Option(help="Low-pass of the coordinates of a motion, Hz; 0 for none.")
    ] = 6.0,
    degrees: Annotated[
        bool, typer.Option("--degrees", help="Angles of the table are in degrees.")
    ] = False,
    plan: Annotated[
        bool | None,
        typer.Option(
            "--plan/--no-plan",
            help="Plan a path of the centre of mass; by default for scenes without one.",
        ),
    ] = None,
) -> None:
    """Judge a scene or a motion: margins, polygons, polytopes and the weakest instant.

    Example: `homodyn balance car -o car-balance`
    """
    from homodyn.balance import load_scene, scene_names
    from homodyn.report import balance as report

    console = Console(highlight=False)
    if Path(source).suffix in TABLES and model is None:
        model = _model_beside(Path(source))
    if Path(source).suffix == ".toml" or source in scene_names() or model is None:
        sentence, written = report.write_scene(load_scene(source), output, plan=plan)
    else:
        sentence, written = _motion(source, model, plates, friction, grow, cutoff, degrees, output)
    _print_phases(console, output / "phases.csv")
    console.print(Text(sentence, style="bold"), soft_wrap=True)
    console.print(Text(f"{output}: {', '.join(path.name for path in written)}"), soft_wrap=True)


def _model_beside(source: Path) -> str:
    beside = source.with_name("model.toml")
    if not beside.is_file():
        raise FormatError(
            "a table of coordinates needs the model it moves, and there is no model.toml beside "
            "it: give --model",
            str(source),
        )
    return str(beside)


def _motion(
    source: str,
    model: str,
    plates: Path | None,
    friction: float,
    grow: float,
    cutoff: float,
    degrees: bool,
    output: Path,
) -> tuple[str, list[Path]]:
    from homodyn.balance import detect, evaluate, measured
    from homodyn.capture import (
        filter_motion,
        motion_from_table,
        read_plates,
        read_table,
    )
    from homodyn.report import balance as report

    table = read_table(Path(source))
    motion = motion_from_table(find(model), replace(table, degrees=True) if degrees else table)
    if cutoff:
        motion = filter_motion(motion, cutoff=cutoff)
    known = read_plates(plates) if plates is not None else ()
    phases = detect(motion, plates=known, friction=friction, grow=grow)
    judged = evaluate(motion, phases)
    more = report.plates_sentence(evaluate(measured(motion, known), phases)) if known else ""
    return judged.sentence + more, report.write_evaluation(judged, output, more=more)


def _print_phases(console: Console, path: Path) -> None:
    import csv

    rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    table = Table(box=None, padding=(0, 2, 0, 0))
    shown = [name for name in SHOWN if name in rows[0]]
    for name in shown:
        table.add_column(name.replace("_", " "), style="bold" if name == "phase" else "")
    for row in rows:
        table.add_row(*(Text(_short(row[name])) for name in shown))
    console.print(table)


def _short(cell: str) -> str:
    try:
        return f"{float(cell):.4g}"
    except ValueError:
        return cell
