"""``homodyn gait``: search for gaits by simulation, replay, perturb and compare them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from homodyn.cli.json_output import print_json
from homodyn.cli.option_groups import AsJson, OutputFolder, Overwrite
from homodyn.cli.search_progress import SearchProgressLine
from homodyn.errors import HomodynError

if TYPE_CHECKING:
    from homodyn.gait.studies import GaitStudy

DATABASE_FILE, BEST_FOLDER = "study.db", "best"

app = typer.Typer(
    no_args_is_help=True,
    help="Search for gaits by simulation, replay, perturb and compare them.\n\n"
    "Example: `homodyn gait search human --modulation step -o human`",
)

StudyName = Annotated[
    str,
    typer.Argument(
        metavar="STUDY",
        help="A study (.toml), or human, human-normative, coman, coman-pushes of the package.",
    ),
]
ParameterFile = Annotated[
    Path,
    typer.Argument(
        metavar="GAIT", help="Folder of a search, or parameters of a gait (parameters.json)."
    ),
]
Modulation = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Stiffness and damping over the cycle: constant, step or ppoly; by default as in the "
        "study.",
    ),
]
Seed = Annotated[int, typer.Option(metavar="N", help="Seed of the search.", min=0)]


@app.command()
def search(
    study: StudyName,
    output: OutputFolder,
    modulation: Modulation = None,
    seed: Seed = 1,
    iterations: Annotated[
        int | None, typer.Option(metavar="N", help="Generations; by default as in the study.")
    ] = None,
    seeding: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FOLDER", help="Start from the best gaits of these searches; may be repeated."
        ),
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(
            metavar="PLACE", help="Where: serial, pool, or a Dask scheduler (tcp://host:8786)."
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
    as_json: AsJson = False,
) -> None:
    """Search for the best gait; the same command continues a search that was interrupted.

    The folder gets the database of all candidates (study.db) and the best gait (best/report.html).

    Example: `homodyn gait search human --modulation step -o human`
    """
    from homodyn.gait.studies.gait_solution import solve_gait
    from homodyn.report.gait_study_folder import gait_summary, write_gait_solution
    from homodyn.search import SearchOptions

    chosen = _study(study, modulation)
    output.mkdir(parents=True, exist_ok=True)
    with SearchProgressLine(1, quiet) as line:
        found = chosen.search(
            seed,
            iterations=iterations,
            seeding=[folder / DATABASE_FILE for folder in seeding or ()],
            options=SearchOptions(
                database=output / DATABASE_FILE, where=where, progress=line.update
            ),
        )
    if found.best is None:
        raise HomodynError("no candidate could be simulated")
    solution = solve_gait(chosen, found.best.parameters, seed=seed)
    files = write_gait_solution(solution, output / BEST_FOLDER, search=found.study, overwrite=True)
    if as_json:
        summary = gait_summary(solution)
        counts = {"evaluations": found.evaluations, "failed": found.failed}
        print_json({**summary, "search": counts, "files": files})
        return
    typer.echo(f"{found.evaluations} candidates, {found.failed} failed")
    typer.echo(f"the best gait {solution.sentence}")
    for note in solution.notes:
        typer.echo(f"note: {note}")
    for path in files:
        typer.echo(str(path))


@app.command()
def replay(
    study: StudyName,
    gait: ParameterFile,
    output: OutputFolder,
    modulation: Modulation = None,
    duration: Annotated[
        float | None, typer.Option(metavar="S", help="Duration (s); by default as in the study.")
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Simulate a gait again and write its page, motion and summary.

    Example: `homodyn gait replay human human --duration 30 -o longer`
    """
    from homodyn.gait.studies.gait_solution import solve_gait
    from homodyn.report.gait_study_folder import gait_summary, write_gait_solution

    solution = solve_gait(_study(study, modulation), _parameters(gait), duration=duration)
    files = write_gait_solution(solution, output, overwrite=overwrite)
    if as_json:
        print_json({**gait_summary(solution), "files": files})
        return
    typer.echo(f"the gait {solution.sentence}")
    for path in files:
        typer.echo(str(path))


@app.command()
def perturb(
    study: StudyName,
    gait: ParameterFile,
    modulation: Modulation = None,
    seeds: Annotated[int, typer.Option(metavar="N", help="Number of new seeds.", min=1)] = 20,
    first: Annotated[int, typer.Option(metavar="N", help="The first seed.", min=0)] = 1000,
    as_json: AsJson = False,
) -> None:
    """Push the swing foot with new seeds, and count how often the gait keeps its quality.

    Example: `homodyn gait perturb coman-pushes coman --seeds 50`
    """
    from homodyn.gait.studies.gait_solution import robustness

    chosen = _study(study, modulation)
    if chosen.pushes is None:
        raise HomodynError(f"study {study!r} has no pushes; coman-pushes has")
    share, stages = robustness(chosen, _parameters(gait), range(first, first + seeds))
    if as_json:
        print_json({"share": share, "stages": stages, "seeds": seeds, "first": first})
        return
    typer.echo(f"reaches the last objective with {100 * share:.0f} % of {seeds} seeds")


@app.command()
def compare(
    gaits: Annotated[
        list[Path], typer.Argument(metavar="FOLDER", help="Folders of searches or replays.")
    ],
    as_json: AsJson = False,
) -> None:
    """Compare the gaits of several folders in a table.

    Example: `homodyn gait compare human-constant human-step human-ppoly`
    """
    rows = [_comparison_row(folder) for folder in gaits]
    if as_json:
        print_json({"gaits": rows})
        return
    heads = list(rows[0])
    widths = [max(len(head), *(len(_cell(row[head])) for row in rows)) for head in heads]
    for cells in (heads, *([_cell(row[head]) for head in heads] for row in rows)):
        typer.echo("  ".join(text.ljust(n) for text, n in zip(cells, widths, strict=True)).rstrip())


def _study(source: str, modulation: str | None) -> GaitStudy:
    from homodyn.gait.studies import load_study

    return load_study(source, **({} if modulation is None else {"modulation": modulation}))


def _parameters(path: Path) -> dict[str, float]:
    """Parameters from a file, or from the best gait of a folder."""
    places = [path, path / "parameters.json", path / BEST_FOLDER / "parameters.json"]
    file = next((place for place in places if place.is_file()), None)
    if file is None:
        raise HomodynError(f"{path}: no parameters.json here or in {BEST_FOLDER}")
    content = _read_json(file)
    if not all(isinstance(value, (int, float)) for value in content.values()):
        raise HomodynError(f"{file}: parameters are numbers by name")
    return {name: float(value) for name, value in content.items()}


def _read_json(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise HomodynError(f"{file}: {error}") from None
    if not isinstance(content, dict):
        raise HomodynError(f"{file}: an object of names and values is expected")
    return content


def _comparison_row(folder: Path) -> dict[str, Any]:
    places = [folder / "summary.json", folder / BEST_FOLDER / "summary.json"]
    file = next((place for place in places if place.is_file()), None)
    if file is None:
        raise HomodynError(f"{folder}: no summary.json here or in {BEST_FOLDER}")
    content = _read_json(file)
    if "objectives" not in content or "study" not in content:
        raise HomodynError(f"{file}: this is no summary of a gait study")
    norms = content.get("norms") or {}
    return {
        "gait": folder.name,
        "stage": f"{content['stage']} of {content['stages']}",
        **content["objectives"],
        "peak force": norms.get("peak_force_body_weights"),
        "knee": norms.get("swing_knee_flexion_deg"),
        **{f"r {name}": r for name, r in norms.get("correlations", {}).items()},
    }


def _cell(value: Any) -> str:
    return "-" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
