"""Thousands of simulated humans on their feet, against MuJoCo's own rollouts."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from homodyn import catalog, simulate
from homodyn.bench.harness import Row, benchmark, best_of, interleave, missing
from homodyn.model import Model, save

DT = 1e-3
"""Step (s) of both."""
STIFFNESS, DAMPING = 800.0, 40.0
"""Springs and dampers that hold every joint (N m/rad, N m s/rad)."""
SETTLED = 0.6
"""Time (s) until forces are looked at."""
SOFT = simulate.Soft(stiffness=1.5e5, damping=120.0)
IMPLICIT = simulate.ImplicitSprings(stiffness=2e5, damping=2e3, iterations=1)


def standing_human() -> tuple[Model, np.ndarray]:
    """HeiMan with sprung joints, just on the ground."""
    model = catalog.heiman(height=1.75, mass=75)
    joints = model.coordinate_names[6:]
    model = model.with_numbers(
        {f"{name}.stiffness": STIFFNESS for name in joints}
        | {f"{name}.damping": DAMPING for name in joints}
    )
    return model, simulate.grounded(model, model.neutral())


@benchmark("simulate")
def simulate_rows(quick: bool) -> Iterator[Row]:
    """Humans that stand on their feet: steps a second, forces, penetration, lanes."""
    model, q = standing_human()
    laws = {"soft": SOFT, "implicit springs": IMPLICIT}
    prepared = {
        name: simulate.Rollouts(model, contact=law, limits=simulate.JointLimits()).compile()
        for name, law in laws.items()
    }
    note = missing("mujoco")
    with tempfile.TemporaryDirectory() as scratch:
        peer = None if note else _Mujoco(model, q, Path(scratch) / "human.xml")
        yield from _speed_rows(prepared, q, peer, note, quick)
        yield from _settled_rows(model, q, laws, peer, note)
    yield from _lane_rows(prepared["soft"], q, quick)


def _speed_rows(
    prepared: dict[str, simulate.Rollouts],
    q: np.ndarray,
    peer: _Mujoco | None,
    note: str,
    quick: bool,
) -> Iterator[Row]:
    # Time of the processor, summed over threads: seconds of one core, whoever else is at work.
    lanes, steps = 256, 20 if quick else 50
    many = np.tile(q, (lanes, 1))
    repeat = 3 if quick else 7
    for threads in (1, 2):
        for name, rollouts in prepared.items():
            ours = partial(rollouts, many, None, steps * DT, DT, threads=threads)
            if peer is None:
                mine, theirs = best_of(ours, repeat=repeat, clock=process_time), None
            else:
                mine, theirs = interleave(
                    ours,
                    partial(peer.rollout, lanes, steps, threads),
                    repeat=repeat,
                    clock=process_time,
                )
            done = lanes * steps
            yield Row.from_rates(
                f"{name}, {lanes} humans at 1 ms, {threads} thread{'s' if threads > 1 else ''}",
                done / mine,
                None if theirs is None else done / theirs,
                unit="steps/s/core",
                required=10.0 if peer is not None and name == "soft" else None,
                note=note,
            )
    for name, rollouts in prepared.items():
        one = best_of(
            partial(rollouts, q, None, 1.0, DT, threads=1), repeat=repeat, clock=process_time
        )
        yield Row.from_rates(
            f"{name}, one human at 1 ms on one core, against real time",
            1.0 / one,
            1.0,
            unit="s/s",
            required=100.0 if name == "soft" else None,
        )


def _settled_rows(
    model: Model, q: np.ndarray, laws: dict[str, Any], peer: _Mujoco | None, note: str
) -> Iterator[Row]:
    weight = model.mass * 9.81
    theirs = None if peer is None else peer.settled(weight)
    for name, law in laws.items():
        run = simulate.run(model, q, None, SETTLED, DT, contact=law, record=DT)
        last = run.time > SETTLED - 0.1
        error = abs(run.total_force[last, 2].mean() - weight)
        depth = -run.distances[last].min()
        for what, ours, value, unit in (
            ("error of the settled force", error, theirs and theirs[0], "N"),
            ("penetration", 1e3 * depth, theirs and 1e3 * theirs[1], "mm"),
        ):
            yield Row.from_times(
                f"{name}, {what}",
                ours,
                value,
                unit=unit,
                required=1.0 if peer is not None and name == "soft" else None,
                note=note,
            )


def _lane_rows(rollouts: simulate.Rollouts, q: np.ndarray, quick: bool) -> Iterator[Row]:
    base = None
    for lanes in (8, 100, 1000, 10_000) if quick else (8, 100, 1000, 10_000, 100_000):
        many = np.tile(q, (lanes, 1))
        steps = max(4, min(400, 40_000 // lanes))
        call = partial(rollouts, many, None, steps * DT, DT, threads=1)
        seconds = best_of(call, repeat=2, minimum_time=0.02, clock=process_time)
        cost = seconds / steps / lanes * 1e6
        base = base or cost
        kept = rollouts(many, None, DT, DT).nbytes / lanes
        yield Row.from_times(
            f"soft, {lanes} lanes against 8",
            cost,
            base,
            unit="us/step/lane",
            required=0.7,
            note=f"{kept:.0f} bytes a lane kept",
        )


class _Mujoco:
    """The same human in MuJoCo: same joints, springs, limits, contact points and step."""

    def __init__(self, model: Model, q: np.ndarray, path: Path) -> None:
        import mujoco
        from mujoco import rollout

        save(model, path)
        self._mujoco = mujoco
        self.model = mujoco.MjModel.from_xml_path(str(path))
        self.model.opt.timestep = DT
        self.data = mujoco.MjData(self.model)
        self.data.qpos[:] = q
        kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
        self.state = np.zeros(mujoco.mj_stateSize(self.model, kind))
        mujoco.mj_getState(self.model, self.data, self.state, kind)
        self._datas = [mujoco.MjData(self.model) for _ in range(2)]
        self._rollout = {threads: rollout.Rollout(nthread=threads) for threads in (1, 2)}

    def rollout(self, lanes: int, steps: int, threads: int) -> None:
        """As many steps of as many lanes, by MuJoCo's own loop."""
        states = np.tile(self.state, (lanes, 1))
        datas = self._datas[:threads]
        self._rollout[threads].rollout([self.model] * lanes, datas, states, nstep=steps)

    def settled(self, weight: float) -> tuple[float, float]:
        """Error of the mean contact force (N) and largest penetration (m) once it stands."""
        mujoco = self._mujoco
        mujoco.mj_setState(self.model, self.data, self.state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        forces, depth = [], 0.0
        wrench = np.zeros(6)
        for step in range(round(SETTLED / DT)):
            mujoco.mj_step(self.model, self.data)
            if step * DT > SETTLED - 0.1:
                total = 0.0
                for k in range(self.data.ncon):
                    mujoco.mj_contactForce(self.model, self.data, k, wrench)
                    total += wrench[0]
                    depth = max(depth, -float(self.data.contact[k].dist))
                forces.append(total)
        return abs(float(np.mean(forces)) - weight), depth
