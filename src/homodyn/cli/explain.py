"""``homodyn explain``: the weights of walking criteria that explain a recorded walk."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from homodyn.cli.json_output import fail_with_json, print_json
from homodyn.cli.option_groups import (
    AsJson,
    OutputFolder,
    Overwrite,
    SubjectOptions,
    expand_options,
)
from homodyn.cli.progress import Stage, stage_progress
from homodyn.errors import HomodynError
from homodyn.foundation.text import unknown_name

if TYPE_CHECKING:
    from homodyn.gait.synthesis import InferredObjective, ReferenceStep


@expand_options
def explain(
    output: OutputFolder,
    person: SubjectOptions,
    walk: Annotated[
        Path | None,
        typer.Argument(
            metavar="WALK",
            help="A recording (.c3d, .trc), a table of coordinates of heiman, or a result folder "
            "of analyze.",
            show_default=False,
        ),
    ] = None,
    stored: Annotated[
        str | None,
        typer.Option(
            "--stored", metavar="NAME", help="Explain a bundled step instead, such as 'mixed free'."
        ),
    ] = None,
    friction: Annotated[
        float,
        typer.Option(
            metavar="MU", help="Friction coefficient of the ground; inf: no friction cones."
        ),
    ] = 0.8,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Find the weights of walking criteria that explain a recorded walk (inverse optimal control).

    Computes the periodic step nearest to the walk, and the weights of torque, angular momentum,
    head and time for which it is nearest to optimal. The exit code is 1 when there is no such step.

    Example: `homodyn explain walk.c3d --mass 72 --height 1.78 -o explained`
    """
    if (walk is None) == (stored is None):
        raise HomodynError("give either a recorded WALK or the name of a bundled step: --stored")
    if output.exists() and not overwrite:
        raise HomodynError(f"{output} exists already; choose another folder, or --overwrite")
    with stage_progress("reading") as show:
        if stored is not None:
            found, reference = _explain_stored(stored, show)
        else:
            bound = None if friction == math.inf else friction
            found, reference = _explain_recorded(Path(str(walk)), person, bound, show)
    summary = _summary(found, reference)
    _write(summary, output, overwrite)
    solution = found.solution
    failed = solution is not None and not solution.status.success
    error = solution.explain() if solution is not None and failed else ""
    if as_json:
        if failed:
            fail_with_json(summary, error)
        print_json(summary)
        return
    _print(summary)
    if failed:
        Console(stderr=True, highlight=False).print(Text(error, style="red"), soft_wrap=True)
        raise typer.Exit(1)


def _explain_recorded(
    walk: Path, person: SubjectOptions, friction: float | None, show: Stage
) -> tuple[InferredObjective, ReferenceStep]:
    """The objective of a recorded walk, and the walk."""
    from homodyn.analysis import read_motion
    from homodyn.gait.synthesis import ReferenceStep, explain_walk, similar_walking_model

    recorded = read_motion(walk, person.settings(), progress=show)
    model = similar_walking_model(recorded.motion.model)
    reference = ReferenceStep.from_motion(
        recorded.motion, model, name=recorded.name, events=recorded.events
    )
    show("solving: the periodic step nearest to the walk")
    return explain_walk(model, reference, friction=friction), reference


def _explain_stored(name: str, show: Stage) -> tuple[InferredObjective, ReferenceStep]:
    """The objective of a bundled step, and the step as its own reference."""
    from homodyn.gait import stored_steps, walking_model
    from homodyn.gait.synthesis import ReferenceStep, infer_objective

    steps = stored_steps()
    if name not in steps:
        raise HomodynError(f"there is {unknown_name('bundled step', name, steps)}")
    show("differentiating")
    found = infer_objective(walking_model(), steps[name], free_speed=name.endswith("free"))
    return found, ReferenceStep.from_step(steps[name])


def _summary(found: InferredObjective, reference: ReferenceStep) -> dict[str, Any]:
    """Weights, remainders and the distance of the nearest step, as plain values."""
    from homodyn.analysis.provenance import software_versions

    near = reference.similarity(found.step)
    weights = found.weights
    return {
        "complete": True,
        "kind": "inverse optimal control",
        "name": reference.name,
        "versions": software_versions(),
        "status": str(found.step.status if found.solution is None else found.solution.status),
        "objective": found.objective.name,
        "weights": dict(weights.weights),
        "shares": dict(weights.shares),
        "remainder": weights.remainder,
        "remainder_of_single_criteria": dict(weights.single),
        "nearest_step": {
            "speed_m_s": found.step.speed,
            "duration_s": found.step.duration,
            "length_m": float(found.step.parameters["length"]),
            "posture_distance": near.posture,
            "duration_distance_s2": near.duration,
        },
    }


def _write(summary: dict[str, Any], output: Path, overwrite: bool) -> None:
    from homodyn.analysis.result_files import SUMMARY, is_result
    from homodyn.foundation import atomic_folder

    with atomic_folder(output, overwrite=overwrite, is_replaceable=is_result) as folder:
        text = json.dumps(summary, indent=2, allow_nan=False, ensure_ascii=False)
        (folder / SUMMARY).write_text(text + "\n", encoding="utf-8")


def _print(summary: dict[str, Any]) -> None:
    from homodyn.optimal import SolveStatus

    console = Console(highlight=False)
    near = summary["nearest_step"]
    console.print(
        f"{summary['status']}: periodic step at {near['speed_m_s']:.2f} m/s, "
        f"{near['duration_s']:.3f} s; its postures differ from the walk by "
        f"{math.sqrt(near['posture_distance']):.3f} rad (rms), its duration by "
        f"{1e3 * math.sqrt(near['duration_distance_s2']):.0f} ms",
        soft_wrap=True,
    )
    if summary["status"] not in map(str, (SolveStatus.SOLVED, SolveStatus.ACCEPTABLE)):
        console.print("The step is not the nearest one: take its weights as an estimate.")
    console.print(f"objective: {summary['objective']}", soft_wrap=True)
    for name, weight in summary["weights"].items():
        console.print(
            f"  {name}: weight {weight:.4g}, {summary['shares'][name]:.0%} of the gradients, "
            f"alone unexplained {summary['remainder_of_single_criteria'][name]:.1%}"
        )
    console.print(f"unexplained: {summary['remainder']:.1%} of the gradients")
