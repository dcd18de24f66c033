"""``homodyn codesign``: topologies of wearable robots, checks of designs, search and reports."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from homodyn.cli.json_output import fail_with_json, print_json
from homodyn.cli.option_groups import AsJson, OutputFolder, Overwrite
from homodyn.cli.search_progress import SearchProgressLine
from homodyn.errors import HomodynError

if TYPE_CHECKING:
    from homodyn.codesign import DesignStudy

DATABASE_FILE, BEST_FOLDER = "study.db", "best"

app = typer.Typer(
    no_args_is_help=True,
    help="Topologies of wearable robots, checks of designs, search and reports.\n\n"
    "Example: `homodyn codesign search wearable -o robots`",
)

StudyName = Annotated[
    str, typer.Argument(metavar="STUDY", help="A design study (.toml), or wearable of the package.")
]
Passive = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Joints without an actuator: pin, spring or clutch; by default as in the study.",
    ),
]

RobotLinks = Annotated[
    int, typer.Option("--links", metavar="N", help="Links of the robot on one leg; even.")
]


@app.command()
def topologies(links: RobotLinks = 4, as_json: AsJson = False) -> None:
    """List the topologies of a robot on torso, thigh and shank with their actuator pairs.

    Example: `homodyn codesign topologies --json`
    """
    from homodyn.codesign import topologies as find_topologies

    found = find_topologies(links)
    if as_json:
        rows = [
            {
                "number": one.number,
                "mobility": one.mobility,
                "joints": dict(enumerate(one.linkage.joints, start=1)),
                "pairs": one.pairs,
                "free_joints": one.free_joints,
                "closure_joints": one.closure_joints,
                "assumed": one.assumed,
            }
            for one in found
        ]
        print_json({"topologies": rows, "pairs": sum(len(one.pairs) for one in found)})
        return
    for one in found:
        joints = ", ".join(
            f"{n} {'-'.join(pair)}" for n, pair in enumerate(one.linkage.joints, start=1)
        )
        pairs = " ".join(f"{first}-{second}" for first, second in one.pairs)
        typer.echo(f"topology {one.number}: {joints}")
        typer.echo(f"  actuator pairs ({len(one.pairs)}): {pairs or 'none'}")
    typer.echo(f"{len(found)} topologies, {sum(len(one.pairs) for one in found)} actuator pairs")


@app.command()
def draw(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="FOLDER",
            help="Folder of a search: draw its best robot over the gait cycle; by default all "
            "topologies.",
        ),
    ] = None,
    study: Annotated[
        str, typer.Option(metavar="STUDY", help="The study of the search.")
    ] = "wearable",
    links: RobotLinks = 4,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="A .png, .svg or .pdf file.")
    ] = Path("topologies.png"),
    as_json: AsJson = False,
) -> None:
    """Draw the topologies on a schematic leg, or the best robot of a search over the gait cycle.

    Example: `homodyn codesign draw -o topologies.png`
    """
    from homodyn.codesign import draw_topologies
    from homodyn.codesign import topologies as find_topologies
    from homodyn.report import save_figure

    if folder is not None:
        from homodyn.codesign.design_drawing import design_figure

        solution = _best(_study(study), folder)
        save_figure(design_figure(solution), output)
        if as_json:
            print_json({"file": output, "group": solution.group})
        else:
            typer.echo(f"{output}: robot {solution.group} {solution.sentence}")
        return
    found = find_topologies(links)
    save_figure(draw_topologies(found), output)
    if as_json:
        print_json({"file": output, "topologies": len(found)})
        return
    typer.echo(f"{output}: {len(found)} topologies")


@app.command()
def check(
    design: Annotated[Path, typer.Argument(metavar="DESIGN", help="A design (.toml).")],
    height: Annotated[
        float, typer.Option(metavar="M", help="Height of the person (m).", min=0.5, max=2.5)
    ] = 1.8,
    as_json: AsJson = False,
) -> None:
    """Check a design along normative poses of walking: bars, reach, singular poses.

    A design that is rejected ends with exit code 1.

    Example: `homodyn codesign check design.toml`
    """
    import numpy as np

    from homodyn.catalog import winter_human
    from homodyn.codesign import DesignVerdict, attach_device, check_designs, load_design

    chosen = load_design(design)
    device = attach_device(winter_human(height=height), chosen.topology)
    checks = check_designs(
        device, np.array([chosen.actuated]), chosen.shares[None], chosen.free_places[None]
    )
    verdict = checks.verdicts[0]
    if as_json:
        summary = {
            "verdict": verdict.name.lower(),
            "reason": checks.reason(0),
            "bar_lengths_m": checks.bar_lengths[0],
            "reached": checks.reached[0],
            "loop_condition": checks.loop_condition[0],
            "actuator_control": checks.actuator_control[0],
            "worst_pose_percent": checks.worst_pose[0],
        }
        if verdict is not DesignVerdict.ACCEPTED:
            fail_with_json(summary, checks.reason(0))
        print_json(summary)
        return
    typer.echo(f"topology {chosen.topology.number}, {checks.reason(0)}")
    typer.echo(f"  bars {checks.bar_lengths[0, 0]:.3f} to {checks.bar_lengths[0, 1]:.3f} m")
    typer.echo(f"  loops close in {100 * checks.reached[0]:.0f} % of the poses")
    if verdict is not DesignVerdict.ACCEPTED:
        raise typer.Exit(1)


@app.command()
def search(
    study: StudyName,
    output: OutputFolder,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the search.", min=0)] = 1,
    iterations: Annotated[
        int | None, typer.Option(metavar="N", help="Generations; by default as in the study.")
    ] = None,
    population: Annotated[
        int | None, typer.Option(metavar="N", help="Particles; by default as in the study.")
    ] = None,
    passive: Passive = None,
    where: Annotated[
        str | None,
        typer.Option(
            metavar="PLACE", help="Where: serial, pool, or a Dask scheduler (tcp://host:8786)."
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
    as_json: AsJson = False,
) -> None:
    """Search for the best robot; the same command continues a search that was interrupted.

    The folder gets the database of all candidates (study.db) and the best robot (best/report.html).

    Example: `homodyn codesign search wearable -o robots`
    """
    from homodyn.search import SearchOptions

    changes = {"passive": passive, "population": population}
    chosen = _study(study, **{name: x for name, x in changes.items() if x is not None})
    output.mkdir(parents=True, exist_ok=True)
    with SearchProgressLine(chosen.space.subspaces, quiet) as line:
        found = chosen.search(
            seed,
            iterations=iterations,
            options=SearchOptions(
                database=output / DATABASE_FILE, where=where, progress=line.update
            ),
        )
    if found.best is None:
        raise HomodynError("no candidate could be evaluated")
    _write_report(chosen, output, output / BEST_FOLDER, False, as_json, overwrite=True)


@app.command()
def report(
    study: StudyName,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder of a search.")],
    output: OutputFolder,
    every_topology: Annotated[
        bool,
        typer.Option("--every-topology", help="Also simulate the best robot of each topology."),
    ] = False,
    passive: Passive = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Write the page of a search: its best robot, drawings, motors, cuffs, visits and results.

    Example: `homodyn codesign report wearable robots -o page --every-topology`
    """
    chosen = _study(study, **({} if passive is None else {"passive": passive}))
    _write_report(chosen, folder, output, every_topology, as_json, overwrite=overwrite)


