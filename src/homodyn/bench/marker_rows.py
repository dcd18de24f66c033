"""Steps of a human that is pulled by markers, against equality constraints of MuJoCo.

Each marker has three soft rows to a body of infinite mass: `MarkerSprings` here, a mocap body with
a connect constraint in MuJoCo.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from homodyn import simulate
from homodyn.bench.harness import BenchmarkRow, interleave
from homodyn.bench.mujoco_peer import MujocoHuman
from homodyn.dynamics import marker_positions
from homodyn.model import Model
from homodyn.simulate.rows import MarkerSprings

TIME_STEP_S = 1e-3
"""Time step of both programs (s)."""
BATCH_SIZE = 256
MARKER_DISTANCE_M = 0.01
"""Distance of further markers from those of the model, along each axis."""
MIN_SINGLE_SPEEDUP = 1.0
"""Required ratio of the speed of a single step to that of MuJoCo."""
MIN_BATCH_SPEEDUP = 5.0
"""Required ratio of steps per second and core in batches to those of MuJoCo."""
CONTACT_LAW = simulate.ImplicitSprings(stiffness=2e5, damping=2e3)


def with_more_markers(model: Model, count: int) -> Model:
    """The model with at least so many markers: further ones are beside those that it has.

    Args:
        model: A model with markers.
        count: Number of markers that are needed.

    Returns:
        The model.
    """
    markers = list(model.markers)
    for k in range(count - len(markers)):
        marker = model.markers[k]
        place = np.asarray(marker.position, dtype=float) + MARKER_DISTANCE_M
        markers.append(replace(marker, name=f"{marker.name} beside", position=place))
    return replace(model, markers=tuple(markers))


def marker_rows(
    model: Model, q: np.ndarray, count: int, path: Path, note: str, quick: bool
) -> Iterator[BenchmarkRow]:
    """Rows of single steps and of batches with the first markers of a model.

    Args:
        model: The model, with markers.
        q: Its pose, in which the targets are those of its markers.
        count: Number of markers.
        path: MJCF file to write.
        note: Why MuJoCo is missing; empty if it is not.
        quick: Make fewer and shorter runs.

    Yields:
        Two rows.
    """
    names = [marker.name for marker in model.markers[:count]]
    positions = np.asarray(marker_positions(model, q))[:count]
    springs = MarkerSprings(names, [0.0], positions[None])
    prepared = simulate.BatchSimulator(
        model,
        contact=CONTACT_LAW,
        options=simulate.SimulationOptions(
            joint_limits=simulate.JointLimits(), rows=[springs], recorded_quantities=()
        ),
    )
    peer = None if note else MujocoHuman(model, q, path, TIME_STEP_S, pinned=count)
    for size, steps, required in (
        (1, 500, MIN_SINGLE_SPEEDUP),
        (BATCH_SIZE, 20, MIN_BATCH_SPEEDUP),
    ):
        many = q if size == 1 else np.tile(q, (size, 1))
        ours = prepared.compile(batch_size=1) if size == 1 else prepared.compile()
        calls: list[Any] = [partial(ours, many, None, steps * TIME_STEP_S, TIME_STEP_S, threads=1)]
        if peer is not None:
            calls.append(partial(peer.rollout, size, steps, 1))
        times = interleave(*calls, repeat=3 if quick else 9, clock=process_time)
        rates = [size * steps / seconds for seconds in times]
        what = "one human" if size == 1 else f"{size} humans"
        yield BenchmarkRow.from_rates(
            f"{3 * count} soft rows of markers, {what} at 1 ms on one core",
            rates[0],
            None if peer is None else rates[1],
            unit="steps/s/core",
            required=required,
            note=note or f"{model.nv} degrees of freedom; {1e6 / rates[0]:.2f} us a step",
        )
