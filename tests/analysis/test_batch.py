"""Many trials: done ones are skipped, changed ones run again, bad ones are named."""

import json
import os
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from homodyn.analysis import batch
from homodyn.analysis.batch import (
    BatchOptions,
    TrialOutcome,
    TrialStatus,
    analyze_batch,
    folder_names,
)
from homodyn.analysis.verdict import QualityLight, QualityVerdict
from homodyn.errors import CaptureError, FormatError
from homodyn.foundation.executors import ExecutorError, SerialExecutor, TaskResult
from homodyn.report import HtmlPages


@pytest.fixture
def quick(monkeypatch):
    """Work that takes no time: copies the trial into a result, and fails or dies as it says."""
    runs = []

    def stand_in(task, progress=None):
        runs.append(task.name)
        return pretend(task)

    monkeypatch.setattr(batch, "_analyze_task", stand_in)
    return runs


def pretend(task, progress=None):
    trial, name, folder = task.trial, task.name, task.folder
    text = Path(trial).read_text()
    if text == "bad":
        return TrialOutcome(trial, name, TrialStatus.FAILED, folder, reason="it is bad")
    if text == "deadly":
        os._exit(3)
    result = Path(folder)
    result.mkdir(parents=True, exist_ok=True)
    (result / "report.html").write_text("")
    mark = batch.fingerprint(trial, task.settings)
    summary = {
        "fingerprint": mark,
        "source": Path(trial).name,
        "origin": batch.origin(trial),
        "files": {"trial": batch.file_digest(trial)},
    }
    (result / "summary.json").write_text(json.dumps(summary))
    return TrialOutcome(trial, name, TrialStatus.WRITTEN, folder, light="good")


def trials(folder, **texts):
    paths = []
    for name, text in texts.items():
        path = folder / f"{name}.trc"
        path.write_text(text)
        paths.append(str(path))
    return paths


def test_a_second_run_skips_what_is_done_and_repeats_what_changed(tmp_path, settings, quick):
    paths = trials(tmp_path, a="1", b="2", c="3")
    out = tmp_path / "out"
    assert analyze_batch(paths, settings, out).count(TrialStatus.WRITTEN) == 3
    assert analyze_batch(paths, settings, out).count(TrialStatus.SKIPPED) == 3
    (tmp_path / "b.trc").write_text("another recording")
    again = analyze_batch(paths, settings, out)
    assert [outcome.status for outcome in again.outcomes] == [
        TrialStatus.SKIPPED,
        TrialStatus.WRITTEN,
        TrialStatus.SKIPPED,
    ]
    assert analyze_batch(paths, replace(settings, cutoff=7.0), out).count(TrialStatus.WRITTEN) == 3
    assert (
        analyze_batch(
            paths, replace(settings, cutoff=7.0), out, BatchOptions(overwrite=True)
        ).count(TrialStatus.WRITTEN)
        == 3
    )
    assert quick == ["a", "b", "c", "b", "a", "b", "c", "a", "b", "c"]


def test_another_recording_of_that_name_is_not_replaced(tmp_path, settings, quick):
    for folder in ("anna", "ben", "copy"):
        (tmp_path / folder).mkdir()
    out = tmp_path / "out"
    anna, ben = trials(tmp_path / "anna", walk="1"), trials(tmp_path / "ben", walk="2")
    analyze_batch(anna, settings, out)
    (refused,) = analyze_batch(ben, settings, out).outcomes
    assert refused.status is TrialStatus.FAILED
    assert "another recording, walk.trc" in refused.reason
    assert "--overwrite" in refused.reason
    (copied,) = analyze_batch(trials(tmp_path / "copy", walk="1"), settings, out).outcomes
    assert copied.status is TrialStatus.SKIPPED
    (replaced,) = analyze_batch(ben, settings, out, BatchOptions(overwrite=True)).outcomes
    assert replaced.status is TrialStatus.WRITTEN


@pytest.mark.parametrize("wrap", [str, Path, lambda folder: [str(folder)]])
def test_a_folder_is_all_its_trials_and_scales_from_the_static_one(
    tmp_path, settings, monkeypatch, wrap
):
    tasks = []

    def collect(task, progress=None):
        tasks.append(task)
        return pretend(task)

    monkeypatch.setattr(batch, "_analyze_task", collect)
    folder = tmp_path / "recordings"
    folder.mkdir()
    _, _, still = trials(folder, walk2="2", walk1="1", standing="3")
    run = analyze_batch(wrap(folder), settings, tmp_path / "out")
    assert [outcome.name for outcome in run.outcomes] == ["walk1", "walk2"]
    assert {task.settings.static for task in tasks} == {still}
    assert "standing.trc" in run.notes[0]


def test_a_single_file_needs_no_list(tmp_path, settings, quick):
    (path,) = trials(tmp_path, walk="1")
    run = analyze_batch(path, settings, tmp_path / "out")
    assert [outcome.trial for outcome in run.outcomes] == [path]
    assert run.notes == ()


def test_one_bad_trial_does_not_stop_the_others(tmp_path, settings, quick):
    paths = [*trials(tmp_path, a="1", b="bad", c="3"), str(tmp_path / "nowhere.c3d")]
    run = analyze_batch(paths, settings, tmp_path / "out")
    assert [outcome.name for outcome in run.failed] == ["b", "nowhere"]
    assert "no such file" in run.failed[1].reason
    assert run.count(TrialStatus.WRITTEN) == 2


def test_a_fault_in_a_trial_is_an_outcome(walk_file, settings, tmp_path, monkeypatch):
    def broken(*arguments, **named):
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(batch, "analyze", broken)
    (outcome,) = analyze_batch([walk_file], settings, tmp_path / "out").outcomes
    assert outcome.status is TrialStatus.FAILED
    assert "ZeroDivisionError: by zero" in outcome.reason
    assert not (tmp_path / "out").exists()


