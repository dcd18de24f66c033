"""``homodyn model``: inspect, check, convert and draw models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from homodyn.cli.json_output import fail_with_json, print_json
from homodyn.cli.option_groups import AsJson, Overwrite

if TYPE_CHECKING:
    from homodyn.model import Model

CATALOG_PREFIX = "catalog:"
SEVERITY_STYLES = {"error": "bold red", "warning": "yellow", "info": "dim"}

app = typer.Typer(
    no_args_is_help=True,
    help="Inspect, check, convert and draw models.\n\nExample: `homodyn model info heiman`",
)

Source = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="A file (.toml, .lua, .urdf, .osim) or a catalog name, such as heiman.",
    ),
]
Measured = Annotated[
    bool,
    typer.Option("--as-measured", help="Accept inertias that no rigid body can have."),
]


def find(source: str, as_measured: bool = False) -> Model:
    """The model that an argument names: a file, or a model of the catalog.

    Args:
        source: Path of a file, or a catalog name, which ``catalog:`` may precede.
        as_measured: Accept inertias that no rigid body can have.

    Returns:
        The model.

    Raises:
        ModelError: There is neither a file nor a model of the catalog of that name.
    """
    from homodyn import catalog
    from homodyn.errors import ModelError
    from homodyn.model import load

    if source.startswith(CATALOG_PREFIX):
        return catalog.build(source.removeprefix(CATALOG_PREFIX))
    names = [entry.name for entry in catalog.entries()]
    if source in names and not Path(source).exists():
        return catalog.build(source)
    if Path(source).suffix or Path(source).exists():
        return load(source, as_measured=as_measured or None)
    raise ModelError(
        f"{source!r} is neither a file nor a model of the catalog, which has {', '.join(names)}"
    )


@app.command("list")
def list_(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="One model; all of them by default.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the models of the catalog with their sources and assumptions.

    Example: `homodyn model list`
    """
    from homodyn import catalog

    if as_json:
        names = [entry.name for entry in catalog.entries()] if name is None else [name]
        print_json({each: catalog.description(each) for each in names})
        return
    typer.echo(catalog.description(name))


@app.command()
def info(source: Source, as_measured: Measured = False, as_json: AsJson = False) -> None:
    """Show bodies, joints, coordinates, markers and contacts of a model.

    Example: `homodyn model info heiman`
    """
    from homodyn.cli.model_tables import describe, tables

    model = find(source, as_measured)
    if as_json:
        print_json(describe(model))
        return
    console = Console(highlight=False)
    for table in tables(model):
        console.print(table)


@app.command()
def check(
    source: Source,
    strict: Annotated[bool, typer.Option("--strict", help="Treat warnings as errors.")] = False,
    as_json: AsJson = False,
) -> None:
    """Check a model.

    The exit code is 1 when there are errors.

    Example: `homodyn model check heiman`
    """
    from homodyn.analysis import model_check

    if Path(source).is_file():
        checked = model_check.check_model_file(source)
    else:
        checked = model_check.check_model(find(source))
    passed = checked.passes(strict=strict)
    if as_json:
        findings = [
            {"severity": f.severity, "subject": f.subject, "sentence": f.sentence}
            for f in checked.findings
        ]
        data = {"model": checked.name, "sound": checked.passes(), "findings": findings}
        if not passed:
            fail_with_json(data, checked.sentence)
        print_json(data)
        return
    console = Console(highlight=False)
    for finding in checked.findings:
        line = Text(f"{finding.severity:8}", style=SEVERITY_STYLES[finding.severity])
        line.append(f"{finding.subject}: ", style="bold")
        console.print(line.append(finding.sentence, style="not bold"), soft_wrap=True)
    console.print(Text(checked.sentence), soft_wrap=True)
    if not passed:
        raise typer.Exit(1)


@app.command()
def convert(
    source: Source,
    target: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Target: .toml, .osim, .lua, .urdf, .mjcf or .xml."),
    ],
    overwrite: Overwrite = False,
    as_measured: Measured = False,
    y_up: Annotated[
        bool,
        typer.Option("--y-up", help="Turn the world so that Y is up, as OpenSim draws it."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Convert a model to another format and list what the format cannot express.

    The contact forces of an .osim file are kept when it is converted to another .osim file.

    Example: `homodyn model convert heiman heiman.osim --y-up`
    """
    from homodyn.model.formats import convert as write
    from homodyn.model.world_rotation import rotate_world, y_up_rotation

    model = find(source, as_measured)
    turned = rotate_world(model, y_up_rotation(model)) if y_up else model
    # What is kept of the source is in its own axes.
    kept = (
        Path(source).suffix.lower() == target.suffix.lower()
        and Path(source).is_file()
        and turned is model
    )
    model = turned
    lost = write(model, target, like=source if kept else None, overwrite=overwrite)
    if as_json:
        print_json({"file": target, "model": model.name, "nv": model.nv, "lost": lost})
        return
    typer.echo(f"{target}: {model.name}, {model.nv} degrees of freedom")
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
            help="Coordinates (rad, m), one column per name; the default pose if left out.",
        ),
    ] = None,
    default: Annotated[bool, typer.Option("--default", help="Draw the default pose.")] = False,
    row: Annotated[
        int, typer.Option("--row", metavar="N", help="Row of the CSV file, from 0.", min=0)
    ] = 0,
    labels: Annotated[bool, typer.Option("--labels", help="Write the marker names.")] = False,
    markers: Annotated[
        bool, typer.Option("--markers/--no-markers", help="Draw the markers.")
    ] = True,
    as_measured: Measured = False,
    as_json: AsJson = False,
) -> None:
    """Draw a model from the front and from its right side.

    Example: `homodyn model draw heiman --default -o body.png`
    """
    from homodyn.errors import HomodynError
    from homodyn.model.formats.pose import read_pose
    from homodyn.report import draw_model, save_figure

    if default and pose is not None:
        raise HomodynError("--pose and --default exclude each other; give one of them")
    model = find(source, as_measured)
    q = model.neutral() if pose is None else read_pose(model, pose, row=row)
    save_figure(draw_model(model, q, labels=labels, markers=markers), output)
    if as_json:
        print_json({"file": output, "model": model.name, "nv": model.nv})
        return
    typer.echo(f"{output}: {model!r}")
