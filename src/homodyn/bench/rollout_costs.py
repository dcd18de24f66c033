"""What controllers and measures add to a rollout, and what Python adds to a step."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from time import process_time
from typing import Any

import casadi as ca
import numpy as np

from homodyn import simulate
from homodyn.bench.harness import BenchmarkRow, best_of, interleave
from homodyn.model import Model
from homodyn.simulate import signals

TIME_STEP_S = 1e-3
"""Time step of all rows (s)."""
BATCH_SIZE = 256
MAX_IMPEDANCE_COST = 1.10
"""Largest cost of a step with variable impedance, relative to constant impedance."""
MAX_MEASURE_COST = 1.05
"""Largest cost of a step with measures, relative to none."""
MAX_STEP_OVERHEAD_US = 10.0
"""Largest time that Python adds to a step of a simulation (us)."""
IMPEDANCE_ROW = "variable impedance against constant"
MEASURES_ROW = "six measures against none"
STEPPING_ROW = "a step from Python, besides its kernel"
CONTACT_LAW = simulate.SoftContact(stiffness=1.5e5, damping=120.0)
STIFFNESS, DAMPING = 800.0, 40.0
"""Servos at every joint (N m/rad, N m s/rad)."""


def cost_rows(model: Model, q: np.ndarray, quick: bool) -> Iterator[BenchmarkRow]:
    """Rows of variable impedance, measures and stepping.

    Args:
        model: The model, standing.
        q: Its pose on the ground.
        quick: Make fewer and shorter runs.

    Yields:
        The rows.
    """
    yield _ratio_row(IMPEDANCE_ROW, *_impedances(model), q, MAX_IMPEDANCE_COST, quick)
    yield _ratio_row(MEASURES_ROW, *_measures(model), q, MAX_MEASURE_COST, quick)
    yield _stepping_row(model, q, quick)


def _ratio_row(
    name: str,
    ours: simulate.BatchSimulator,
    peer: simulate.BatchSimulator,
    q: np.ndarray,
    limit: float,
    quick: bool,
) -> BenchmarkRow:
    """The cost of a step with something, against that without it."""
    many, steps = np.tile(q, (BATCH_SIZE, 1)), 20 if quick else 100
    calls: list[Any] = [
        partial(one.compile(), many, None, steps * TIME_STEP_S, TIME_STEP_S, threads=1)
        for one in (ours, peer)
    ]
    times = interleave(*calls, repeat=3 if quick else 15, clock=process_time)
    with_it, without = (1e6 * seconds / steps / BATCH_SIZE for seconds in times)
    return BenchmarkRow.from_times(
        name,
        with_it,
        without,
        unit="us/step/element",
        required=1 / limit,
        note=f"{100 * (with_it / without - 1):+.1f} % ({ours.instructions} and "
        f"{peer.instructions} instructions)",
    )


def _impedances(model: Model) -> tuple[simulate.BatchSimulator, simulate.BatchSimulator]:
    """Servos whose gains switch with the phase, at each joint for itself, and constant ones."""
    joints = [model.coordinate_names[k] for k in model.actuated]
    numbers: dict[str, float] = {"frequency": 0.9}
    varying: dict[str, Any] = {"phase": signals.PhaseVariable("frequency")}
    for joint in joints:
        numbers |= {f"{joint} begin": 0.2, f"{joint} end": 0.6}
        for what, gain in (("stiffness", STIFFNESS), ("damping", DAMPING)):
            first, second = f"{joint} {what} 1", f"{joint} {what} 2"
            numbers |= {first: gain, second: gain / 2}
            varying[f"{joint} {what}"] = partial(_switched_gain, joint, first, second)
    gains = [{joint: f"{joint} {what}" for joint in joints} for what in ("stiffness", "damping")]
    servo = simulate.PD(gains[0], gains[1], stable=True)
    first_gains = [
        {joint: f"{joint} {what} 1" for joint in joints} for what in ("stiffness", "damping")
    ]
    constant = simulate.PD(first_gains[0], first_gains[1], stable=True)
    options = simulate.SimulationOptions(batch_parameters=numbers)
    return (
        simulate.BatchSimulator(
            model, contact=CONTACT_LAW, actuation=servo, options=options, signals=varying
        ),
        simulate.BatchSimulator(model, contact=CONTACT_LAW, actuation=constant, options=options),
    )


def _switched_gain(joint: str, first: str, second: str, t: Any, q: Any, v: Any, batch: Any) -> Any:
    inside = ca.logic_and(
        batch["phase"] > batch[f"{joint} begin"], batch["phase"] < batch[f"{joint} end"]
    )
    return ca.if_else(inside, batch[first], batch[second])


def _measures(model: Model) -> tuple[simulate.BatchSimulator, simulate.BatchSimulator]:
    """Servos with the measures of a gait study, and without."""
    measures = {
        "work": simulate.Integral(lambda step: ca.sum1(step.power)),
        "positive work": simulate.Integral(lambda step: ca.sum1(ca.fmax(step.power, 0.0))),
        "effort": simulate.Integral(lambda step: ca.sum1(ca.fabs(step.torque)), start=0.01),
        "speed": simulate.Mean(lambda step: step.v[0], start=0.01),
        "lowest": simulate.Minimum(lambda step: step.q[0]),
        "steps": simulate.Count(lambda step: step.total_force[2] > 400.0),
    }
    servo = simulate.PD(STIFFNESS, DAMPING, stable=True)
    plain = simulate.SimulationOptions()
    return (
        simulate.BatchSimulator(
            model, contact=CONTACT_LAW, actuation=servo, options=plain, measures=measures
        ),
        simulate.BatchSimulator(model, contact=CONTACT_LAW, actuation=servo, options=plain),
    )


def _stepping_row(model: Model, q: np.ndarray, quick: bool) -> BenchmarkRow:
    """Time of a step from Python with new torques, less that of its kernel."""
    simulation = simulate.start(model, q, dt=TIME_STEP_S, contact=CONTACT_LAW)
    torques, steps = np.zeros(model.nv), 200 if quick else 2000
    state = simulation.save()

    def one_by_one() -> None:
        simulation.restore(state)
        for _ in range(steps):
            simulation.step(torques)

    def at_once() -> None:
        simulation.restore(state)
        simulation.step(steps=steps)

    singly, together = (
        best_of(call, repeat=5 if quick else 15, clock=process_time)
        for call in (one_by_one, at_once)
    )
    overhead = 1e6 * (singly - together) / steps
    return BenchmarkRow.from_times(
        STEPPING_ROW,
        max(overhead, 0.1),
        MAX_STEP_OVERHEAD_US,
        unit="us/step",
        required=1.0,
        note=f"{1e6 * singly / steps:.1f} us a step with new torques",
    )
