"""``homodyn analyze``: from recorded trials to angles, torques, gait measures and a report."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from homodyn.cli.json_output import fail_with_json, print_json
from homodyn.cli.option_groups import (
    AsJson,
    LaboratoryOptions,
    MuscleOptions,
    OutputFolder,
    ProcessingOptions,
    RunOptions,
    SubjectOptions,
    expand_options,
    path_text,
)

if TYPE_CHECKING:
    from homodyn.analysis import BatchResult, TrialOutcome

LIGHT_COLORS = {"good": "green", "fair": "yellow", "poor": "red"}
LIGHT_WORDS = {"good": "good", "fair": "usable with care", "poor": "not reliable as it is"}


@expand_options
def analyze(
    trials: Annotated[
        list[Path],
        typer.Argument(
            metavar="TRIAL",
            help="Recordings (.c3d, .trc, .csv) or folders of recordings.",
        ),
    ],
    output: OutputFolder,
    person: SubjectOptions,
    processing: ProcessingOptions,
    laboratory: LaboratoryOptions,
    muscles: MuscleOptions,
    run: RunOptions,
    as_json: AsJson = False,
) -> None:
    """Analyze trials: scale the model, fit it, compute torques and gait measures, write a report.

    Each trial gets its own folder in the output. Trials with an up-to-date result are skipped. In a
    folder of trials, the one named static (standing, t-pose, calib) is used for scaling.

    Example: `homodyn analyze walk.c3d --static stand.c3d --mass 72 --height 1.78 -o results`

    With files of OpenSim: `homodyn analyze walk.trc --model scaled.osim --tasks ik_setup.xml
    --forces grf.mot --external-loads grf.xml -o results`

    Muscle forces and joint loads: add `--muscles`; with EMG beside them `--emg emg.sto`.
    """
    from homodyn.analysis import analyze_batch
    from homodyn.analysis.trial_folders import select_trials
    from homodyn.report import HtmlPages

    console = Console(stderr=True, highlight=False)
    selected = select_trials(trials, path_text(person.static))
    for note in selected.notes:
        console.print(Text(note), soft_wrap=True)
    person = replace(person, static=None if selected.static is None else Path(selected.static))
    settings = person.settings(
        **processing.keywords(), **laboratory.keywords(), **muscles.keywords()
    )
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    ) as progress:
        batch = analyze_batch(
            selected.trials,
            settings,
            output,
            run.batch_options(len(selected.trials)),
            pages=HtmlPages(),
            progress=_Bars(progress, len(selected.trials)),
        )
    if not as_json:
        _print_batch(batch, console)
        return
    result = {"output": output, "trials": [asdict(outcome) for outcome in batch.outcomes]}
    if batch.failed:
        first = batch.failed[0]
        fail_with_json(result, f"{_count_failed(batch)}; the first: {first.name}: {first.reason}")
    print_json(result)


def _count_failed(batch: BatchResult) -> str:
    return f"{len(batch.failed)} of {len(batch.outcomes)} trials failed"


class _Bars:
    """A bar over the trials, and one over the stages of the trial that runs in this process."""

    def __init__(self, progress: Progress, trials: int) -> None:
        from homodyn.analysis.pipeline import STAGES

        self.progress = progress
        self.stages = len(STAGES) + 1
        self.all_trials = progress.add_task("Trials", total=trials) if trials > 1 else None
        self.current = progress.add_task("", total=self.stages, visible=False)

    def stage(self, name: str, stage: str) -> None:
        """Advance the bar of the stages."""
        task = self.progress.tasks[self.progress.task_ids.index(self.current)]
        if stage == "reading":
            self.progress.reset(self.current, total=self.stages, visible=True)
        else:
            self.progress.update(self.current, completed=task.completed + 1)
        self.progress.update(self.current, description=f"{name}: {stage}")

    def trial_finished(self, outcome: TrialOutcome) -> None:
        """Advance the bar of the trials."""
        if self.all_trials is not None:
            self.progress.advance(self.all_trials)


def _print_batch(batch: BatchResult, console: Console) -> None:
    """One line per trial and a count; exit code 1 when a trial failed."""
    from homodyn.analysis import TrialStatus
    from homodyn.foundation import count_of

    for outcome in batch.outcomes:
        print_outcome(outcome)
    if batch.failed:
        if len(batch.outcomes) > 1:
            console.print(Text(f"{_count_failed(batch)}.", style="red"))
        raise typer.Exit(1)
    if len(batch.outcomes) > 1:
        skipped = batch.count(TrialStatus.SKIPPED)
        rest = f"; {skipped} up to date" if skipped else ""
        typer.echo(f"{count_of(batch.count(TrialStatus.WRITTEN), 'trial')} analyzed{rest}.")


def print_outcome(outcome: TrialOutcome) -> None:
    """Print how a trial ended: where its report is, its quality and the first reason for doubt."""
    from homodyn.analysis import TrialStatus
    from homodyn.analysis.result_files import PAGE

    if outcome.status is TrialStatus.FAILED:
        line = Text(f"Error: {outcome.name}: {outcome.reason}", style="red")
        Console(stderr=True, highlight=False).print(line, soft_wrap=True)
        return
    page = Path(outcome.folder) / PAGE
    console = Console(highlight=False)
    if outcome.status is TrialStatus.SKIPPED:
        console.print(Text(f"{page}: up to date, skipped"), soft_wrap=True)
        return
    line = Text(f"{page}: ")
    line.append(LIGHT_WORDS[outcome.light], style=LIGHT_COLORS[outcome.light])
    line.append(f", {outcome.seconds:.1f} s", style="default")
    console.print(line, soft_wrap=True)
    if outcome.verdict:
        console.print(Text(f"  {outcome.verdict}"), soft_wrap=True)