def test_a_process_that_dies_costs_only_its_own_trial(tmp_path, settings, monkeypatch):
    # The processes are spawned and find the stand-in by the name of this file.
    here = Path(__file__)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(here.parent), *_paths()]))
    monkeypatch.syspath_prepend(str(here.parent))
    monkeypatch.setattr(batch, "_analyze_task", import_module(here.stem).pretend)
    paths = trials(tmp_path, a="deadly", b="2")
    run = analyze_batch(paths, settings, tmp_path / "out", BatchOptions(jobs=2))
    assert [outcome.status for outcome in run.outcomes] == [TrialStatus.FAILED, TrialStatus.WRITTEN]
    assert "died" in run.outcomes[0].reason


def test_trials_run_on_any_executor(tmp_path, settings, quick):
    class CountingExecutor(SerialExecutor):
        submitted = 0

        def submit(self, function, /, *arguments, **options):
            self.submitted += 1
            return super().submit(function, *arguments, **options)

    executor = CountingExecutor()
    recordings = trials(tmp_path, a="1", b="bad")
    run = analyze_batch(recordings, settings, tmp_path / "out", executor=executor)
    assert [outcome.status for outcome in run.outcomes] == [TrialStatus.WRITTEN, TrialStatus.FAILED]
    assert [outcome.trial for outcome in run.outcomes] == recordings
    assert executor.submitted == 2


def test_an_executor_that_ends_costs_only_the_unfinished_trials(tmp_path, settings, quick):
    class EndingExecutor(SerialExecutor):
        def map_unordered(self, function, items, *, attempts=2):
            yield TaskResult(0, function(items[0]))
            raise ExecutorError("the scheduler is gone")

    recordings = trials(tmp_path, a="1", b="2")
    run = analyze_batch(recordings, settings, tmp_path / "out", executor=EndingExecutor())
    assert [outcome.status for outcome in run.outcomes] == [TrialStatus.WRITTEN, TrialStatus.FAILED]
    assert "the scheduler is gone" in run.outcomes[1].reason


def _paths():
    return [path for path in sys.path if path]


def test_a_real_trial_in_a_process_and_on_a_cluster(walk_file, settings, tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(_paths()))
    other = tmp_path / "other.c3d"
    other.write_bytes(walk_file.read_bytes())
    empty = tmp_path / "empty.c3d"
    empty.write_bytes(b"")
    run = analyze_batch([other, empty], settings, tmp_path / "pool", BatchOptions(jobs=2))
    assert [outcome.status for outcome in run.outcomes] == [TrialStatus.WRITTEN, TrialStatus.FAILED]
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address=None,
        local_directory=str(tmp_path / "dask"),
    ) as cluster:
        run = analyze_batch(
            [other, empty],
            settings,
            tmp_path / "dasked",
            BatchOptions(cluster=cluster.scheduler_address),
            pages=HtmlPages(),
        )
    assert [outcome.status for outcome in run.outcomes] == [TrialStatus.WRITTEN, TrialStatus.FAILED]
    assert (tmp_path / "dasked" / "other" / "report.html").is_file()
    numbers = [
        (tmp_path / where / "other" / "motion.csv").read_text() for where in ("pool", "dasked")
    ]
    assert numbers[0] == numbers[1]


def test_a_cluster_that_does_not_answer_is_named(walk_file, settings, tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(batch, "CLUSTER_TIMEOUT_S", 1.0)
    with pytest.raises(CaptureError, match="no Dask scheduler answers"):
        analyze_batch(
            [walk_file], settings, tmp_path / "out", BatchOptions(cluster="tcp://127.0.0.1:1")
        )


def test_folders_are_named_after_trials_and_never_alike():
    assert folder_names(["a/walk.c3d", "a/run.c3d"]) == ["walk", "run"]
    assert folder_names(["s1/walk.c3d", "s2/walk.c3d", "s2/run.c3d"]) == [
        "s1-walk",
        "s2-walk",
        "run",
    ]
    assert len(set(folder_names(["s1/walk.c3d", "s1/walk.trc"]))) == 2
    with pytest.raises(CaptureError, match="twice"):
        folder_names(["a/walk.c3d", "a/../a/walk.c3d"])


def test_results_do_not_go_into_a_file(walk_file, settings, tmp_path):
    (tmp_path / "out").write_text("")
    with pytest.raises(FormatError, match="a folder for the results is expected"):
        analyze_batch([walk_file], settings, tmp_path / "out")


def test_an_outcome_that_is_not_good_has_its_first_verdict(
    analysis, walk_file, settings, tmp_path, monkeypatch
):
    verdicts = (
        QualityVerdict(QualityLight.FAIR, "fit", "Marker rms 31 mm."),
        QualityVerdict(QualityLight.FAIR, "gaps", "Gaps."),
        QualityVerdict(QualityLight.GOOD, "labels", "All matched."),
    )
    monkeypatch.setattr(batch, "analyze", lambda *a, **k: analysis)
    monkeypatch.setattr(batch, "quality_verdicts", lambda analysis: verdicts)
    (outcome,) = analyze_batch(walk_file, settings, tmp_path / "out").outcomes
    assert (outcome.light, outcome.verdict) == ("fair", "Marker rms 31 mm.")
    monkeypatch.setattr(batch, "quality_verdicts", lambda analysis: verdicts[2:])
    (outcome,) = analyze_batch(walk_file, settings, tmp_path / "other").outcomes
    assert (outcome.light, outcome.verdict) == ("good", "")
