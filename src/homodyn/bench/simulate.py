"""Thousands of simulated humans on their feet, against MuJoCo's own rollouts."""

from __future__ import annotations

import resource
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from homodyn import catalog, simulate
from homodyn.bench.harness import BenchmarkRow, benchmark, best_of, interleave, missing
from homodyn.bench.mujoco_peer import MujocoHuman
from homodyn.bench.step_breakdown import step_parts
from homodyn.model import Model

TIME_STEP_S = 1e-3
"""Step (s) of both."""
STIFFNESS, DAMPING = 800.0, 40.0
"""Springs and dampers that hold every joint (N m/rad, N m s/rad)."""
SETTLED, LAST = 0.6, 0.1
"""Time (s) that humans have to settle, and the end of it in which forces are looked at."""
FASTER, REAL_TIME = 10.0, 100.0
"""Required: steps a second and core against MuJoCo's, and one human against real time."""
MAX_SIMD_COST_RATIO = 0.7
"""Required: cost of a step and lane with 8 lanes, against that with more."""
LEAST_ERROR, LEAST_DEPTH = 1e-6, 1e-9
"""Errors of force (% of weight) and penetrations (m) below are not told apart."""
RIGID = "rigid, in steps"
LAWS = {
    "soft": simulate.SoftContact(stiffness=1.5e5, damping=120.0),
    "implicit springs": simulate.ImplicitSprings(stiffness=2e5, damping=2e3, iterations=1),
    RIGID: simulate.TimeStepping(),
}


def standing_human() -> tuple[Model, np.ndarray]:
    """HeiMan with sprung joints, just on the ground."""
    model = catalog.heiman(height=1.75, mass=75)
    joints = model.coordinate_names[6:]
    model = model.with_numbers(
        {f"{name}.stiffness": STIFFNESS for name in joints}
        | {f"{name}.damping": DAMPING for name in joints}
    )
    return model, simulate.place_on_ground(model, model.neutral())


@benchmark("simulate")
def simulate_rows(quick: bool) -> Iterator[BenchmarkRow]:
    """Humans that stand on their feet: steps a second, forces, penetration, lanes."""
    yield from rows_of(*standing_human(), quick)


def rows_of(model: Model, q: np.ndarray, quick: bool) -> Iterator[BenchmarkRow]:
    """All rows for a model that stands at ``q``."""
    note = missing("mujoco")
    prepared = {name: _prepare(model, law).compile() for name, law in LAWS.items()}
    with tempfile.TemporaryDirectory() as scratch:
        peer = None if note else MujocoHuman(model, q, Path(scratch) / "human.xml", TIME_STEP_S)
        yield from _speed_rows(prepared, q, peer, note, quick)
        yield from _single_rows(prepared, q, peer, quick)
        yield from _settled_rows(model, q, peer, note)
    yield from _lane_rows(prepared, q, quick)
    yield from _split_rows(model, q, quick)


def _prepare(model: Model, law: Any, record: tuple[str, ...] = ()) -> simulate.BatchSimulator:
    return simulate.BatchSimulator(
        model,
        contact=law,
        options=simulate.SimulationOptions(
            joint_limits=simulate.JointLimits(), recorded_quantities=record
        ),
    )


def _speed_rows(
    prepared: dict[str, simulate.BatchSimulator],
    q: np.ndarray,
    peer: MujocoHuman | None,
    note: str,
    quick: bool,
) -> Iterator[BenchmarkRow]:
    # Time of the processor, summed over threads: seconds of one core, whoever else is at work.
    lanes, steps = 256, 20 if quick else 50
    many = np.tile(q, (lanes, 1))
    for threads in (1, 2):
        calls: list[Any] = [
            partial(rollouts, many, None, steps * TIME_STEP_S, TIME_STEP_S, threads=threads)
            for rollouts in prepared.values()
        ]
        if peer is not None:
            calls.append(partial(peer.rollout, lanes, steps, threads))
        times = interleave(*calls, repeat=3 if quick else 7, clock=process_time)
        rates = [lanes * steps / seconds for seconds in times]
        for name, ours in zip(prepared, rates, strict=False):
            yield BenchmarkRow.from_rates(
                f"{name}, {lanes} humans at 1 ms, {threads} thread{'s' if threads > 1 else ''}",
                ours,
                None if peer is None else rates[-1],
                unit="steps/s/core",
                required=FASTER,
                note=note,
            )


