"""Rollouts of standing humans, against those of MuJoCo."""

from __future__ import annotations

import resource
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from homodyn import catalog, simulate
from homodyn.bench.harness import BenchmarkRow, benchmark, best_of, interleave, missing
from homodyn.bench.marker_rows import marker_rows, with_more_markers
from homodyn.bench.mujoco_peer import MujocoHuman
from homodyn.bench.rollout_costs import cost_rows
from homodyn.bench.step_breakdown import step_parts
from homodyn.model import Model

TIME_STEP_S = 1e-3
"""Time step of both programs (s)."""
STIFFNESS, DAMPING = 800.0, 40.0
"""Springs and dampers at every joint (N m/rad, N m s/rad)."""
STANDING_DURATION_S = 0.6
"""Duration of the simulation of standing."""
EVALUATED_DURATION_S = 0.1
"""End of that simulation, in which forces and penetrations are evaluated."""
MIN_SPEEDUP = 10.0
"""Required ratio of steps per second and core to those of MuJoCo."""
MIN_REAL_TIME_FACTOR = 100.0
"""Required simulated time over elapsed time, for one human."""
MIN_EVENT_DRIVEN_FACTOR = 0.8
"""Required simulated time over processor time of the event-driven law."""
EVENT_DRIVEN_INTERVAL_S = 0.02
"""Longest step of the event-driven law (s)."""
DROP_HEIGHT_M = 0.02
MARKER_COUNTS = (4, 32, 41)
"""Numbers of markers that pull at the human, with three rows each."""
MIN_BATCH_EFFICIENCY = 0.7
"""Required cost per step and element of a batch of 8, relative to that of larger batches."""
ERROR_RESOLUTION_PERCENT = 1e-6
"""Smallest force error that is reported (% of weight)."""
DEPTH_RESOLUTION_M = 1e-9
"""Smallest penetration that is reported (m)."""
RIGID = "rigid, time stepping"
FORCE_ERROR = "steady-state force error"
PEAK_MEMORY = "peak resident memory of the process"
LAWS = {
    "soft": simulate.SoftContact(stiffness=1.5e5, damping=120.0),
    "implicit springs": simulate.ImplicitSprings(stiffness=2e5, damping=2e3),
    RIGID: simulate.TimeStepping(),
}


def standing_human() -> tuple[Model, np.ndarray]:
    """HeiMan with springs at its joints, and its pose on the ground."""
    model = catalog.heiman(height=1.75, mass=75)
    joints = model.coordinate_names[6:]
    model = model.with_numbers(
        {f"{name}.stiffness": STIFFNESS for name in joints}
        | {f"{name}.damping": DAMPING for name in joints}
    )
    return model, simulate.place_on_ground(model, model.neutral())


@benchmark("simulate")
def simulate_rows(quick: bool) -> Iterator[BenchmarkRow]:
    """Rollouts of standing humans: steps per second, forces, penetration, batch sizes."""
    yield from rows_of(*standing_human(), quick)


