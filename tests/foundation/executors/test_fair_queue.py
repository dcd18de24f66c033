import heapq

import pytest

from homodyn.foundation.executors.fair_queue import FairQueue


def simulate(studies, workers, until):
    """A scheduler that runs what started earliest, as Dask does with our priorities.

    ``studies``: (priority, seconds a task, when it joins, tasks it keeps submitted). Busy seconds
    of each study, and the virtual clock shared by all.
    """
    queues = [FairQueue(priority) for priority, *_ in studies]
    busy = [0.0] * len(studies)
    waiting: list[tuple[float, int, int]] = []
    running: list[tuple[float, int, float]] = []
    count, now, clock = 0, 0.0, 0.0
    joined = [False] * len(studies)
    while now < until:
        for k, (_, cost, joins, ahead) in enumerate(studies):
            if not joined[k] and joins <= now:
                joined[k] = True
                for _ in range(ahead):
                    count += 1
                    heapq.heappush(waiting, (queues[k].start(clock, cost), count, k))
        while waiting and len(running) < workers:
            start, _, k = heapq.heappop(waiting)
            clock = max(clock, start)
            heapq.heappush(running, (now + studies[k][1], k, start))
        now, k, _ = heapq.heappop(running)
        busy[k] += studies[k][1]
        count += 1
        heapq.heappush(waiting, (queues[k].start(clock, studies[k][1]), count, k))
    return busy


@pytest.mark.parametrize("workers", [1, 4, 16])
def test_shares_follow_priorities_whatever_the_tasks_take(workers):
    studies = [(1.0, 0.5, 0.0, 2 * workers), (3.0, 0.05, 0.0, 20 * workers)]
    slow, quick = simulate(studies, workers, 400.0)
    assert quick / slow == pytest.approx(3.0, rel=0.1)


def test_equal_priorities_give_equal_time_not_equal_tasks():
    long, short = simulate([(1.0, 2.0, 0.0, 8), (1.0, 0.1, 0.0, 80)], 4, 800.0)
    assert long / short == pytest.approx(1.0, rel=0.1)


def test_a_study_that_joins_late_gets_its_share_and_no_arrears():
    first, late = simulate([(1.0, 0.5, 0.0, 8), (1.0, 0.5, 100.0, 8)], 2, 300.0)
    # Alone for 100 s on two workers, then half of each.
    assert first == pytest.approx(200 + 200, rel=0.05)
    assert late == pytest.approx(200, rel=0.05)
