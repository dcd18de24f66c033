"""Work beside the page: told, refused, cancelled, one at a time."""

import threading
import time

import pytest

from homodyn.errors import CaptureError, HomodynError
from homodyn.studio.background_tasks import TaskRunner


def test_steps_and_the_end_are_told():
    heard = []
    tasks = TaskRunner(lambda task: heard.append((task.stage, task.share, task.done.is_set())))
    task = tasks.start("fit", lambda task: task.tell("half", 0.5))
    assert task.done.wait(5)
    tasks.start("again", lambda task: None).done.wait(5)
    assert heard[:3] == [("beginning", 0.0, False), ("half", 0.5, False), ("half", 0.5, True)]


def test_a_refusal_is_kept_as_a_sentence():
    def refuse(task):
        raise CaptureError("no markers")

    task = TaskRunner(lambda task: None).start("fit", refuse)
    assert task.done.wait(5)
    assert task.error == "no markers"


def test_work_stops_at_the_next_step_when_cancelled_and_comes_one_at_a_time():
    going, done = threading.Event(), []

    def work(task):
        going.wait(5)
        task.tell("next")
        done.append(True)

    tasks = TaskRunner(lambda task: None)
    task = tasks.start("long", work)
    with pytest.raises(HomodynError, match="long is still going on"):
        tasks.start("other", work)
    task.cancel()
    going.set()
    assert task.done.wait(5)
    assert task.error == "it was cancelled"
    assert not done


def test_work_that_was_left_alone_ends_in_silence(monkeypatch):
    raised, heard = [], []
    monkeypatch.setattr(threading, "excepthook", lambda told: raised.append(told.exc_value))
    tasks = TaskRunner(lambda task: heard.append(task.done.is_set()))
    begun, left = threading.Event(), threading.Event()

    def work(task):
        begun.set()
        left.wait(10)
        raise RuntimeError("cannot schedule new futures after shutdown")

    task = tasks.start("analyse", work)
    begun.wait(10)
    tasks.end()
    left.set()
    assert task.done.wait(10)
    task = tasks.start("analyse", work)
    assert task.done.wait(10)
    (error,) = _until(raised)
    assert "futures" in str(error)
    # The first beginning, the second beginning and its end.
    assert heard == [False, False, True]


def _until(found):
    for _ in range(100):
        if found:
            break
        time.sleep(0.05)
    return found
