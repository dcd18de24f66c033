"""Evaluations of gait studies: walking candidates that differ, against rollouts of MuJoCo."""

from __future__ import annotations

import resource
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import process_time

import numpy as np

from homodyn.bench.harness import BenchmarkRow, benchmark, best_of, missing
from homodyn.bench.mujoco_peer import MujocoHuman
from homodyn.errors import HomodynError
from homodyn.gait.studies import GaitStudy, load_study

STUDY = "human-normative"
REQUIRED_EVALUATIONS = 800.0
"""Evaluations of 10 s per second and core."""
REQUIRED_SPEEDUP = 10.0
"""Evaluations per core relative to rollouts of MuJoCo."""
STUDY_EVALUATIONS = 1_800_000
"""Candidates of 30 runs of 120 particles and 500 generations."""
REQUIRED_STUDY_MIN, CORES = 60.0, 2
MUTATION_SHARE = 0.05
"""Standard deviation of walking candidates about the gait of the study, share of the bounds."""
MAX_DRAWS = 40
"""Batches of candidates that are drawn until enough of them walk."""
MIN_WALKED_SHARE = 0.8
"""A candidate walks when it covers this share of the target distance without a fall."""


@benchmark("gait")
def gait(quick: bool) -> Iterator[BenchmarkRow]:
    """Gait studies: evaluations a second of walking candidates, against MuJoCo, memory."""
    likeness = load_study(STUDY)
    # The same walkers with the objectives of the thesis, which cost less.
    study = replace(likeness, objectives=load_study("human").objectives, formulas={})
    count = 32 if quick else 128
    walkers = walking_candidates(study, count)
    seconds = _evaluation_time(study, walkers, quick)
    rate = 1.0 / seconds
    yield BenchmarkRow.from_rates(
        "planar human: evaluations of 10 s per second and core",
        rate,
        REQUIRED_EVALUATIONS,
        unit="1/s",
        required=1.0,
        note=f"{count} different candidates, all walk to the end",
    )
    yield BenchmarkRow.from_rates(
        "the same with objectives of human likeness",
        1.0 / _evaluation_time(likeness, walkers, quick),
        None,
        unit="1/s",
        required=None,
    )
    minutes = STUDY_EVALUATIONS * seconds / CORES / 60
    yield BenchmarkRow.from_times(
        "study of 30 runs on two cores",
        minutes,
        REQUIRED_STUDY_MIN,
        unit="min",
        required=1.0,
        note="from the row above, if every candidate walked to the end",
    )
    note = missing("mujoco")
    peer = None if note else _mujoco_rate(study, walkers, quick)
    yield BenchmarkRow.from_rates(
        "evaluations against rollouts of MuJoCo, per core",
        rate,
        peer,
        unit="1/s",
        required=REQUIRED_SPEEDUP,
        note=note or "the same walker, contacts, step and torques; without measures and control",
    )
    unit = 1e6 if sys.platform == "darwin" else 1e3
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    yield BenchmarkRow.from_times("peak memory", peak, 2000.0, unit="MB", required=1.0)


def _evaluation_time(study: GaitStudy, walkers: np.ndarray, quick: bool) -> float:
    """Processor time of an evaluation (s); a candidate that breaks is an error, not a gait."""

    def evaluate() -> None:
        if not walks(study, walkers).all():
            raise HomodynError("a candidate that walked before did not: it is no evaluation")

    repeat = 2 if quick else 5
    total = best_of(evaluate, repeat=repeat, minimum_time=0.0, clock=process_time)
    return total / len(walkers)


def walking_candidates(study: GaitStudy, count: int, seed: int = 0) -> np.ndarray:
    """Candidates that differ and walk for the whole duration.

    They are drawn about the initial values of the study; those that fall, break or stand are left
    out.

    Args:
        study: A study with initial values that walk.
        count: Number of candidates.
        seed: Seed of the random numbers.

    Returns:
        (count, parameters).

    Raises:
        HomodynError: Too few candidates walk.
    """
    random = np.random.default_rng(seed)
    center = study.space.unit(
        np.array([[study.initial_values[name] for name in study.space.names]])
    )
    found = np.empty((0, study.space.size))
    for _ in range(MAX_DRAWS):
        unit = center + MUTATION_SHARE * random.standard_normal((count, study.space.size))
        values = study.space.values(np.clip(unit, 0.0, 1.0))
        found = np.concatenate((found, values[walks(study, values)]))
        if len(found) >= count:
            return found[:count]
    raise HomodynError(f"only {len(found)} of {MAX_DRAWS * count} candidates of {study.name} walk")


def walks(study: GaitStudy, values: np.ndarray) -> np.ndarray:
    """Which candidates walk: no simulation broke, nobody fell or stood.

    Args:
        study: The study; its objectives include ``speed_match``.
        values: (candidates, parameters).

    Returns:
        (candidates,), bool.
    """
    evaluation = study.evaluate(values, threads=1)
    upright = evaluation.end_time > study.duration - 2 * study.dt
    fast = evaluation.objectives["speed_match"] > MIN_WALKED_SHARE
    return np.asarray(upright & fast & ~evaluation.broken)


def _mujoco_rate(study: GaitStudy, walkers: np.ndarray, quick: bool) -> float:
    """Rollouts of 10 s per second of one core, with the torques of a walker."""
    result = study.replay(dict(zip(study.space.names, walkers[0], strict=True)))
    q, _ = study.start
    with tempfile.TemporaryDirectory() as scratch:
        peer = MujocoHuman(study.model, q, Path(scratch) / "walker.xml", study.dt)
        steps = 500 if quick else 2000
        torques = result.torques[:steps]
        seconds = best_of(
            lambda: peer.rollout_with_torques(torques, result.v[0]),
            repeat=2,
            minimum_time=0.0,
            clock=process_time,
        )
    return steps * study.dt / study.duration / seconds
