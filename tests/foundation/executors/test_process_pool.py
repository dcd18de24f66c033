"""Worker processes: lost workers, cancellation, thread limits, and scripts without a guard."""

import os
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from homodyn.foundation.executors import ExecutorError, ProcessExecutor, WorkerLost


def test_a_worker_that_dies_loses_its_own_task_only():
    with ProcessExecutor(2) as executor:
        results = {
            result.index: result
            for result in executor.map_unordered(
                lambda x: os._exit(3) if x == 2 else x * x, range(6)
            )
        }
    assert isinstance(results.pop(2).error, WorkerLost)
    assert {index: result.value for index, result in results.items()} == {
        k: k * k for k in (0, 1, 3, 4, 5)
    }


def test_tasks_that_wait_can_be_cancelled():
    with ProcessExecutor(1) as executor:
        running = executor.submit(time.sleep, 1.0)
        waiting = executor.submit(abs, -1)
        assert waiting.cancel()
        assert not running.cancel()
        assert executor.submit(abs, -2).result() == 2


def test_threads_of_worker_processes_are_limited():
    with ProcessExecutor(1, threads=1) as executor:
        names = ("HOMODYN_THREADS", "OMP_NUM_THREADS")
        values = executor.submit(lambda: [os.environ.get(name) for name in names]).result()
    assert values == ["1", "1"]


def test_what_cannot_be_sent_is_refused():
    with (
        ProcessExecutor(1) as executor,
        pytest.raises(ExecutorError, match="cannot be sent to other processes"),
    ):
        executor.submit(print, threading.Lock())


def test_an_executor_that_was_shut_down_takes_no_tasks():
    executor = ProcessExecutor(1)
    executor.shutdown()
    executor.shutdown()
    with pytest.raises(ExecutorError, match="shut down"):
        executor.submit(abs, -1)


def test_a_script_without_a_guard_uses_processes(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(
            """
            from homodyn.foundation.executors import ProcessExecutor

            class Pair:
                def __init__(self, value):
                    self.value = value

            def double(pair):
                return Pair(2 * pair.value)

            with ProcessExecutor(2) as executor:
                print([pair.value for pair in executor.map(double, [Pair(1), Pair(2)])])
            """
        )
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert done.stderr == ""
    assert done.stdout == "[2, 4]\n"
