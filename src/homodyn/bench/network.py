"""Networks: a grid of runners, coupled oscillators and chains of bodies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from time import process_time

import numpy as np

from homodyn import network
from homodyn.bench.harness import BenchmarkRow, benchmark, environment, interleave, missing
from homodyn.bench.network_chains import MujocoLinks, chain_body, chain_network
from homodyn.bench.slip_numpy import steps_to_fall
from homodyn.symbolic import Kernel

TIME_STEP_S = 1e-3
"""Step (s) of all."""
CELLS, UNTIL = 100, 20.0
"""Stiffnesses and angles of the grid of runners, and the longest run (s)."""
OVER_INTERPRETER, OVER_NUMPY = 100.0, 20.0
OSCILLATORS, REAL_TIME = 50, 300.0
SIZES, BRANCHES, CHAIN = (5, 10, 20, 30, 40, 50), (1, 5), 30.0
"""Links, links that hang on each, and time (s) of the chains."""
INTERPRETED_STEPS = 100
"""Steps that the interpreter takes of a chain."""
MAX_DENSE_LINKS = 20
"""Links up to which zeros are also reckoned with: code grows tenfold."""


@benchmark("network")
def network_rows(quick: bool) -> Iterator[BenchmarkRow]:
    """A grid of runners, 50 coupled oscillators, and chains of bodies written in the language."""
    with environment("HOMODYN_THREADS", "1"):
        yield from runner_rows(CELLS // 5 if quick else CELLS, 2 if quick else 4)
        yield from oscillator_rows(OSCILLATORS, 2.0 if quick else 10.0, 3 if quick else 9)
        yield from body_rows(0.5 if quick else 2.0, 3 if quick else 9)
        sizes = SIZES[:1] if quick else SIZES
        for branches in BRANCHES:
            for size in sizes:
                yield from chain_rows(size, branches, 3.0 if quick else CHAIN, 2 if quick else 4)


def grid(cells: int) -> dict[str, np.ndarray]:
    """Stiffnesses (N/m) and angles of attack to the vertical (rad) of the runners."""
    angles = np.radians(90 - np.linspace(40, 80, cells))
    return {"slip.k": np.linspace(0, 50e3, cells), "slip.aoa": angles}


def runner_rows(cells: int, repeat: int, until: float = UNTIL) -> Iterator[BenchmarkRow]:
    """Generated code against the interpreter and against NumPy; seconds of one core."""
    net = network.parse('require "spring_leg.cdn"\nnode "slip" : spring_leg {}')
    whole, few = grid(cells), {name: one[5::10] for name, one in grid(cells).items()}
    stiffness, angle = (one.ravel() for one in np.meshgrid(*whole.values(), indexing="ij"))
    sweep = net.sweep(whole, until, TIME_STEP_S, tier="compiled")
    part = net.sweep(few, until, TIME_STEP_S, tier="interpreted")
    share = float(sweep.time.sum() / part.time.sum())
    written = partial(steps_to_fall, stiffness, angle, until, TIME_STEP_S)
    ours, interpreted, machine, plain, by_hand = interleave(
        partial(net.sweep, whole, until, TIME_STEP_S, tier="compiled"),
        partial(net.sweep, few, until, TIME_STEP_S, tier="interpreted"),
        virtual_machine(net.attempt),
        written,
        partial(written, by_hand=True),
        repeat=repeat,
        clock=process_time,
    )
    stable = int((sweep["slip.steps"] >= 24).sum())
    name = f"{cells**2} runners on a spring leg"
    yield BenchmarkRow.from_times(
        f"{name}, against the interpreter",
        ours,
        interpreted * share,
        unit="s",
        required=OVER_INTERPRETER,
        note=f"{stable} run on; interpreter from {part.time.size} of them",
    )
    yield BenchmarkRow.from_times(
        f"{name}, against the virtual machine without Python",
        ours,
        machine * float(sweep.time.sum()) / TIME_STEP_S,
        unit="s",
        required=OVER_INTERPRETER,
        note="one evaluation for each step, none for events",
    )
    counted = int((written()[0] >= 24).sum())
    yield BenchmarkRow.from_times(
        f"{name}, against NumPy as the model is written",
        ours,
        plain,
        unit="s",
        required=OVER_NUMPY,
        note=f"{counted} run on in NumPy",
    )
    yield BenchmarkRow.from_times(
        f"{name}, against NumPy worked out by hand", ours, by_hand, unit="s", required=None
    )


def virtual_machine(step: Kernel) -> Callable[[], object]:
    """One evaluation of a step by the interpreter, without handing anything over."""
    graph = step.traced.graph
    buffer, evaluate = graph.buffer()
    arrays = [np.zeros(graph.nnz_in(k)) for k in range(graph.n_in())]
    results = [np.zeros(graph.nnz_out(k)) for k in range(graph.n_out())]
    for k, array in enumerate(arrays):
        buffer.set_arg(k, memoryview(array.data))
    for k, array in enumerate(results):
        buffer.set_res(k, memoryview(array.data))

    def evaluated(keep: object = (buffer, arrays, results)) -> None:
        evaluate()

    return evaluated


def coupled_oscillators(count: int) -> network.Network:
    """Hopf oscillators in polar form that all pull at each other's phase, by Euler steps."""
    return network.parse(f'parse "cpg_full.cdn" {{ name = "ring" n = {count} lag = 0.1 }}')


