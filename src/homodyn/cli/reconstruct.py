"""``homodyn reconstruct``: torques and ground forces of recorded steps by optimal control."""

from __future__ import annotations

from dataclasses import replace
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
    cutoff_setting,
    expand_options,
    path_text,
)
from homodyn.cli.progress import Stage, stage_progress
from homodyn.cli.step_options import StepOptions
from homodyn.errors import CaptureError, HomodynError

if TYPE_CHECKING:
    from homodyn.analysis.recorded_motion import RecordedMotion
    from homodyn.gait import Reconstruction
    from homodyn.gait.reconstruction import (
        PooledReconstruction,
        ReconstructionOptions,
        RecordedStep,
    )

STEP_S = 0.02
"""Length of intervals, unless their number is given."""


@expand_options
def reconstruct(
    motion: Annotated[
        Path,
        typer.Argument(
            metavar="MOTION",
            help="A recording (.c3d, .trc), a folder with one walking trial, a table of "
            "coordinates, or a result folder of analyze.",
        ),
    ],
    output: OutputFolder,
    person: SubjectOptions,
    step: StepOptions,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Reconstruct steps by optimal control: the feasible motion nearest to the recorded one.

    Writes torques, ground forces, tracking errors and a page with figures. The exit code is 1 when
    there is no solution; the page then lists the constraints that conflict.

    Steps of several trials of a person (`--with`) are one problem with one body; each has a folder.

    Example: `homodyn reconstruct walk.c3d --mass 72 --height 1.78 -o step`

    Several trials: `homodyn reconstruct walk1.c3d --with walk2.c3d --static stand.c3d -o steps`
    """
    step.check()
    if output.exists() and not overwrite:
        raise HomodynError(f"{output} exists already; choose another folder, or --overwrite")
    motion, person = _select_trial(motion, person)
    choices = step.choices(cutoff_setting(person.cutoff))
    result: Reconstruction | PooledReconstruction
    with stage_progress("reading") as show:
        if step.others:
            names, result = _solve_several(motion, person, step, show)
            show("writing")
            summary = _write_several(result, names, choices, output, overwrite)
        else:
            name, result = _solve(motion, person, step, show)
            show("writing")
            summary = _write_single(result, name, choices, output, overwrite)
    error = "" if result.solution.status.success else result.solution.explain()
    if as_json:
        if error:
            fail_with_json(summary, error)
        print_json(summary)
        return
    _print_result(result, output)
    if not error and result.deviations:
        text = f"{result.status}: {', '.join(result.deviations)}"
        Console(stderr=True, highlight=False).print(Text(text, style="yellow"), soft_wrap=True)
    if error:
        Console(stderr=True, highlight=False).print(Text(error, style="red"), soft_wrap=True)
        raise typer.Exit(1)


def _select_trial(motion: Path, person: SubjectOptions) -> tuple[Path, SubjectOptions]:
    """The trial of a folder of recordings, with its static trial; other sources as they are."""
    from homodyn.analysis.trial_folders import TRIAL_SUFFIXES, select_trials

    files = motion.iterdir() if motion.is_dir() else ()
    if not any(file.suffix.lower() in TRIAL_SUFFIXES for file in files):
        return motion, person
    selected = select_trials([motion], path_text(person.static))
    if len(selected.trials) > 1:
        names = ", ".join(selected.trials)
        raise HomodynError(f"{motion} has several trials: {names}; name one of them")
    static = None if selected.static is None else Path(selected.static)
    return Path(selected.trials[0]), replace(person, static=static)


def _solve(
    motion: Path, person: SubjectOptions, step: StepOptions, show: Stage
) -> tuple[str, Reconstruction]:
    """Name and reconstruction of the step."""
    from homodyn.analysis import read_motion
    from homodyn.gait import reconstruct as solve
    from homodyn.gait.contact_schedule import read_contact_schedule
    from homodyn.gait.reconstruction import prepare_step

    recorded = read_motion(motion, person.settings(), progress=show)
    show("detecting phases")
    span = None if step.first is None or step.last is None else (step.first, step.last)
    prepared = prepare_step(
        recorded.motion,
        recorded.loads,
        events=recorded.events,
        phases=None if step.phases == "auto" else read_contact_schedule(step.phases),
        span=span,
        steps=step.steps,
        belt_speed=step.belt_speed,
        fit_contacts=_soles_yield(step),
    )
    _print_belt(prepared)
    phases = prepared.phases
    duration = phases[-1].end - phases[0].begin
    show(f"solving: {', '.join(phase.name for phase in phases)}")
    options = _options(step, duration)
    options["phases"] = phases
    result = solve(prepared.motion, prepared.loads, **options)
    return recorded.name, replace(result, belt_speed=prepared.belt_speed)


def _solve_several(
    motion: Path, person: SubjectOptions, step: StepOptions, show: Stage
) -> tuple[list[str], PooledReconstruction]:
    """Names and reconstructions of steps of several trials, with the model of the first."""
    from homodyn.gait.reconstruction import reconstruct_steps, share_body

    trials = _read_several(motion, person, step, show)
    show("detecting phases")
    prepared = [_prepare_trial(trial, step) for trial in trials]
    for each in prepared:
        _print_belt(each)
    known = float(prepared[0].motion.model.mass)
    shared = share_body(
        prepared, mass_from_plates=person.mass is None, fit_contacts=_soles_yield(step)
    )
    mass = float(shared[0].motion.model.mass)
    if mass != known:
        Console(stderr=True, highlight=False).print(
            f"The plates of all trials carry {mass:.1f} kg (before: {known:.1f} kg).",
            soft_wrap=True,
        )
    count = sum(len(each.phases) for each in shared)
    show(f"solving: {len(shared)} trials, {count} phases")
    duration = sum(each.phases[-1].end - each.phases[0].begin for each in shared)
    result = reconstruct_steps(shared, **_options(step, duration))
    return [trial.name for trial in trials], result


def _prepare_trial(trial: RecordedMotion, step: StepOptions) -> RecordedStep:
    """The steps of one of several trials; errors name it."""
    from homodyn.gait.reconstruction import prepare_step

    try:
        return prepare_step(
            trial.motion,
            trial.loads,
            events=trial.events,
            steps=step.steps,
            belt_speed=step.belt_speed,
            fit_contacts=False,
        )
    except CaptureError as error:
        raise CaptureError(f"{trial.name}: {error}") from error


def _read_several(
    motion: Path, person: SubjectOptions, step: StepOptions, show: Stage
) -> list[RecordedMotion]:
    """The trials; recordings after the first are fitted with its scaled model."""
    import tempfile

    from homodyn.analysis import read_motion
    from homodyn.analysis.recorded_motion import RECORDING_SUFFIXES
    from homodyn.model import save

    first = read_motion(motion, person.settings(), progress=show)
    trials = [first]
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "scaled.toml"
        save(first.motion.model, model)
        for words in step.others or ():
            file, _, forces = words.partition(",")
            own = replace(person, forces=Path(forces) if forces else None)
            if not forces:
                own = replace(own, external_loads=None)
            if Path(file).suffix.lower() in RECORDING_SUFFIXES:
                own = replace(own, model=str(model), static=None, static_forces=None)
                settings = own.settings(scale="none", calibrate=False)
            else:
                settings = own.settings()
            trials.append(read_motion(file, settings, progress=show))
    return trials


def _options(step: StepOptions, duration: float) -> ReconstructionOptions:
    """Settings of the problem and of its solve, for steps of one or several trials.

    Args:
        step: The options of the command line.
        duration: Duration of all steps together, s.
    """
    return {
        "step": STEP_S if step.nodes is None else duration / step.nodes,
        "preset": step.preset,
        "effort": step.effort,
        "friction": step.friction,
        "compliant": step.compliant,
        "force": 1.0 if step.plates == "term" else 0.0,
        "time_limit": step.seconds,
    }


def _soles_yield(step: StepOptions) -> bool:
    """Whether soles yield, so that contact points are fitted to the floor."""
    from homodyn.gait.reconstruction import RECONSTRUCTION_PRESETS

    preset = RECONSTRUCTION_PRESETS.get(step.preset)
    return preset is not None and (preset.compliant if step.soles is None else bool(step.compliant))


def _write_single(
    result: Reconstruction, name: str, choices: dict[str, Any], output: Path, overwrite: bool
) -> dict[str, Any]:
    """Write the folder of a step; its summary."""
    from homodyn.report.reconstruction_folder import reconstruction_summary, write_reconstruction

    write_reconstruction(result, output, name=name, settings=choices, overwrite=overwrite)
    return reconstruction_summary(result, name, choices)


def _write_several(
    result: PooledReconstruction,
    names: list[str],
    choices: dict[str, Any],
    output: Path,
    overwrite: bool,
) -> dict[str, Any]:
    """Write the folder of several steps; its summary."""
    from homodyn.report.pooled_folder import pooled_summary, write_pooled_reconstruction

    write_pooled_reconstruction(result, output, names=names, settings=choices, overwrite=overwrite)
    return pooled_summary(result, names, choices)


def _print_belt(prepared: RecordedStep) -> None:
    """State a belt that was removed."""
    if prepared.belt.any():
        Console(stderr=True, highlight=False).print(
            f"The feet stand on a belt that moves at {prepared.belt_speed:.2f} m/s: the "
            "step is reconstructed relative to it, as if overground.",
            soft_wrap=True,
        )


def _print_result(result: Reconstruction | PooledReconstruction, folder: Path) -> None:
    console = Console(highlight=False)
    console.print(Text(result.sentence), soft_wrap=True)
    steps = getattr(result, "steps", (result,))
    for k, each in enumerate(steps):
        which = f"Step {k + 1}, " if len(steps) > 1 else ""
        for error in each.force_errors():
            parts = " ".join(f"{100 * x / each.weight:.1f}" for x in error.rms)
            text = f"{which}{error.side}: force error {parts} % of body weight (x y z, rms)"
            console.print(text)
    console.print(Text(f"{folder / 'report.html'}"), soft_wrap=True)
