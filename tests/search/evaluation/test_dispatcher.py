"""Generations on nodes that crash: candidates that are submitted again, nodes that are excluded."""

from concurrent.futures import Future

import numpy as np

from homodyn.foundation.executors import Executor, WorkerLost
from homodyn.search.evaluation.candidate_executor import CandidateExecutor
from homodyn.search.evaluation.dispatcher import Dispatcher
from homodyn.search.evaluation.outcomes import EvaluationOutcomes, EvaluationStatus
from homodyn.search.stopwatch import Stopwatch
from support.search_objectives import tasks


class Cluster(Executor):
    """Nodes that take turns; the workers of some end with every task."""

    name = "cluster"
    capacity = 2

    def __init__(self, *crashing):
        self.crashing = set(crashing)
        self.turns = 0
        self.used = []

    def nodes(self):
        return {"anna", "berta", "carla"}

    def shutdown(self, *, cancel=False):
        pass

    def submit(self, function, /, tasks, *, cost, avoid):
        allowed = sorted(self.nodes() - set(avoid))
        node = allowed[self.turns % len(allowed)]
        self.turns += 1
        self.used.append(node)
        future = Future()
        if node in self.crashing:
            future.set_exception(WorkerLost(f"its worker {node} ended", node))
        else:
            outcomes = EvaluationOutcomes.blank(len(tasks), 1)
            outcomes.results[:, 0] = tasks.members
            outcomes.node = node
            future.set_result(outcomes)
        return future


def dispatch(cluster, count=40):
    notes, status, results = [], np.full(count, -1), np.full(count, np.nan)

    def done(part, outcomes, attempts):
        status[part.members] = outcomes.status
        results[part.members] = outcomes.results[:, 0]

    dispatcher = Dispatcher(
        CandidateExecutor(cluster, lambda tasks: None),
        vectorized=False,
        group=1,
        estimate=None,
        time_limit=None,
        objectives=1,
        note=notes.append,
    )
    assert dispatcher.run(tasks(count), count, Stopwatch(), done)
    return status, results, notes


def test_a_node_whose_workers_end_is_excluded_and_its_candidates_do_not_fail():
    cluster = Cluster("berta")
    status, results, notes = dispatch(cluster)
    assert (status == EvaluationStatus.OK).all()
    assert np.array_equal(results, np.arange(40))
    (note,) = [note for note in notes if "is excluded" in note]
    assert note == (
        "node berta is excluded: it failed on candidates that other nodes evaluate "
        "(its worker ended)"
    )
    assert cluster.used.count("berta") <= 5


def test_a_candidate_that_ends_every_worker_fails():
    cluster = Cluster("anna", "berta", "carla")
    status, _, notes = dispatch(cluster, count=3)
    assert (status == EvaluationStatus.CRASHED).all()
    assert not any("is excluded" in note for note in notes)
