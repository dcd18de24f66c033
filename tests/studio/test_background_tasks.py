"""Background tasks report progress, fail with a message, and can be cancelled."""

import threading
import time

import pytest

from homodyn.errors import CaptureError, HomodynError
from homodyn.studio.background_tasks import TaskRunner


def test_progress_and_the_end_are_reported():
    reports = []
    tasks = TaskRunner(lambda task: reports.append((task.stage, task.share, task.done.is_set())))
    task = tasks.start("fit", lambda task: task.report("half", 0.5))
    assert task.done.wait(5)
    tasks.start("again", lambda task: None).done.wait(5)
    assert reports[:3] == [("starting", 0.0, False), ("half", 0.5, False), ("half", 0.5, True)]


def test_an_error_is_stored_as_a_message():
    def refuse(task):
        raise CaptureError("no markers")

    task = TaskRunner(lambda task: None).start("fit", refuse)
    assert task.done.wait(5)
    assert task.error == "no markers"


def test_a_cancelled_task_stops_and_only_one_runs_at_a_time():
    going, done = threading.Event(), []

    def work(task):
        going.wait(5)
        task.report("next")
        done.append(True)

    tasks = TaskRunner(lambda task: None)
    task = tasks.start("long", work)
    with pytest.raises(HomodynError, match="long is still running"):
        tasks.start("other", work)
    task.cancel()
    going.set()
    assert task.done.wait(5)
    assert task.error == "cancelled"
    assert not done


def test_an_abandoned_task_reports_nothing(monkeypatch):
    raised, reports = [], []
    monkeypatch.setattr(
        threading, "excepthook", lambda arguments: raised.append(arguments.exc_value)
    )
    tasks = TaskRunner(lambda task: reports.append(task.done.is_set()))
    started, released = threading.Event(), threading.Event()

    def work(task):
        started.set()
        released.wait(10)
        raise RuntimeError("cannot schedule new futures after shutdown")

    task = tasks.start("analyze", work)
    started.wait(10)
    tasks.end()
    released.set()
    assert task.done.wait(10)
    task = tasks.start("analyze", work)
    assert task.done.wait(10)
    (error,) = _until(raised)
    assert "futures" in str(error)
    # The start of the first task; start and end of the second.
    assert reports == [False, False, True]


def _until(found):
    for _ in range(100):
        if found:
            break
        time.sleep(0.05)
    return found
