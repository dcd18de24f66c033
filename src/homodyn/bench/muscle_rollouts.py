"""Rollouts that are driven by muscles, against those of MuJoCo with its own muscles.

Both programs have the same two legs with a fixed pelvis, 12 muscles on straight lines with rigid
tendons and activation dynamics, the same excitations and time step. Homodyn has the curves of De
Groote and Fregly, MuJoCo its own. A walker of ten degrees of freedom with 18 muscles, whose knees
MJCF cannot express, is timed by itself, with the paths of the file and with their polynomials.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from homodyn.bench.harness import BenchmarkRow, interleave, missing
from homodyn.bench.mujoco_peer import MujocoHuman
from homodyn.bench.opensim_process import data_folder, missing_data_row
from homodyn.model import Assembly, Model, box, joints, load
from homodyn.model.muscles import Muscle, PathPoint
from homodyn.muscle import PathPolynomials, fit_polynomials, lengths
from homodyn.muscle.geometry.tangent_rule import OPENSIM
from homodyn.muscle.models import DeGrooteFregly2016
from homodyn.simulate import BatchSimulator, MuscleActuation

LEG_MUSCLES = {
    "iliopsoas": ("world", (0.06, 0.08), "thigh", (0.03, -0.1), 1500.0, 0.11),
    "gluteus": ("world", (-0.09, 0.05), "thigh", (-0.03, -0.12), 1800.0, 0.13),
    "vastus": ("thigh", (0.05, -0.15), "shank", (0.05, -0.05), 2500.0, 0.1),
    "rectus": ("world", (0.06, 0.02), "shank", (0.055, -0.05), 1000.0, 0.09),
    "hamstring": ("world", (-0.06, 0.0), "shank", (-0.04, -0.06), 1600.0, 0.12),
    "biceps_short": ("thigh", (-0.03, -0.2), "shank", (-0.04, -0.06), 700.0, 0.14),
}
"""Bodies and points (x, z in m) of both ends, maximum isometric force (N), fiber length (m)."""
SEGMENT_M, HIP_WIDTH_M = 0.4, 0.2
FLEXED_RAD = (-0.2, 0.4)
"""Hip and knee where fibers have their optimal length."""
MODEL_FILE = Path("gait10dof") / "subject01.osim"
TIME_STEP_S = 1e-3
ROLLOUT_EXCITATION = 0.0
"""Of all muscles, as MuJoCo has it in a rollout without controls."""
BATCH_ELEMENTS, BATCH_STEPS = 256, 50
QUICK_STEPS = 20
FITTED_RANGE_RAD = 0.6
"""Polynomials hold this far from the neutral pose."""


def rollout_rows(quick: bool) -> Iterator[BenchmarkRow]:
    """Steps per second and core of rollouts with muscles.

    Args:
        quick: Make fewer and shorter runs.

    Yields:
        The rows.
    """
    steps = QUICK_STEPS if quick else BATCH_STEPS
    yield from _peer_rows(steps, 3 if quick else 7)
    path = data_folder() / MODEL_FILE
    if not path.is_file():
        yield missing_data_row("rollouts with 18 muscles", "steps/s/core", path)
        return
    model = load(path)
    actuations = {
        "paths of the file": actuation(None),
        "polynomials": actuation(fitted_paths(model)),
    }
    calls = [_simulation(model, one, steps) for one in actuations.values()]
    times = interleave(*calls, repeat=3 if quick else 7, clock=process_time)
    for name, seconds in zip(actuations, times, strict=True):
        title = f"rollouts with 18 muscles, {name}, {BATCH_ELEMENTS} elements at 1 ms"
        rate = BATCH_ELEMENTS * steps / seconds
        yield BenchmarkRow.from_rates(title, rate, None, unit="steps/s/core", required=None)


def _peer_rows(steps: int, repeat: int) -> Iterator[BenchmarkRow]:
    """Two legs in both programs."""
    model, note = legs(), missing("mujoco")
    calls = [_simulation(model, actuation(None), steps)]
    with tempfile.TemporaryDirectory() as scratch:
        if not note:
            q = np.asarray(model.neutral())
            peer = MujocoHuman(model, q, Path(scratch) / "legs.xml", TIME_STEP_S)
            calls.append(partial(peer.rollout, BATCH_ELEMENTS, steps, 1))
        times = interleave(*calls, repeat=repeat, clock=process_time)
    rates = [BATCH_ELEMENTS * steps / seconds for seconds in times]
    yield BenchmarkRow.from_rates(
        f"rollouts of two legs with 12 muscles, {BATCH_ELEMENTS} elements at 1 ms",
        rates[0],
        rates[1] if len(rates) > 1 else None,
        unit="steps/s/core",
        required=None,
        note=note,
    )


def _simulation(model: Model, muscles: MuscleActuation, steps: int) -> Any:
    """A call that simulates a batch on one thread."""
    simulator = BatchSimulator(model, contact=None, actuation=muscles, joint_limits=None).compile()
    many = np.tile(np.asarray(model.neutral()), (BATCH_ELEMENTS, 1))
    duration = steps * TIME_STEP_S
    return partial(simulator, many, None, duration, TIME_STEP_S, threads=1)


def legs() -> Model:
    """Two legs with hips and knees on a fixed pelvis, each with six muscles."""
    tree = Assembly("legs")
    muscles = []
    hinge = joints.revolute("y")
    for side, offset in (("r", -HIP_WIDTH_M / 2), ("l", HIP_WIDTH_M / 2)):
        thigh, shank = f"thigh_{side}", f"shank_{side}"
        tree = tree.add(
            box(thigh, 8.0, (0.1, 0.12, SEGMENT_M)),
            hinge,
            at=(0, offset, 0),
            joint_name=f"hip_{side}",
        ).add(
            box(shank, 4.0, (0.1, 0.1, SEGMENT_M)),
            hinge,
            thigh,
            at=(0, 0, -SEGMENT_M),
            joint_name=f"knee_{side}",
        )
        for name, (origin, start, insertion, end, force, fiber) in LEG_MUSCLES.items():
            points: list[PathPoint] = []
            for body, (x, z) in ((origin, start), (insertion, end)):
                own, y = (body, offset) if body == "world" else (f"{body}_{side}", 0.0)
                points.append(PathPoint(f"{name}_{side}{len(points)}", own, (x, y, z)))
            muscles.append(
                Muscle(
                    f"{name}_{side}",
                    "DeGrooteFregly2016Muscle",
                    tuple(points),
                    max_isometric_force=force,
                    optimal_fiber_length=fiber,
                )
            )
    skeleton = tree.model()
    rest = lengths(replace(skeleton, muscles=tuple(muscles)), np.array(2 * FLEXED_RAD))
    fitted = [
        replace(one, tendon_slack_length=float(length) - one.optimal_fiber_length)
        for one, length in zip(muscles, rest, strict=True)
    ]
    return replace(skeleton, muscles=tuple(fitted))


def actuation(fitted: PathPolynomials | None) -> MuscleActuation:
    """Muscles with rigid tendons.

    Args:
        fitted: Polynomials instead of the paths.
    """
    return MuscleActuation(
        ROLLOUT_EXCITATION,
        tendon="rigid",
        muscle_model=DeGrooteFregly2016(),
        wrapping=OPENSIM,
        paths=fitted,
    )


def fitted_paths(model: Model) -> PathPolynomials:
    """Polynomials of all muscles around the neutral pose.

    Args:
        model: A model without quaternions.
    """
    center = np.asarray(model.neutral())
    ranges = {
        name: (float(x) - FITTED_RANGE_RAD, float(x) + FITTED_RANGE_RAD)
        for name, x in zip(model.coordinate_names, center, strict=True)
    }
    return fit_polynomials(model, ranges=ranges)
