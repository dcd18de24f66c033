"""``homodyn model``: look at models, check, convert and draw them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

if TYPE_CHECKING:
    from homodyn.model import Model

CATALOG = "catalog:"
STYLES = {"error": "bold red", "warning": "yellow", "note": "dim"}

app = typer.Typer(
    no_args_is_help=True,
    help="Look at models, check, convert and draw them.\n\nExample: `homodyn model info heiman`",
)

Source = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="A file (.toml, .lua, .urdf, .osim) or a body of the catalog, such as heiman.",
    ),
]
Measured = Annotated[
    bool,
    typer.Option("--as-measured", help="Take inertias of a file that no rigid body can have."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]


def find(source: str, as_measured: bool = False) -> Model:
    """The model that a word of the command line means: a file, or a body of the catalog."""
    from homodyn import catalog
    from homodyn.errors import ModelError
    from homodyn.model import load

    if source.startswith(CATALOG):
        return catalog.build(source.removeprefix(CATALOG))
    names = [entry.name for entry in catalog.entries()]
    if source in names and not Path(source).exists():
        return catalog.build(source)
    if Path(source).suffix or Path(source).exists():
        return load(source, as_measured=as_measured or None)
    raise ModelError(
        f"{source!r} is neither a file nor a body of the catalog, which has {', '.join(names)}"
    )


@app.command("list")
def list_(
    name: Annotated[str | None, typer.Argument(help="One body; all of them when left out.")] = None,
) -> None:
    """List the bodies of the catalog with their sources and assumptions.

    Example: `homodyn model list`
    """
    from homodyn import catalog

    typer.echo(catalog.description(name))


@app.command()
def info(source: Source, as_measured: Measured = False, as_json: Json = False) -> None:
    """Show bodies, joints, coordinates, markers and contacts of a model.

    Example: `homodyn model info heiman`
    """
    from homodyn.report.model_info import describe, tables

    model = find(source, as_measured)
    if as_json:
        typer.echo(json.dumps(describe(model), indent=2, allow_nan=False))
        return
    console = Console(highlight=False)
    for table in tables(model):
        console.print(table)


@app.command()
def check(
    source: Source,
    strict: Annotated[
        bool, typer.Option("--strict", help="Let warnings count as errors do.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Check a model: exit code 1 when something is wrong with it.

    Example: `homodyn model check heiman`
    """
    from homodyn.analysis import model_check

    if Path(source).is_file():
        checked = model_check.check_file(source)
    else:
        checked = model_check.check(find(source))
    if as_json:
        typer.echo(json.dumps(checked.to_dict(), indent=2))
    else:
        console = Console(highlight=False)
        for finding in checked.findings:
            line = Text(f"{finding.severity:8}", style=STYLES[finding.severity])
            line.append(f"{finding.subject}: ", style="bold")
            console.print(line.append(finding.sentence, style="not bold"), soft_wrap=True)
        console.print(Text(checked.summary), soft_wrap=True)
    if not checked.sound(strict=strict):
        raise typer.Exit(1)


@app.command()
def convert(
    source: Source,
    target: Annotated[
        Path, typer.Argument(metavar="FILE", help="To write: .toml, .lua, .urdf, .mjcf or .xml.")
    ],
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    as_measured: Measured = False,
) -> None:
    """Write a model in another format and say what was lost on the way.

    Example: `homodyn model convert heiman heiman.urdf`
    """
    from homodyn.model.formats.convert import convert as write

    model = find(source, as_measured)
    lost = write(model, target, like=source if source.endswith(".lua") else None, force=force)
    typer.echo(f"{target}: {model!r}")
    for sentence in lost:
        typer.echo(f"lost: {sentence}")
    if not lost:
        typer.echo("Nothing was lost.")


@app.command()
def draw(
    source: Source,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="A .png, .svg or .pdf file.")
    ] = Path("body.png"),
    pose: Annotated[
        Path | None,
        typer.Option(
            "--pose",
            metavar="CSV",
            help="Coordinates (rad, m) under their names; the default pose when left out.",
        ),
    ] = None,
    default: Annotated[bool, typer.Option("--default", help="Draw the default pose.")] = False,
    row: Annotated[int, typer.Option("--row", help="Row of the CSV file, from 0.", min=0)] = 0,
    labels: Annotated[bool, typer.Option("--labels", help="Name the markers.")] = False,
    markers: Annotated[bool, typer.Option(help="Draw the markers.")] = True,
    as_measured: Measured = False,
) -> None:
    """Draw a model from the front and from its right side.

    Example: `homodyn model draw heiman --default -o body.png`
    """
    from homodyn.errors import HomodynError
    from homodyn.model.formats.pose import read_pose
    from homodyn.report import draw as drawing
    from homodyn.report import save_drawing

    if default and pose is not None:
        raise HomodynError("give either --pose or --default, not both")
    model = find(source, as_measured)
    q = model.neutral() if pose is None else read_pose(model, pose, row=row)
    save_drawing(drawing(model, q, labels=labels, markers=markers), output)
    typer.echo(f"{output}: {model!r}")
