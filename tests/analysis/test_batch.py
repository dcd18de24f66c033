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
from homodyn.errors import CaptureError, FormatError
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
    made = Path(folder)
    made.mkdir(parents=True, exist_ok=True)
    (made / "report.html").write_text("")
    mark = batch.fingerprint(trial, task.settings)
    told = {
        "fingerprint": mark,
        "source": Path(trial).name,
        "origin": batch.origin(trial),
        "files": {"trial": batch.file_digest(trial)},
    }
    (made / "summary.json").write_text(json.dumps(told))
    return TrialOutcome(trial, name, TrialStatus.WRITTEN, folder, light="good")


def trials(folder, **texts):
    made = []
    for name, text in texts.items():
        path = folder / f"{name}.trc"
        path.write_text(text)
        made.append(str(path))
    return made


def test_a_second_run_skips_what_is_done_and_repeats_what_changed(tmp_path, settings, quick):
    made = trials(tmp_path, a="1", b="2", c="3")
    out = tmp_path / "out"
    assert analyze_batch(made, settings, out).count(TrialStatus.WRITTEN) == 3
    assert analyze_batch(made, settings, out).count(TrialStatus.SKIPPED) == 3
    (tmp_path / "b.trc").write_text("another recording")
    again = analyze_batch(made, settings, out)
    assert [outcome.status for outcome in again.outcomes] == [
        TrialStatus.SKIPPED,
        TrialStatus.WRITTEN,
        TrialStatus.SKIPPED,
    ]
    assert analyze_batch(made, replace(settings, cutoff=7.0), out).count(TrialStatus.WRITTEN) == 3
    assert (
        analyze_batch(made, replace(settings, cutoff=7.0), out, BatchOptions(overwrite=True)).count(
            TrialStatus.WRITTEN
        )
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
    (moved,) = analyze_batch(trials(tmp_path / "copy", walk="1"), settings, out).outcomes
    assert moved.status is TrialStatus.SKIPPED
    (replaced,) = analyze_batch(ben, settings, out, BatchOptions(overwrite=True)).outcomes
    assert replaced.status is TrialStatus.WRITTEN


def test_one_bad_trial_does_not_stop_the_others(tmp_path, settings, quick):
    made = [*trials(tmp_path, a="1", b="bad", c="3"), str(tmp_path / "nowhere.c3d")]
    run = analyze_batch(made, settings, tmp_path / "out")
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
    made = trials(tmp_path, a="deadly", b="2")
    run = analyze_batch(made, settings, tmp_path / "out", BatchOptions(jobs=2))
    assert [outcome.status for outcome in run.outcomes] == [TrialStatus.FAILED, TrialStatus.WRITTEN]
    assert "died" in run.outcomes[0].reason


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
    monkeypatch.setattr(batch, "CONNECT_TIMEOUT", "1s")
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
    with pytest.raises(FormatError, match="expected a folder"):
        analyze_batch([walk_file], settings, tmp_path / "out")
