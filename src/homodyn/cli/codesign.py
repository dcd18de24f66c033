"""``homodyn codesign``: topologies of wearable robots, drawings, and checks of designs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from homodyn.cli.json_output import fail_with_json, print_json
from homodyn.cli.option_groups import AsJson

app = typer.Typer(
    no_args_is_help=True,
    help="Topologies of wearable robots, drawings, and checks of designs.\n\n"
    "Example: `homodyn codesign topologies`",
)

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
    links: RobotLinks = 4,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="A .png, .svg or .pdf file.")
    ] = Path("topologies.png"),
    as_json: AsJson = False,
) -> None:
    """Draw the topologies on a schematic leg.

    Example: `homodyn codesign draw -o topologies.png`
    """
    from homodyn.codesign import draw_topologies
    from homodyn.codesign import topologies as find_topologies
    from homodyn.report import save_figure

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
