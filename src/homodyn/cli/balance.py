"""``homodyn balance``: balance margins of a scene or a motion."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from homodyn.cli.json_output import print_json
from homodyn.cli.models import find
from homodyn.cli.option_groups import AsJson, OutputFolder, Overwrite
from homodyn.cli.progress import stage_progress
from homodyn.errors import FormatError

PHASE_COLUMNS = (
    "phase",
    "start_s",
    "end_s",
    "worst_s",
    "force_N",
    "wrench_Nm",
    "limit",
    "min_duration_s",
    "static_polygon",
    "margin_to_next_Nm",
)
"""Columns of the phase table that are printed."""
TABLE_SUFFIXES = (".mot", ".sto", ".csv")


def balance(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SCENE|MOTION",
            help="A scene (a .toml file, or a bundled one: biped, car, complex, quadruped, ramp), "
            "or a table of coordinates (.mot, .sto, .csv).",
        ),
    ],
    output: OutputFolder,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            metavar="NAME|FILE",
            help="Model of the motion; by default model.toml in the same folder, as written by "
            "`homodyn analyze`.",
        ),
    ] = None,
    plates: Annotated[
        Path | None,
        typer.Option(
            "--plates",
            metavar="FILE",
            help="Force plates, from which stance phases are found and verified.",
        ),
    ] = None,
    friction: Annotated[
        float, typer.Option(metavar="MU", help="Friction coefficient of the soles.")
    ] = 0.7,
    grow: Annotated[
        float, typer.Option(metavar="M", help="Enlarge the soles by this margin (m).")
    ] = 0.0,
    cutoff: Annotated[
        float,
        typer.Option(metavar="HZ", help="Low-pass cutoff of the coordinates (Hz); 0 for none."),
    ] = 6.0,
    degrees: Annotated[
        bool, typer.Option("--degrees", help="Angles in the table are in degrees.")
    ] = False,
    plan: Annotated[
        bool | None,
        typer.Option(
            "--plan/--no-plan",
            help="Plan a center-of-mass path; by default for scenes without one.",
        ),
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Evaluate the balance of a scene or a motion: margins, support polygons, wrench polytopes.

    Example: `homodyn balance car -o car-balance`
    """
    from homodyn.foundation import atomic_folder
    from homodyn.motion import load_scene, scene_names
    from homodyn.report import balance_folder as report

    if Path(source).suffix in TABLE_SUFFIXES and model is None:
        model = _model_default(Path(source))
    with (
        atomic_folder(output, overwrite=overwrite, is_replaceable=report.is_result) as folder,
        stage_progress("evaluating balance"),
    ):
        if Path(source).suffix == ".toml" or source in scene_names() or model is None:
            sentence, files = report.write_scene(load_scene(source), folder, plan=plan)
        else:
            sentence, files = _evaluate_motion(
                source, model, plates, friction, grow, cutoff, degrees, folder
            )
    written = [output / path.name for path in files]
    if as_json:
        phases = _phase_rows(output / "phases.csv")
        print_json({"sentence": sentence, "phases": phases, "files": written})
        return
    console = Console(highlight=False)
    _print_phases(console, output / "phases.csv")
    console.print(Text(sentence, style="bold"), soft_wrap=True)
    console.print(Text(f"{output}: {', '.join(path.name for path in written)}"), soft_wrap=True)


def _model_default(source: Path) -> str:
    default = source.with_name("model.toml")
    if not default.is_file():
        raise FormatError(
            "a table of coordinates needs a model, and there is no model.toml in the same folder; "
            "give --model",
            str(source),
        )
    return str(default)


def _evaluate_motion(
    source: str,
    model: str,
    plates: Path | None,
    friction: float,
    grow: float,
    cutoff: float,
    degrees: bool,
    output: Path,
) -> tuple[str, list[Path]]:
    from homodyn.balance import detect_contacts, evaluate
    from homodyn.balance.wrenches import measured_wrench
    from homodyn.capture import (
        filter_motion,
        motion_from_table,
        read_plates,
        read_table,
    )
    from homodyn.report import balance_folder as report

    table = read_table(Path(source))
    motion = motion_from_table(find(model), replace(table, degrees=True) if degrees else table)
    if cutoff:
        motion = filter_motion(motion, cutoff=cutoff)
    measured = read_plates(plates) if plates is not None else ()
    phases = detect_contacts(motion, plates=measured, friction=friction, sole_margin=grow)
    result = evaluate(motion, phases)
    more = ""
    if measured:
        more = report.plates_sentence(evaluate(measured_wrench(motion, measured), phases))
    return result.sentence + more, report.write_evaluation(result, output, more=more)


def _phase_rows(path: Path) -> list[dict[str, str]]:
    import csv

    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def _print_phases(console: Console, path: Path) -> None:
    rows = _phase_rows(path)
    table = Table(box=None, padding=(0, 2, 0, 0))
    shown = [name for name in PHASE_COLUMNS if name in rows[0]]
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