def oscillator_rows(count: int, duration: float, repeat: int) -> Iterator[BenchmarkRow]:
    """One simulation on one core, with all of it recorded, against real time."""
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
        required=REAL_TIME,
        note=f"{1e6 * seconds * TIME_STEP_S / duration:.2f} us/step",
    )


STEPPING = """
require "oscillators.cdn"
require "servos.cdn"
integrator { method = "predictor-corrector" }
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
"""A whole body, held at the pelvis, whose legs two coupled oscillators drive."""


def body_rows(duration: float, repeat: int) -> Iterator[BenchmarkRow]:
    """A body of 34 degrees of freedom among oscillators, one run on one core."""
    net = network.parse(STEPPING)
    dt = TIME_STEP_S / 2
    net.run(10 * dt, dt, tier="compiled")
    (seconds,) = interleave(
        partial(net.run, duration, dt, tier="compiled"), repeat=repeat, clock=process_time
    )
    yield BenchmarkRow.from_rates(
        "34 dof driven by coupled oscillators, two evaluations a step of 0.5 ms, against real time",
        duration / seconds,
        1.0,
        unit="s/s",
        required=None,
        note=f"{1e6 * seconds * dt / duration:.2f} us/step",
    )


def chain_rows(size: int, branches: int, duration: float, repeat: int) -> Iterator[BenchmarkRow]:
    """A tree of links in the language and as a body, against MuJoCo; us a step."""
    note = missing("mujoco")
    steps = round(duration / TIME_STEP_S)
    nets = {
        "in the language": chain_network(size, branches),
        "as a body": chain_body(size, branches),
    }
    if size <= MAX_DENSE_LINKS:
        nets["with its zeros"] = chain_network(size, branches, sparse=False)
    interpreted = partial(
        nets["in the language"].run,
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
    slow, *rest = interleave(*calls, repeat=repeat, clock=process_time)
    times = [1e6 * seconds / steps for seconds in rest]
    ours = dict(zip(nets, times, strict=False))
    peer = None if note else times[-1]
    tree = f"{size} dof, {branches} branch{'es' if branches > 1 else ''}"
    for way in ("in the language", "as a body"):
        yield BenchmarkRow.from_times(
            f"{tree}, {way}, against MuJoCo",
            ours[way],
            peer,
            unit="us/step",
            required=1.0,
            note=note or f"{1e3 / ours[way]:.0f} times real time",
        )
    yield BenchmarkRow.from_times(
        f"{tree}, in the language, against the interpreter",
        ours["in the language"],
        1e6 * slow / INTERPRETED_STEPS,
        unit="us/step",
        required=None,
    )
    if "with its zeros" in ours:
        yield BenchmarkRow.from_times(
            f"{tree}, in the language, against itself with zeros reckoned with",
            ours["in the language"],
            ours["with its zeros"],
            unit="us/step",
            required=None,
        )
