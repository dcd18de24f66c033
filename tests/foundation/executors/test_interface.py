"""Executors: every implementation honors the contract of the interface."""

from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from homodyn.foundation.executors import (
    Executor,
    ProcessExecutor,
    SerialExecutor,
)


class ThreadExecutor(Executor):
    """An executor as users write one."""

    name = "threads"

    def __init__(self, count):
        self._pool, self._count = ThreadPoolExecutor(count), count

    @property
    def capacity(self):
        return self._count

    def submit(self, function, /, *arguments, cost=1.0, avoid=()) -> Future:
        return self._pool.submit(function, *arguments)

    def shutdown(self, *, cancel=False):
        self._pool.shutdown(cancel_futures=cancel)


@pytest.fixture(params=["serial", "processes", "threads"])
def executor(request):
    executor = {
        "serial": SerialExecutor,
        "processes": lambda: ProcessExecutor(2),
        "threads": lambda: ThreadExecutor(2),
    }[request.param]()
    with executor:
        yield executor


def test_functions_of_any_kind_run(executor):
    offset = 3
    assert list(executor.map(lambda x: x + offset, range(5))) == [3, 4, 5, 6, 7]
    assert executor.submit(divmod, 7, 2).result() == (3, 1)
    assert executor.capacity >= 1


def test_the_exception_of_a_function_arrives_through_its_future(executor):
    class Special(Exception):
        pass

    def fail():
        raise Special("no")

    future = executor.submit(fail)
    with pytest.raises(Special, match="no"):
        future.result()
    # The executor goes on.
    assert executor.submit(abs, -1).result() == 1


def test_unordered_results_carry_values_and_errors(executor):
    results = sorted(
        executor.map_unordered(lambda x: 1 / x, [1, 0, 4]), key=lambda result: result.index
    )
    assert [result.value for result in results] == [1.0, None, 0.25]
    assert isinstance(results[1].error, ZeroDivisionError)
