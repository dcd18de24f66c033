"""An experiment with a live session: trials one after the other, stimuli, and files per trial."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from homodyn.dynamics import position
from homodyn.errors import CaptureError
from homodyn.foundation.text import unknown_name
from homodyn.model import Model
from homodyn.track.experiments.experiment import TORQUE_PREFIX, Experiment, TracePath
from homodyn.track.experiments.trial_task import TrialPlan, TrialStage, TrialTask
from homodyn.track.streams.live_sample import LiveSample
from homodyn.track.streams.outputs.growing_table import GrowingTable

MIN_SPEED_SHARE = 0.2
"""Lowest random speed, as a share of the mean."""
START_COLOR, TARGET_COLOR = (0.85, 0.65, 0.13), (0.11, 0.6, 0.42)
SUMMARY_FILE = "trials.csv"
SUMMARY_HEAD = (
    "trial,block,task,name,condition,speed_m_s,stage,begin_s,touch_s,end_s,mean_deviation_m,"
    "mean_effort_nm,torque_integral_nms,work_j"
)


@dataclass(frozen=True, eq=False)
class ShownTarget:
    """The sphere that is shown at present, with all stimuli."""

    position: np.ndarray
    """(3,), m, Z up."""
    radius: float
    """m."""
    color: tuple[float, ...]
    """Red, green and blue, 0 to 1."""
    sound_hz: float
    """Frequency of a tone; 0 for none."""
    text: str
    """What to do, and which trial it is."""
    path: np.ndarray
    """(vertices, 3), m: the path that is traced; empty if there is none."""


class ExperimentRun:
    """Runs the trials of an experiment with the results of a live session.

    Args:
        experiment: The experiment.
        folder: Folder for ``trials.csv`` and one file per trial; None for no files.

    Raises:
        FormatError: A file cannot be written.
    """

    def __init__(self, experiment: Experiment, folder: Path | None = None) -> None:
        self.experiment, self.folder = experiment, folder
        self.plans = plan_trials(experiment)
        self.shown: ShownTarget | None = None
        self.head = np.full(3, np.nan)
        """(3,), m: position of the headset, if there is one."""
        self._tasks = iter(self.plans)
        self._task: TrialTask | None = None
        self._table: GrowingTable | None = None
        self._sums = np.zeros(4)
        self._last: float | None = None
        self._summary = None
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            self._summary = GrowingTable(folder / SUMMARY_FILE, SUMMARY_HEAD + "\n")
        self._next_trial()

    @property
    def finished(self) -> bool:
        """Whether all trials are over."""
        return self._task is None

    @property
    def task(self) -> TrialTask | None:
        """The present trial; None at the end."""
        return self._task

    def advance(self, model: Model, sample: LiveSample) -> ShownTarget | None:
        """Advance to a result of the session.

        Args:
            model: The model of the session.
            sample: The result.

        Returns:
            What is shown; None after the last trial.
        """
        task = self._task
        if task is None:
            self.shown = None
            return None
        pointer = pointer_position(model, sample, self.experiment.pointer)
        shown = self._show(task, model, sample)
        task.advance(sample.time, pointer, shown.position, shown.radius)
        self._write(task, sample, pointer, shown)
        if task.stage.is_end:
            self._end_trial(task)
            self._next_trial()
        self.shown = None if self._task is None else self._show(self._task, model, sample)
        return self.shown

    def close(self) -> None:
        """Complete the files; a trial that is not over is left in its file."""
        for table in (self._table, self._summary):
            if table is not None:
                table.close()

    def _show(self, task: TrialTask, model: Model, sample: LiveSample) -> ShownTarget:
        is_target = task.stage in (TrialStage.REACH, TrialStage.TRACE)
        color: tuple[float, ...] = TARGET_COLOR if is_target else START_COLOR
        plan = task.plan
        shown = ShownTarget(
            task.center,
            task.radius,
            color,
            0.0,
            f"Trial {plan.number} of {len(self.plans)}: {task.stage.value}",
            np.zeros((0, 3)) if plan.path is None else plan.path.vertices,
        )
        if not is_target:
            return shown
        for stimulus in plan.block.stimuli:
            value = stimulus.value(live_quantity(model, sample, stimulus.quantity))
            match stimulus.property:
                case "size":
                    shown = replace(shown, radius=task.radius * float(value[0]))
                case "color":
                    shown = replace(shown, color=tuple(value.tolist()))
                case "sound":
                    shown = replace(shown, sound_hz=float(value[0]))
                case "place":
                    shown = replace(shown, position=shown.position + value)
        return shown

    def _next_trial(self) -> None:
        plan = next(self._tasks, None)
        self._task = None
        if plan is None:
            return
        experiment = self.experiment
        self._task = TrialTask(plan, experiment.start, experiment.pointer_radius)
        self._sums, self._last = np.zeros(4), None

    def _write(
        self, task: TrialTask, sample: LiveSample, pointer: np.ndarray, shown: ShownTarget
    ) -> None:
        """Add a row to the file of the trial, and to its sums."""
        if task.began_at is not None and self._last is not None:
            step = sample.time - self._last
            self._sums += [step, step * sample.effort, step * sample.power, 1.0]
        self._last = sample.time
        if self.folder is None:
            return
        if self._table is None:
            heads = ["time_s", "stage", "effort_nm", "power_w"]
            for name in ("pointer", "target", "head"):
                heads += [f"{name}_{axis}_m" for axis in "xyz"]
            heads += ["target_radius_m", "sound_hz"]
            heads += [f"{label}_{axis}_m" for label in sample.labels for axis in "xyz"]
            path = self.folder / f"trial_{task.plan.number:04d}.csv"
            self._table = GrowingTable(path, ",".join(heads) + "\n")
        values = np.concatenate(
            [
                [sample.effort, sample.power],
                pointer,
                shown.position,
                self.head,
                [shown.radius, shown.sound_hz],
                sample.markers.ravel(),
            ]
        )
        cells = ",".join("" if x != x else f"{x:.6g}" for x in values.tolist())
        self._table.append(f"{sample.time:.6f},{task.stage.name.lower()},{cells}")

    def _end_trial(self, task: TrialTask) -> None:
        if self._table is not None:
            self._table.close()
            self._table = None
        if self._summary is None:
            return
        plan = task.plan
        name = plan.target.name if plan.target is not None else plan.path.name if plan.path else ""
        seconds, torque, work, _ = self._sums
        numbers = [
            task.began_at,
            task.touched_at,
            task.ended_at,
            float(np.mean(task.deviations)) if task.deviations else None,
            torque / seconds if seconds else None,
            torque,
            work,
        ]
        cells = ["" if x is None else f"{x:.6g}" for x in numbers]
        words = [plan.number, plan.block.name, plan.block.task, name, plan.block.condition]
        texts = [str(word).replace(",", ";") for word in words]
        speed = f"{plan.speed:.6g}" if plan.speed else ""
        self._summary.append(",".join([*texts, speed, task.stage.name.lower(), *cells]))


def plan_trials(experiment: Experiment) -> tuple[TrialPlan, ...]:
    """All trials in order, with their random choices.

    Args:
        experiment: The experiment; equal seeds give equal trials.

    Returns:
        The trials.
    """
    rng = np.random.default_rng(experiment.seed)
    targets = {target.name: target for target in experiment.targets}
    paths = {path.name: path for path in experiment.paths}
    plans: list[TrialPlan] = []
    for block in experiment.blocks:
        names = list(block.trials) * block.repeat
        if block.shuffle:
            names = [names[k] for k in rng.permutation(len(names))]
        for name in names:
            number = len(plans) + 1
            if block.task == "reach":
                plans.append(TrialPlan(block, number, target=targets[name]))
                continue
            path = paths[name]
            if block.random_start and path.closed:
                points = np.roll(path.points, -int(rng.integers(len(path.points))), axis=0)
                path = TracePath(name, points[::-1] if rng.integers(2) else points, True)
            speed = rng.normal(block.speed_mean, block.speed_sd)
            speed = max(speed, MIN_SPEED_SHARE * block.speed_mean)
            plans.append(TrialPlan(block, number, path=path, speed=float(speed)))
    return tuple(plans)


def check_experiment(experiment: Experiment, model: Model) -> None:
    """Check the names that an experiment uses of a model.

    Args:
        experiment: The experiment.
        model: The model.

    Raises:
        CaptureError: The pointer or a coordinate of a stimulus does not exist.
    """
    names = [marker.name for marker in model.markers] + list(model.body_names)
    if experiment.pointer not in names:
        raise CaptureError(
            f"the pointer of experiment {experiment.name!r}: "
            f"{unknown_name('marker or body', experiment.pointer, names)}"
        )
    for block in experiment.blocks:
        for stimulus in block.stimuli:
            coordinate = stimulus.quantity.removeprefix(TORQUE_PREFIX)
            if coordinate != stimulus.quantity and coordinate not in model.coordinate_names:
                raise CaptureError(
                    f"a stimulus of block {block.name!r}: "
                    f"{unknown_name('coordinate', coordinate, model.coordinate_names)}"
                )


def live_quantity(model: Model, sample: LiveSample, quantity: str) -> float:
    """The value of a quantity that stimuli may depend on.

    Args:
        model: The model.
        sample: A result.
        quantity: ``effort`` (N m), ``power`` (W) or ``torque:COORDINATE`` (N m, its magnitude).

    Returns:
        The value.
    """
    if quantity.startswith(TORQUE_PREFIX):
        column = model.coordinate_index(quantity.removeprefix(TORQUE_PREFIX))
        return abs(float(sample.torques[column]))
    return sample.effort if quantity == "effort" else sample.power


def pointer_position(model: Model, sample: LiveSample, pointer: str) -> np.ndarray:
    """Where the pointer is.

    Args:
        model: The model.
        sample: A result.
        pointer: A marker, whose measured position counts, or a body.

    Returns:
        (3,), m; NaN if the marker is not seen.
    """
    if pointer in sample.labels:
        return np.asarray(sample.markers[sample.labels.index(pointer)])
    return np.asarray(position(model, sample.q, pointer)).reshape(3)