def _single_rows(
    prepared: dict[str, simulate.BatchSimulator],
    q: np.ndarray,
    peer: MujocoHuman | None,
    quick: bool,
) -> Iterator[BenchmarkRow]:
    duration = 0.5
    calls: list[Any] = [
        partial(rollouts.compile(batch_size=1), q, None, duration, TIME_STEP_S, threads=1)
        for rollouts in prepared.values()
    ]
    if peer is not None:
        calls.append(partial(peer.rollout, 1, round(duration / TIME_STEP_S), 1))
    times = interleave(*calls, repeat=3 if quick else 9, clock=process_time)
    note = "" if peer is None else f"MuJoCo {duration / times[-1]:.0f} times"
    for name, seconds in zip(prepared, times, strict=False):
        yield BenchmarkRow.from_rates(
            f"{name}, one human at 1 ms on one core, against real time",
            duration / seconds,
            1.0,
            unit="s/s",
            required=REAL_TIME,
            note=note,
        )


def _settled_rows(
    model: Model, q: np.ndarray, peer: MujocoHuman | None, note: str
) -> Iterator[BenchmarkRow]:
    weight = float(model.mass * np.linalg.norm(model.gravity))
    theirs = None if peer is None else peer.settle(SETTLED, LAST, weight)
    for name, law in LAWS.items():
        stood = _prepare(model, law, ("forces", "distances", "residual"))(
            q, None, SETTLED, TIME_STEP_S
        )
        last = stood.time > SETTLED - LAST
        total = stood.records["forces"][0, last].sum(axis=1)
        error = abs(float(np.linalg.norm(total.mean(axis=0))) - weight)
        depth = -float(stood.records["distances"][0, last].min())
        left = stood.records["residual"][0]
        unit = "m/s" if name == RIGID else "kg m/s"
        solved = (
            "" if name == "soft" else f"residual {left[last].max():.1g}, {left.max():.1g} {unit}"
        )
        yield BenchmarkRow.from_times(
            f"{name}, error of the settled force",
            max(100 * error / weight, LEAST_ERROR),
            None if theirs is None else 100 * theirs[0] / weight,
            unit="% of weight",
            required=1.0,
            note=note or solved,
        )
        yield BenchmarkRow.from_times(
            f"{name}, penetration",
            max(depth, LEAST_DEPTH),
            None if theirs is None else theirs[1],
            unit="m",
            required=1.0,
            note=note,
        )


def _lane_rows(
    prepared: dict[str, simulate.BatchSimulator], q: np.ndarray, quick: bool
) -> Iterator[BenchmarkRow]:
    before = peak_resident()
    for name, rollouts in prepared.items():
        base = None
        for lanes in (8, 64, 512) if quick else (8, 64, 512, 4096, 32_768, 100_000):
            many = np.tile(q, (lanes, 1))
            steps = max(4, min(400, 40_000 // lanes))
            call = partial(rollouts, many, None, steps * TIME_STEP_S, TIME_STEP_S, threads=1)
            seconds = best_of(call, repeat=3, minimum_time=0.02, clock=process_time)
            cost = seconds / steps / lanes * 1e6
            base = base or cost
            kept = rollouts(many, None, TIME_STEP_S, TIME_STEP_S).nbytes / lanes
            yield BenchmarkRow.from_times(
                f"{name}, {lanes} lanes against 8",
                cost,
                base,
                unit="us/step/lane",
                required=MAX_SIMD_COST_RATIO,
                note=f"{1e6 / cost:,.0f} steps/s, {kept:.0f} bytes a lane kept, "
                f"{peak_resident():.0f} MB resident",
            )
    yield BenchmarkRow(
        "peak resident memory of the process",
        peak_resident(),
        None,
        "MB",
        None,
        None,
        f"{before:.0f} MB before the lanes, MuJoCo and all kernels loaded",
    )


def peak_resident() -> float:
    """The most memory (MB) that this process has held so far."""
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return held / 1e6 if sys.platform == "darwin" else held / 1e3


def _split_rows(model: Model, q: np.ndarray, quick: bool) -> Iterator[BenchmarkRow]:
    law = LAWS[RIGID]
    assert isinstance(law, simulate.TimeStepping)
    parts = step_parts(model, law, q, TIME_STEP_S, timed=not quick)
    whole = sum(part.instructions for part in parts)
    spent = sum(part.seconds or 0.0 for part in parts)
    for part in parts:
        share = part.instructions / whole
        yield BenchmarkRow(
            f"{RIGID}, share of a step: {part.name}",
            100 * share if part.seconds is None else 100 * part.seconds / spent,
            None,
            "% of instructions" if part.seconds is None else "% of time",
            None,
            None,
            f"{part.instructions} instructions, {100 * share:.0f} %",
        )
