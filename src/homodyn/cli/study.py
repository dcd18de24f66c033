"""``homodyn study``: what tracking by physics depends on, each with its figure."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from homodyn.cli.json_output import print_json
from homodyn.cli.models import find
from homodyn.cli.option_groups import AsJson, OutputFolder, Overwrite
from homodyn.cli.progress import Stage, stage_progress

if TYPE_CHECKING:
    from homodyn.track import TrackingResult
    from homodyn.track.studies import TrackingStudy

app = typer.Typer(
    no_args_is_help=True,
    help="Study tracking by physics: noise, fewer markers, arm swing, reaches, occlusion, replay."
    "\n\nEach study tracks a trial first, and writes a page with its figure, a table and a summary."
    "\n\nExample: `homodyn study noise walk.c3d --model hdm -o noise`",
)

TrialFile = Annotated[Path, typer.Argument(metavar="TRIAL", help="A recording (.c3d, .trc, .csv).")]
ModelName = Annotated[
    str,
    typer.Option(
        "--model",
        "-m",
        metavar="MODEL",
        help="A file (.toml, .lua, .urdf, .osim) or a catalog name, such as hdm.",
    ),
]
Residual = Annotated[
    float,
    typer.Option(metavar="NM", help="Largest residual torque about the horizontal axes (N m)."),
]
Trials = Annotated[int, typer.Option(metavar="N", help="Trials of each condition.", min=1)]
Seed = Annotated[int, typer.Option(metavar="N", help="Start of the random numbers.", min=0)]


@app.command()
def noise(
    trial: TrialFile,
    output: OutputFolder,
    model: ModelName = "hdm",
    trials: Trials = 20,
    seed: Seed = 0,
    residual: Residual = 100.0,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Errors of angles and torques with marker noise of 0.1 to 64 mm (Figure 3 of HDM).

    Example: `homodyn study noise walk.c3d -o noise --trials 20`
    """
    from homodyn.track.studies import noise_study

    with stage_progress("tracking") as show:
        reference = _track_trial(trial, model, residual)
        study = noise_study(
            reference, trials=trials, seed=seed, progress=_share(show, "tracking with noise")
        )
    _finish(study, reference, f"noise: {trial.name}", output, overwrite, as_json)


@app.command()
def markers(
    trial: TrialFile,
    output: OutputFolder,
    model: ModelName = "hdm",
    residual: Residual = 100.0,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Joint angles with 20 and 10 markers, and with head, hands and feet (Figures 8 and 9 of HDM).

    Example: `homodyn study markers walk.c3d -o markers`
    """
    from homodyn.track.studies import marker_study

    with stage_progress("tracking") as show:
        reference = _track_trial(trial, model, residual)
        study = marker_study(reference, progress=_share(show, "tracking with fewer markers"))
    _finish(study, reference, f"markers: {trial.name}", output, overwrite, as_json)


@app.command()
def arms(
    trial: TrialFile,
    output: OutputFolder,
    model: ModelName = "hdm",
    residual: Residual = 100.0,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Cost of a walk with the arms held against that with arm swing (Figure 7 of HDM).

    Example: `homodyn study arms walk.c3d -o arms`
    """
    from homodyn.track.studies import arm_study

    with stage_progress("tracking") as show:
        reference = _track_trial(trial, model, residual)
        study = arm_study(reference, progress=_share(show, "tracking with arms held"))
    _finish(study, reference, f"arms: {trial.name}", output, overwrite, as_json)


@app.command()
def reach(
    trial: TrialFile,
    output: OutputFolder,
    model: ModelName = "hdm",
    trials: Trials = 10,
    seed: Seed = 0,
    residual: Residual = 100.0,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Effort of synthetic reaches of the body of a trial to eight targets (Figure 6 of HDM).

    Example: `homodyn study reach walk.c3d -o reach`
    """
    from homodyn.track.studies import reach_study

    with stage_progress("tracking") as show:
        reference = _track_trial(trial, model, residual)
        study = reach_study(
            reference.motion.model,
            reference.options,
            trials=trials,
            seed=seed,
            progress=_share(show, "reaching"),
        )
    _finish(study, reference, f"reach: body of {trial.name}", output, overwrite, as_json)


@app.command()
def occlusion(
    trial: TrialFile,
    output: OutputFolder,
    model: ModelName = "hdm",
    trials: Trials = 5,
    seed: Seed = 0,
    residual: Residual = 100.0,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Joint angles while 5 to 40 % of the markers vanish for 0.2 s at random.

    Example: `homodyn study occlusion walk.c3d -o occlusion`
    """
    from homodyn.track.studies import occlusion_study

    with stage_progress("tracking") as show:
        reference = _track_trial(trial, model, residual)
        study = occlusion_study(
            reference, trials=trials, seed=seed, progress=_share(show, "hiding markers")
        )
    _finish(study, reference, f"occlusion: {trial.name}", output, overwrite, as_json)


@app.command()
def replay(
    trial: TrialFile,
    output: OutputFolder,
    model: ModelName = "hdm",
    residual: Residual = 100.0,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Torques in closed loop, rewound at each step, and replayed in open loop.

    Example: `homodyn study replay walk.c3d -o replay`
    """
    from homodyn.track.studies import replay_study

    with stage_progress("tracking") as show:
        reference = _track_trial(trial, model, residual)
        show("replaying")
        study = replay_study(reference)
    _finish(study, reference, f"replay: {trial.name}", output, overwrite, as_json)


def _track_trial(trial: Path, model: str, residual: float) -> TrackingResult:
    from homodyn.capture import read
    from homodyn.track import track

    return track(find(model), read(trial), residual_limits=residual)


def _share(show: Stage, stage: str) -> Callable[[float], None]:
    """A function that shows a stage with the share of it that is completed."""
    return lambda share: show(f"{stage}, {100 * share:.0f} %")


def _finish(
    study: TrackingStudy,
    reference: TrackingResult,
    name: str,
    output: Path,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Write a study and print its findings."""
    from homodyn.report.tracking_study_folder import tracking_study_summary, write_tracking_study

    notes = (f"Tracking of the trial: {reference.message}.", *reference.notes)
    paths = write_tracking_study(study, output, name=name, notes=notes, overwrite=overwrite)
    if as_json:
        print_json({**tracking_study_summary(study, name, notes), "files": paths})
        return
    typer.echo(study.title)
    for sentence in study.findings():
        typer.echo(sentence)
    for path in paths:
        typer.echo(str(path))
