"""Rollouts that are driven by muscles, against those of MuJoCo with its own muscles.

Both programs have the same skeleton of ten degrees of freedom without contact, 18 muscles with
rigid tendons and activation dynamics, the same excitations and time step. Homodyn has the curves of
De Groote and Fregly and the paths of the file or their polynomials; MuJoCo its own curves and
tendons through the same points.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from homodyn.bench.harness import BenchmarkRow, interleave, missing
from homodyn.bench.mujoco_peer import MujocoHuman
from homodyn.bench.opensim_process import data_folder, missing_data_row
from homodyn.errors import HomodynError
from homodyn.model import Model, load
from homodyn.muscle import PathPolynomials, fit_polynomials
from homodyn.muscle.geometry.tangent_rule import OPENSIM
from homodyn.muscle.models import DeGrooteFregly2016
from homodyn.simulate import BatchSimulator, MuscleActuation

MODEL_FILE = Path("gait10dof") / "subject01.osim"
TIME_STEP_S = 1e-3
EXCITATION = 0.0
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
    path = data_folder() / MODEL_FILE
    if not path.is_file():
        yield missing_data_row("rollouts with 18 muscles", "steps/s/core", path)
        return
    model = load(path)
    q = np.asarray(model.neutral())
    actuations = {
        "paths of the file": actuation(None),
        "polynomials": actuation(fitted_paths(model)),
    }
    prepared = {
        name: BatchSimulator(model, contact=None, actuation=one, joint_limits=None).compile()
        for name, one in actuations.items()
    }
    steps = QUICK_STEPS if quick else BATCH_STEPS
    many = np.tile(q, (BATCH_ELEMENTS, 1))
    calls: list[Any] = [
        partial(one, many, None, steps * TIME_STEP_S, TIME_STEP_S, threads=1)
        for one in prepared.values()
    ]
    note = missing("mujoco")
    with tempfile.TemporaryDirectory() as scratch:
        if not note:
            try:
                peer = MujocoHuman(model, q, Path(scratch) / "walker.xml", TIME_STEP_S)
                calls.append(partial(peer.rollout, BATCH_ELEMENTS, steps, 1))
            except HomodynError as error:
                note = f"not in MuJoCo: {error}"
        times = interleave(*calls, repeat=3 if quick else 7, clock=process_time)
    rates = [BATCH_ELEMENTS * steps / seconds for seconds in times]
    for name, ours in zip(prepared, rates, strict=False):
        yield BenchmarkRow.from_rates(
            f"rollouts with 18 muscles, {name}, {BATCH_ELEMENTS} elements at 1 ms",
            ours,
            rates[-1] if len(rates) > len(prepared) else None,
            unit="steps/s/core",
            required=None,
            note=note,
        )


def actuation(fitted: PathPolynomials | None) -> MuscleActuation:
    """Muscles with rigid tendons.

    Args:
        fitted: Polynomials instead of the paths.
    """
    return MuscleActuation(
        EXCITATION,
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
