import threading

import pytest

from homodyn.foundation import resource_guard
from homodyn.foundation.resource_guard import ResourceLimitExceeded, limit_resources

NO_LIMIT = 10**15


def spin():
    while True:
        pass


def grow():
    kept = []
    while True:
        kept.append(bytes(range(256)) * 100)


def test_work_within_its_limits_is_not_disturbed():
    with limit_resources(NO_LIMIT, NO_LIMIT):
        total = sum(range(1000))
    assert total == 499500


def test_errors_of_the_work_pass():
    with pytest.raises(KeyError), limit_resources(NO_LIMIT, NO_LIMIT):
        raise KeyError("x")


def test_endless_work_ends():
    expected = pytest.raises(ResourceLimitExceeded, match=r"more than 0\.1 s of processor time")
    with expected, limit_resources(0.1, NO_LIMIT):
        spin()


def test_work_cannot_catch_the_interruption():
    def stubborn():
        while True:
            try:
                spin()
            except Exception:
                continue

    with pytest.raises(ResourceLimitExceeded), limit_resources(0.1, NO_LIMIT):
        stubborn()


def test_each_thread_has_its_own_limit():
    errors = []

    def work():
        try:
            with limit_resources(0.1, NO_LIMIT):
                spin()
        except ResourceLimitExceeded as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert len(errors) == 1


@pytest.mark.skipif(resource_guard._resident_bytes() == 0, reason="memory is known on Linux only")
def test_growing_work_ends():
    expected = pytest.raises(ResourceLimitExceeded, match=r"more than 0\.05 GB of memory")
    with expected, limit_resources(NO_LIMIT, 50_000_000):
        grow()


def test_missing_memory_is_a_limit():
    expected = pytest.raises(ResourceLimitExceeded, match="memory of this machine")
    with expected, limit_resources(NO_LIMIT, NO_LIMIT):
        raise MemoryError


def test_an_interruption_that_comes_too_late_is_withdrawn():
    watchdog = resource_guard._Watchdog(threading.get_ident(), 0.0, NO_LIMIT)
    watchdog.stop()
    watchdog._interrupt("everything")
    assert not watchdog.exceeded
