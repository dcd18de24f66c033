"""What tests of searches evaluate; other processes import it."""

import os
import signal
import sys
import time

import numpy as np

from homodyn.search import PSO, ExecutionSettings, Job, Objective, SearchParameter, Space
from homodyn.search.benchmark_functions import six_hump
from homodyn.search.outcomes import CandidateBatch, evaluation_seeds

SPACE = Space({"x": (-2, 2), "y": (-1, 1)})


def camel_job(**named):
    fields = {
        "name": "camel",
        "parameters": [SearchParameter("x", -2, 2), SearchParameter("y", -1, 1)],
        "objectives": [Objective("f")],
        "optimizer": PSO(10),
        "iterations": 8,
        "run": ExecutionSettings(where="serial"),
        **named,
    }
    return Job(**fields)


def camel(parameters):
    return float(six_hump(np.array([parameters["x"], parameters["y"]])))


def camel_batch(values):
    return six_hump(values)


def slow_camel(parameters):
    time.sleep(0.01)
    return camel(parameters)


def noisy(parameters, seed):
    return camel(parameters) + np.random.default_rng(seed).normal()


def troubled(parameters):
    """Fails, is no number, or has the wrong length, depending on where it is."""
    x = parameters["x"]
    if x > 1.5:
        raise RuntimeError("the knee broke")
    if x > 1:
        return float("nan")
    if x > 0.5:
        return [1.0, 2.0]
    return camel(parameters)


def deadly(parameters):
    if parameters["x"] > 1:
        os._exit(3)
    return camel(parameters)


def deadly_once(parameters, settings):
    """Ends its process the first time, as a machine that is switched off does."""
    if parameters["x"] > 1:
        try:
            os.close(os.open(settings["flag"], os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return camel(parameters)
        os._exit(3)
    return camel(parameters)


def hanging(parameters):
    if parameters["x"] > 1:
        time.sleep(60)
    return camel(parameters)


def looping(parameters):
    while parameters["x"] > 1:
        pass
    return camel(parameters)


def deaf(parameters):
    """Hangs in a way that no exception reaches."""
    if parameters["x"] > 1:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
        time.sleep(60)
    return camel(parameters)


def greedy(parameters):
    if parameters["x"] > 1:
        np.ones(400_000_000)
    return camel(parameters)


def broken_where_told(parameters):
    if os.environ.get("HOMODYN_TEST_BROKEN_NODE"):
        raise RuntimeError("no simulator on this node")
    time.sleep(0.01)
    return camel(parameters)


def tasks(count=6, space=SPACE, repeats=1):
    random = np.random.default_rng(0)
    values = space.values(random.random((count, space.size)))
    groups = np.zeros((count, len(space.pools)), dtype=np.int32)
    members = np.arange(count)
    return CandidateBatch(members, values, groups, evaluation_seeds(7, 3, members, repeats), 3)


def child_environment():
    """The environment of a process that imports what this one can import."""
    here = [path for path in sys.path if path]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(here)}