def _write_report(
    study: DesignStudy,
    folder: Path,
    output: Path,
    every_topology: bool,
    as_json: bool,
    *,
    overwrite: bool,
) -> None:
    """Write the page of the best robot in the database of a folder, and print the outcome."""
    from homodyn.codesign.design_solution import solve_design
    from homodyn.codesign.search_outcome import open_search, search_outcome
    from homodyn.report.design_study_folder import design_summary, write_design_solution

    recorded = open_search(folder, DATABASE_FILE)
    outcome = search_outcome(study, recorded)
    solution = _best(study, folder)
    others = []
    if every_topology:
        for one in outcome.best.values():
            other = solve_design(study, one.parameters, one.structure)
            if other.group != solution.group and other.result is not None:
                others.append(other)
    files: list[Path] = []
    if solution.result is not None:
        files = write_design_solution(
            solution, output, outcome=outcome, search=recorded, others=others, overwrite=overwrite
        )
    if as_json:
        print_json({**design_summary(solution, outcome), "files": files})
        return
    counts = ", ".join(f"{n} {name}" for name, n in outcome.counts.items() if n)
    typer.echo(f"{outcome.candidates} candidates: {counts}")
    typer.echo(f"the best robot ({solution.group}) {solution.sentence}")
    for path in files:
        typer.echo(str(path))


def _study(source: str, **changes: Any) -> DesignStudy:
    from homodyn.codesign import load_design_study

    return load_design_study(source, **changes)


def _best(study: DesignStudy, folder: Path) -> Any:
    """The best robot in the database of a folder, simulated again."""
    from homodyn.codesign.design_solution import solve_design
    from homodyn.codesign.search_outcome import open_search
    from homodyn.search import best_solutions

    found = best_solutions(open_search(folder, DATABASE_FILE))
    if not found:
        raise HomodynError(f"{folder}: no candidate of this search could be evaluated")
    return solve_design(study, found[0].parameters, found[0].structure)
