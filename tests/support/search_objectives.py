"""Objectives of the tests of searches; worker processes import this module."""

import os
import signal
import sys
import time

import numpy as np

from homodyn.search import PSO, Job, Objective, SearchParameter, Space
from homodyn.search.evaluation.outcomes import CandidateBatch, evaluation_seeds
from homodyn.search.jobs import ExecutionSettings
from homodyn.search.optimizers.benchmark_functions import six_hump

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
    """Fails, returns NaN, or returns a result of the wrong length, depending on x."""
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
    """Ends its process the first time, like a machine that is switched off."""
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


def uninterruptible(parameters):
    """Hangs with the signal of the time limit blocked."""
    if parameters["x"] > 1:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
        time.sleep(60)
    return camel(parameters)


def greedy(parameters):
    if parameters["x"] > 1:
        np.ones(400_000_000)
    return camel(parameters)


def broken_on_marked_node(parameters):
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
    """Environment of a process with the import path of this one."""
    here = [path for path in sys.path if path]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(here)}
