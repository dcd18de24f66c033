"""Networks: a sweep of runners, coupled oscillators, and chains of rigid bodies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from time import process_time

import numpy as np

from homodyn import network
from homodyn.bench.harness import BenchmarkRow, benchmark, environment, interleave, missing
from homodyn.bench.network_chains import MujocoLinks, chain_body, chain_network
from homodyn.bench.slip_numpy import steps_to_fall
from homodyn.foundation import count_of
from homodyn.symbolic import Kernel

TIME_STEP_S = 1e-3
"""Time step of all runs (s)."""
GRID_SIZE = 100
"""Stiffnesses, and angles of attack, of the sweep of runners."""
RUNNER_DURATION_S = 20.0
"""Longest run of a runner (s)."""
MIN_INTERPRETER_SPEEDUP = 100.0
MIN_NUMPY_SPEEDUP = 20.0
OSCILLATOR_COUNT = 50
MIN_REAL_TIME_FACTOR = 300.0
"""Required simulated time over elapsed time of the oscillators."""
LINK_COUNTS = (5, 10, 20, 30, 40, 50)
BRANCH_COUNTS = (1, 5)
"""Children per link."""
CHAIN_DURATION_S = 30.0
INTERPRETED_STEPS = 100
"""Steps of a chain that the interpreter is timed on."""
MAX_DENSE_LINKS = 20
"""Links up to which dense matrices are measured; their code is ten times longer."""
LANGUAGE, BODY, DENSE = "network language", "body node", "dense matrices"
"""Forms of a chain."""


@benchmark("network")
def network_rows(quick: bool) -> Iterator[BenchmarkRow]:
    """A sweep of 10 000 runners, 50 coupled oscillators, and chains of rigid bodies."""
    with environment("HOMODYN_THREADS", "1"):
        yield from runner_rows(GRID_SIZE // 5 if quick else GRID_SIZE, 2 if quick else 4)
        yield from oscillator_rows(OSCILLATOR_COUNT, 2.0 if quick else 10.0, 3 if quick else 9)
        yield from body_rows(0.5 if quick else 2.0, 3 if quick else 9)
        duration = 3.0 if quick else CHAIN_DURATION_S
        for branches in BRANCH_COUNTS:
            for size in LINK_COUNTS[:1] if quick else LINK_COUNTS:
                yield from chain_rows(size, branches, duration, 2 if quick else 4)


def grid(cells: int) -> dict[str, np.ndarray]:
    """Parameters of the sweep of runners.

    Args:
        cells: Number of stiffnesses and of angles.

    Returns:
        Stiffnesses (N/m) and angles of attack to the vertical (rad), by name.
    """
    angles = np.radians(90 - np.linspace(40, 80, cells))
    return {"slip.k": np.linspace(0, 50e3, cells), "slip.aoa": angles}


def runner_rows(
    cells: int, repeat: int, until: float = RUNNER_DURATION_S
) -> Iterator[BenchmarkRow]:
    """Rows of the sweep of runners: native code against the interpreter and NumPy, on one core."""
    net = network.parse('require "spring_leg.cdn"\nnode "slip" : spring_leg {}')
    axes = grid(cells)
    subset = {name: axis[5::10] for name, axis in axes.items()}
    stiffness, angle = (part.ravel() for part in np.meshgrid(*axes.values(), indexing="ij"))
    sweep = net.sweep(axes, until, TIME_STEP_S, tier="compiled")
    sample = net.sweep(subset, until, TIME_STEP_S, tier="interpreted")
    scale = float(sweep.time.sum() / sample.time.sum())
    numpy_runners = partial(steps_to_fall, stiffness, angle, until, TIME_STEP_S)
    ours, interpreted, machine, direct, optimized = interleave(
        partial(net.sweep, axes, until, TIME_STEP_S, tier="compiled"),
        partial(net.sweep, subset, until, TIME_STEP_S, tier="interpreted"),
        virtual_machine(net.attempt),
        numpy_runners,
        partial(numpy_runners, optimized=True),
        repeat=repeat,
        clock=process_time,
    )
    stable = int((sweep["slip.steps"] >= 24).sum())
    name = f"{cells**2} runners on a spring leg"
    yield BenchmarkRow.from_times(
        f"{name}, against the interpreter",
        ours,
        interpreted * scale,
        unit="s",
        required=MIN_INTERPRETER_SPEEDUP,
        note=f"{stable} runners do not fall; interpreter timed on {sample.time.size} runners",
    )
    yield BenchmarkRow.from_times(
        f"{name}, against the virtual machine without Python",
        ours,
        machine * float(sweep.time.sum()) / TIME_STEP_S,
        unit="s",
        required=MIN_INTERPRETER_SPEEDUP,
        note="one evaluation per step, none for events",
    )
    stable = int((numpy_runners()[0] >= 24).sum())
    yield BenchmarkRow.from_times(
        f"{name}, against NumPy with the formulas of the model",
        ours,
        direct,
        unit="s",
        required=MIN_NUMPY_SPEEDUP,
        note=f"{stable} runners do not fall in NumPy",
    )
    yield BenchmarkRow.from_times(
        f"{name}, against hand-optimized NumPy", ours, optimized, unit="s", required=None
    )


def virtual_machine(step: Kernel) -> Callable[[], object]:
    """A function that evaluates a step on the virtual machine, without passing data.

    Args:
        step: Kernel of a step.

    Returns:
        The function.
    """
    graph = step.traced.graph
    buffer, evaluate = graph.buffer()
    arrays = [np.zeros(graph.nnz_in(k)) for k in range(graph.n_in())]
    results = [np.zeros(graph.nnz_out(k)) for k in range(graph.n_out())]
    for k, array in enumerate(arrays):
        buffer.set_arg(k, memoryview(array.data))
    for k, array in enumerate(results):
        buffer.set_res(k, memoryview(array.data))

    def call(references: object = (buffer, arrays, results)) -> None:
        evaluate()

    return call


def coupled_oscillators(count: int) -> network.Network:
    """Fully coupled Hopf oscillators in polar form, integrated by Euler steps."""
    return network.parse(f'parse "cpg_full.cdn" {{ name = "ring" n = {count} lag = 0.1 }}')


def oscillator_rows(count: int, duration: float, repeat: int) -> Iterator[BenchmarkRow]:
    """Row of one recorded run on one core, against real time."""
    net = coupled_oscillators(count)
    net.run(duration, TIME_STEP_S, tier="compiled")
    (seconds,) = interleave(
        partial(net.run, duration, TIME_STEP_S, tier="compiled"), repeat=repeat, clock=process_time
    )
    yield BenchmarkRow.from_rates(
        f"{count} fully coupled oscillators, Euler at 1 ms, against real time",
        duration / seconds,
        1.0,
        unit="s/s",
        required=MIN_REAL_TIME_FACTOR,
        note=f"{1e6 * seconds * TIME_STEP_S / duration:.2f} us/step",
    )


STEPPING = """
require "oscillators.cdn"
require "servos.cdn"
integrator { method = "heun" }
body "human" from "catalog:heiman" {}
node "{Right,Left}" : polar_hopf { p = [0, 2] }
<bidirectional> edge from "Right" to "Left" : polar_coupling { bias = "pi" weight = 6 }
edge from "{Right,Left}" to "human" | children | "Hip@1_RY" : servo { kp = 300 kd = 15 }
edge from "{Right,Left}" to "human" | children | "Knee@1_RY" : servo { kp = 200 kd = 8 }
node "rest" {}
edge from "rest" to "human" | children | "Pelvis_T{X,Y,Z}" : hold { kp = 20000 kd = 1500 }
edge from "rest" to "human" | children | "Pelvis_R{X,Y,Z}" : hold { kp = 2000 kd = 100 }
edge from "rest" to "human" | children | "{Lumbar,Hip{Right,Left}}_R{X,Z}" : hold { kp = 150 }
edge from "rest" to "human" | children | "Lumbar_RY" : hold { kp = 300 kd = 20 }
edge from "rest" to "human" | children | /(Ankle|Shoulder|Elbow|Neck).*/ : hold { kp = 20 kd = 0.3 }
"""
"""A whole body, fixed at the pelvis, with legs driven by two coupled oscillators."""


def body_rows(duration: float, repeat: int) -> Iterator[BenchmarkRow]:
    """Row of a 34-dof body with oscillators, one run on one core."""
    net = network.parse(STEPPING)
    dt = TIME_STEP_S / 2
    net.run(10 * dt, dt, tier="compiled")
    (seconds,) = interleave(
        partial(net.run, duration, dt, tier="compiled"), repeat=repeat, clock=process_time
    )
    yield BenchmarkRow.from_rates(
        "34-dof body driven by oscillators, Heun at 0.5 ms, against real time",
        duration / seconds,
        1.0,
        unit="s/s",
        required=None,
        note=f"{1e6 * seconds * dt / duration:.2f} us/step",
    )


def chain_rows(size: int, branches: int, duration: float, repeat: int) -> Iterator[BenchmarkRow]:
    """Rows of a tree of links in two forms, against MuJoCo; microseconds per step."""
    note = missing("mujoco")
    steps = round(duration / TIME_STEP_S)
    nets = {
        LANGUAGE: chain_network(size, branches),
        BODY: chain_body(size, branches),
    }
    if size <= MAX_DENSE_LINKS:
        nets[DENSE] = chain_network(size, branches, sparse=False)
    interpreted = partial(
        nets[LANGUAGE].run,
        INTERPRETED_STEPS * TIME_STEP_S,
        TIME_STEP_S,
        tier="interpreted",
    )
    calls: list[Callable[[], object]] = [interpreted]
    for net in nets.values():
        net.run(10 * TIME_STEP_S, TIME_STEP_S, tier="compiled")
        calls.append(partial(net.run, duration, TIME_STEP_S, tier="compiled"))
    if not note:
        calls.append(partial(MujocoLinks(size, branches, TIME_STEP_S).run, steps))
    interpreter, *rest = interleave(*calls, repeat=repeat, clock=process_time)
    times = [1e6 * seconds / steps for seconds in rest]
    ours = dict(zip(nets, times, strict=False))
    peer = None if note else times[-1]
    tree = f"{size} links, {count_of(branches, 'branch', 'branches')}"
    for form in (LANGUAGE, BODY):
        yield BenchmarkRow.from_times(
            f"{tree}, {form}, against MuJoCo",
            ours[form],
            peer,
            unit="us/step",
            required=1.0,
            note=note or f"{1e3 / ours[form]:.0f} times real time",
        )
    yield BenchmarkRow.from_times(
        f"{tree}, {LANGUAGE}, against the interpreter",
        ours[LANGUAGE],
        1e6 * interpreter / INTERPRETED_STEPS,
        unit="us/step",
        required=None,
    )
    if DENSE in ours:
        yield BenchmarkRow.from_times(
            f"{tree}, {LANGUAGE}, against {DENSE}",
            ours[LANGUAGE],
            ours[DENSE],
            unit="us/step",
            required=None,
        )
