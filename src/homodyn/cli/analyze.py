"""``homodyn analyze``: from recorded trials to angles, torques, gait measures and a report."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

if TYPE_CHECKING:
    from homodyn.report.batch import Outcome

LIGHTS = {"good": "green", "fair": "yellow", "poor": "red"}
WORDS = {"good": "good", "fair": "usable with care", "poor": "not to be trusted as it is"}


def analyze(
    trials: Annotated[
        list[Path], typer.Argument(metavar="TRIAL...", help="Recordings: .c3d, .trc or .csv.")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where the results go.")
    ],
    static: Annotated[
        Path | None,
        typer.Option("--static", metavar="FILE", help="The subject standing still, to scale from."),
    ] = None,
    model: Annotated[
        str,
        typer.Option("--model", metavar="NAME|FILE", help="heiman, human36, another, or a file."),
    ] = "heiman",
    height: Annotated[
        float | None, typer.Option("--height", metavar="M", help="Of the subject (m).")
    ] = None,
    mass: Annotated[
        float | None, typer.Option("--mass", metavar="KG", help="Of the subject (kg).")
    ] = None,
    sex: Annotated[str | None, typer.Option("--sex", metavar="SEX", help="male or female.")] = None,
    forces: Annotated[
        Path | None,
        typer.Option("--forces", metavar="FILE", help="Ground forces: .mot, .sto or .csv."),
    ] = None,
    setup: Annotated[
        Path | None,
        typer.Option("--setup", metavar="XML", help="ExternalLoads of OpenSim for --forces."),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option("--map", metavar="TOML", help="Labels of the trial for markers of the model."),
    ] = None,
    emg: Annotated[
        list[str] | None,
        typer.Option("--emg", metavar="NAME", help="An EMG channel, or a part of their names."),
    ] = None,
    scale: Annotated[
        str,
        typer.Option("--scale", metavar="HOW", help="auto, static, motion or none."),
    ] = "auto",
    calibrate: Annotated[
        bool,
        typer.Option(help="Adjust joint centres and markers with the poses."),
    ] = True,
    cutoff: Annotated[
        float, typer.Option("--cutoff", metavar="HZ", help="Of the low-pass filter (Hz).")
    ] = 6.0,
    up: Annotated[
        str | None,
        typer.Option("--up", metavar="AXIS", help="Axis of the file that points up: y, z, -x ..."),
    ] = None,
    robust: Annotated[
        bool, typer.Option("--robust", help="Let markers that are far off count less.")
    ] = False,
    first: Annotated[
        float | None, typer.Option("--from", metavar="S", help="Leave out what is before (s).")
    ] = None,
    last: Annotated[
        float | None, typer.Option("--to", metavar="S", help="Leave out what is after (s).")
    ] = None,
    subject: Annotated[
        str, typer.Option("--subject", metavar="NAME", help="Who it is, for the report.")
    ] = "",
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", metavar="N", help="Processes; as many as cores by default."),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option("--cluster", metavar="ADDRESS", help="A Dask scheduler, tcp://host:8786."),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Also run trials whose results are there.")
    ] = False,
) -> None:
    """Analyse trials: scale the model, fit it, find torques and gait measures, write a report.

    Each trial gets a folder of its own in the output. Trials that are done are skipped.

    Example: `homodyn analyze walk.c3d --static stand.c3d --mass 72 --height 1.78 -o results`
    """
    from homodyn.analysis.settings import Settings
    from homodyn.report.batch import Done, analyze_all

    settings = Settings(
        model=model,
        static=_text(static),
        height=height,
        mass=mass,
        sex=sex,
        forces=_text(forces),
        setup=_text(setup),
        map=_text(labels),
        emg=tuple(emg or ()),
        scale=scale,
        calibrate=calibrate,
        cutoff=cutoff,
        up=up,
        robust=robust,
        subject=subject,
        first=first,
        last=last,
    )
    console = Console(stderr=True, highlight=False)
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    ) as progress:
        batch = analyze_all(
            [str(trial) for trial in trials],
            settings,
            output,
            jobs=jobs or min(len(trials), os.cpu_count() or 1),
            cluster=cluster,
            overwrite=overwrite,
            watcher=_Bars(progress, len(trials)),
        )
    for outcome in batch.outcomes:
        _print(outcome)
    if batch.failed:
        if len(batch.outcomes) > 1:
            console.print(
                Text(f"{len(batch.failed)} of {len(batch.outcomes)} trials failed.", style="red")
            )
        raise typer.Exit(1)
    if len(batch.outcomes) > 1:
        skipped = batch.count(Done.SKIPPED)
        told = f"; {skipped} were done before" if skipped else ""
        typer.echo(f"{batch.count(Done.WRITTEN)} trials analysed{told}.")


class _Bars:
    """A bar over the trials, and one over the stages of the trial that runs in this process."""

    def __init__(self, progress: Progress, trials: int) -> None:
        from homodyn.analysis.pipeline import STAGES

        self.progress = progress
        self.stages = len(STAGES) + 1
        self.whole = progress.add_task("Trials", total=trials) if trials > 1 else None
        self.one = progress.add_task("", total=self.stages, visible=False)

    def stage(self, name: str, stage: str) -> None:
        """Move the bar of the stages on."""
        task = self.progress.tasks[self.progress.task_ids.index(self.one)]
        if stage == "reading":
            self.progress.reset(self.one, total=self.stages, visible=True)
        else:
            self.progress.update(self.one, completed=task.completed + 1)
        self.progress.update(self.one, description=f"{name}: {stage}")

    def ended(self, outcome: Outcome) -> None:
        """Move the bar of the trials on."""
        if self.whole is not None:
            self.progress.advance(self.whole)


def _print(outcome: Outcome) -> None:
    from homodyn.report.batch import Done
    from homodyn.report.files import PAGE

    if outcome.done is Done.FAILED:
        line = Text(f"Error: {outcome.name}: {outcome.reason}", style="red")
        Console(stderr=True, highlight=False).print(line, soft_wrap=True)
        return
    page = Path(outcome.folder) / PAGE
    console = Console(highlight=False)
    if outcome.done is Done.SKIPPED:
        console.print(Text(f"{page}: done before, with the same inputs"), soft_wrap=True)
        return
    line = Text(f"{page}: ")
    line.append(WORDS[outcome.light], style=LIGHTS[outcome.light])
    console.print(line.append(f", {outcome.seconds:.1f} s", style="default"), soft_wrap=True)


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)
