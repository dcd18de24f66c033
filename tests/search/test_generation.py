"""Generations on a place whose nodes crash: what is sent again, who is set aside."""

from concurrent.futures import Future

import numpy as np

from homodyn.search.generation import Dispatch
from homodyn.search.outcome import Outcomes, Status
from homodyn.search.sites import Clock, Lost, Site
from support.search_objectives import tasks


class Rooms(Site):
    """Nodes that take turns; the workers of some end with every task they get."""

    name = "rooms"
    width = 2

    def __init__(self, *crashing):
        self.crashing = set(crashing)
        self.turns = 0
        self.used = []

    def nodes(self):
        return {"anna", "berta", "carla"}

    def submit(self, tasks, *, cost, avoid):
        allowed = sorted(self.nodes() - set(avoid))
        node = allowed[self.turns % len(allowed)]
        self.turns += 1
        self.used.append(node)
        answer = Future()
        if node in self.crashing:
            answer.set_exception(Lost(f"its worker {node} ended", node))
        else:
            outcomes = Outcomes.blank(len(tasks), 1)
            outcomes.results[:, 0] = tasks.members
            outcomes.node = node
            answer.set_result(outcomes)
        return answer


def dispatched(site, count=40):
    notes, status, results = [], np.full(count, -1), np.full(count, np.nan)

    def done(part, outcomes, attempts):
        status[part.members] = outcomes.status
        results[part.members] = outcomes.results[:, 0]

    dispatch = Dispatch(
        site,
        at_once=False,
        group=1,
        estimate=None,
        time_limit=None,
        objectives=1,
        note=notes.append,
    )
    assert dispatch.run(tasks(count), count, Clock(), done)
    return status, results, notes


def test_a_node_whose_workers_end_is_set_aside_and_its_candidates_are_not_blamed():
    site = Rooms("berta")
    status, results, notes = dispatched(site)
    assert (status == Status.OK).all()
    assert np.array_equal(results, np.arange(40))
    (note,) = [note for note in notes if "set aside" in note]
    assert note == (
        "node berta is set aside: it failed what other nodes evaluate (its worker ended)"
    )
    assert site.used.count("berta") <= 5


def test_a_candidate_that_ends_every_worker_is_to_blame():
    site = Rooms("anna", "berta", "carla")
    status, _, notes = dispatched(site, count=3)
    assert (status == Status.CRASHED).all()
    assert not any("set aside" in note for note in notes)