def rows_of(model: Model, q: np.ndarray, quick: bool) -> Iterator[BenchmarkRow]:
    """All rows of a model.

    Args:
        model: The model.
        q: Its standing pose.
        quick: Make fewer and shorter runs.

    Yields:
        The rows.
    """
    note = missing("mujoco")
    prepared = {name: _prepare(model, law).compile() for name, law in LAWS.items()}
    with tempfile.TemporaryDirectory() as scratch:
        peer = None if note else MujocoHuman(model, q, Path(scratch) / "human.xml", TIME_STEP_S)
        yield from _speed_rows(prepared, q, peer, note, quick)
        yield from _single_rows(prepared, q, peer, quick)
        yield from _standing_rows(model, q, peer, note)
        yield from _marker_rows(model, q, Path(scratch), note, quick)
    yield _event_driven_row(model, quick)
    yield from _batch_rows(prepared, q, quick)
    yield from _breakdown_rows(model, q, quick)
    yield from cost_rows(model, q, quick)


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
    # Processor time, summed over threads: seconds of one core, independent of other programs.
    size, steps = 256, 20 if quick else 50
    many = np.tile(q, (size, 1))
    for threads in (1, 2):
        calls: list[Any] = [
            partial(rollouts, many, None, steps * TIME_STEP_S, TIME_STEP_S, threads=threads)
            for rollouts in prepared.values()
        ]
        if peer is not None:
            calls.append(partial(peer.rollout, size, steps, threads))
        times = interleave(*calls, repeat=3 if quick else 7, clock=process_time)
        rates = [size * steps / seconds for seconds in times]
        for name, ours in zip(prepared, rates, strict=False):
            yield BenchmarkRow.from_rates(
                f"{name}, {size} humans at 1 ms, {threads} thread{'s' if threads > 1 else ''}",
                ours,
                None if peer is None else rates[-1],
                unit="steps/s/core",
                required=MIN_SPEEDUP,
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
    note = "" if peer is None else f"MuJoCo: {duration / times[-1]:.0f} times real time"
    for name, seconds in zip(prepared, times, strict=False):
        yield BenchmarkRow.from_rates(
            f"{name}, one human at 1 ms on one core, against real time",
            duration / seconds,
            1.0,
            unit="s/s",
            required=MIN_REAL_TIME_FACTOR,
            note=note,
        )


def _marker_rows(
    model: Model, q: np.ndarray, scratch: Path, note: str, quick: bool
) -> Iterator[BenchmarkRow]:
    """Steps with markers of the model, and in full runs with all those of a larger one."""
    for count in MARKER_COUNTS:
        if model.markers:
            marked = with_more_markers(model, count)
            yield from marker_rows(marked, q, count, scratch / f"{count}.xml", note, quick)
    if not quick:
        larger = catalog.hdm()
        pose = simulate.place_on_ground(larger, larger.neutral())
        missing_peer = "no peer: MJCF cannot express the driven axes of this model"
        unused = scratch / "larger.xml"
        for row in marker_rows(larger, pose, len(larger.markers), unused, missing_peer, quick):
            yield replace(row, name=f"{row.name}, {larger.nv} degrees of freedom")


def _event_driven_row(model: Model, quick: bool) -> BenchmarkRow:
    """A human that falls 2 cm onto its feet and stands, without the time to trace the kernels."""
    q = simulate.place_on_ground(model, model.neutral(), DROP_HEIGHT_M)
    law = simulate.EventDrivenContact()
    short, long = (0.1, 0.3) if quick else (0.2, 1.0)

    def drop(duration: float) -> Any:
        return simulate.run(model, q, duration=duration, dt=EVENT_DRIVEN_INTERVAL_S, contact=law)

    drop(short)
    times = interleave(partial(drop, short), partial(drop, long), repeat=3, clock=process_time)
    return BenchmarkRow.from_rates(
        "rigid, event-driven, one human on one core, against real time",
        (long - short) / max(times[1] - times[0], 1e-9),
        1.0,
        unit="s/s",
        required=MIN_EVENT_DRIVEN_FACTOR,
        note=f"falls {DROP_HEIGHT_M:g} m with springs at its joints; the rate after {short:g} s",
    )


def _standing_rows(
    model: Model, q: np.ndarray, peer: MujocoHuman | None, note: str
) -> Iterator[BenchmarkRow]:
    weight = float(model.mass * np.linalg.norm(model.gravity))
    theirs = None
    if peer is not None:
        theirs = peer.stand(STANDING_DURATION_S, EVALUATED_DURATION_S, weight)
    for name, law in LAWS.items():
        result = _prepare(model, law, ("forces", "distances", "residual"))(
            q, None, STANDING_DURATION_S, TIME_STEP_S
        )
        last = result.time > STANDING_DURATION_S - EVALUATED_DURATION_S
        total = result.records["forces"][0, last].sum(axis=1)
        error = abs(float(np.linalg.norm(total.mean(axis=0))) - weight)
        depth = -float(result.records["distances"][0, last].min())
        residual = result.records["residual"][0]
        unit = "m/s" if name == RIGID else "kg m/s"
        solver = ""
        if name != "soft":
            at_end, overall = residual[last].max(), residual.max()
            solver = f"solver residual {at_end:.1g} at the end, at most {overall:.1g} {unit}"
        yield BenchmarkRow.from_times(
            f"{name}, {FORCE_ERROR}",
            max(100 * error / weight, ERROR_RESOLUTION_PERCENT),
            None if theirs is None else 100 * theirs[0] / weight,
            unit="% of weight",
            required=1.0,
            note=note or solver,
        )
        yield BenchmarkRow.from_times(
            f"{name}, penetration",
            max(depth, DEPTH_RESOLUTION_M),
            None if theirs is None else theirs[1],
            unit="m",
            required=1.0,
            note=note,
        )


def _batch_rows(
    prepared: dict[str, simulate.BatchSimulator], q: np.ndarray, quick: bool
) -> Iterator[BenchmarkRow]:
    before = peak_memory()
    for name, rollouts in prepared.items():
        base = None
        for size in (8, 64, 512) if quick else (8, 64, 512, 4096, 32_768, 100_000):
            many = np.tile(q, (size, 1))
            steps = max(4, min(400, 40_000 // size))
            call = partial(rollouts, many, None, steps * TIME_STEP_S, TIME_STEP_S, threads=1)
            seconds = best_of(call, repeat=3, minimum_time=0.02, clock=process_time)
            cost = seconds / steps / size * 1e6
            base = base or cost
            stored = rollouts(many, None, TIME_STEP_S, TIME_STEP_S).nbytes / size
            yield BenchmarkRow.from_times(
                f"{name}, batch of {size}, against a batch of 8",
                cost,
                base,
                unit="us/step/element",
                required=MIN_BATCH_EFFICIENCY,
                note=f"{1e6 / cost:,.0f} steps/s, {stored:.0f} bytes per element, "
                f"{peak_memory():.0f} MB resident",
            )
    yield BenchmarkRow(
        PEAK_MEMORY,
        peak_memory(),
        None,
        "MB",
        None,
        None,
        f"{before:.0f} MB before the rollouts, with MuJoCo and all kernels loaded",
    )


def peak_memory() -> float:
    """Peak resident memory of this process (MB)."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak / 1e3


def _breakdown_rows(model: Model, q: np.ndarray, quick: bool) -> Iterator[BenchmarkRow]:
    law = LAWS[RIGID]
    assert isinstance(law, simulate.TimeStepping)
    parts = step_parts(model, law, q, TIME_STEP_S, timed=not quick)
    instructions = sum(part.instructions for part in parts)
    seconds = sum(part.seconds or 0.0 for part in parts)
    for part in parts:
        share = part.instructions / instructions
        yield BenchmarkRow(
            f"{RIGID}, share of a step: {part.name}",
            100 * share if part.seconds is None else 100 * part.seconds / seconds,
            None,
            "% of instructions" if part.seconds is None else "% of time",
            None,
            None,
            f"{part.instructions} instructions, {100 * share:.0f} %",
        )
