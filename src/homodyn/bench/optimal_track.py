"""A recorded walk tracked by torques under its measured ground forces, against OpenSim Moco.

Both get the same ``.osim`` model without muscles, a motor on each coordinate (those of the pelvis
too), the forces of both plates on the feet, the same mesh, weights, bounds and guess: recorded
coordinates and the torques of inverse dynamics. Each answer is then judged by one quadrature: its
coordinates and torques over the span, whatever its transcription says of itself.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from scipy.interpolate import CubicHermiteSpline, CubicSpline, interp1d

import homodyn.optimal as oc
from homodyn.bench import opensim_track_peer
from homodyn.bench.harness import BenchmarkRow, missing
from homodyn.bench.models import data_folder
from homodyn.capture import (
    filter_motion,
    inverse_dynamics,
    motion_from_table,
    read_plates,
    read_table,
)
from homodyn.capture.world_frame import world_axes
from homodyn.model import load
from homodyn.motion import (
    ForcePlate,
    Loads,
    Motion,
)

PLACE = "gait10dof"
SPAN = (0.5, 1.625)
"""s: a stride of the walk; Moco refuses spans whose ends are rounded off on its mesh."""
EFFORT_WEIGHT = 1e-3
"""Weight of squared torques in parts of ``TORQUE_SCALE``, beside squared errors of coordinates."""
TORQUE_SCALE = 100.0
"""N m, N."""
MAX_SCALED_TORQUE = 50.0
"""Torques are at most this many times ``TORQUE_SCALE``."""
SOLVER_TOLERANCE = 1e-5
"""Of both solvers; with a larger one Moco ends with an objective a fifth above the best."""
RUNS = (("collocation", "hermite-simpson", 50), ("midpoint", "trapezoidal", 100))
"""Transcription of ours, that of Moco beside it, and intervals of both: higher order, and second
order, which on half the mesh does not follow the light feet between its nodes."""
QUICK_CASES = (("collocation", "hermite-simpson", 30),)
MOCO_TIMEOUT_S = 600
"""s that Moco may take for one answer."""
MIN_SPEEDUP = 20.0
QUADRATURE_POINTS = 4001
"""Instants of the quadrature that judges both."""
SETUP, FORCES = "walk_grf.xml", "walk_grf.mot"


@dataclass(frozen=True, eq=False)
class TrackingAnswer:
    """What a solver found, and how long it took."""

    seconds: float
    processor: float
    """Seconds of processors that it took, which a busy machine does not stretch."""
    iterations: int
    success: bool
    own: float
    """Its objective, by its own sum."""
    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    tau_time: np.ndarray
    tau: np.ndarray
    held: bool = False
    """Whether torques are constant around their instants, and not linear between them."""

    def objective(self, walk: TrackedWalk) -> float:
        """Squared errors of coordinates and weighted squared torques, over the span."""
        fine = np.linspace(*SPAN, QUADRATURE_POINTS)
        q = CubicHermiteSpline(self.time, self.q, self.v)(fine)
        off = q - CubicSpline(walk.motion.time, walk.motion.q)(fine)
        kind = "nearest" if self.held else "linear"
        ends = (self.tau[0], self.tau[-1])
        tau = interp1d(self.tau_time, self.tau, kind, 0, bounds_error=False, fill_value=ends)(fine)
        density = (off**2).sum(axis=1) + EFFORT_WEIGHT * ((tau / TORQUE_SCALE) ** 2).sum(axis=1)
        return float(np.trapezoid(density, fine))


@dataclass(frozen=True, eq=False)
class TrackedWalk:
    """The recorded walk, filtered, with what plates measured."""

    motion: Motion
    known: Loads
    plates: tuple[ForcePlate, ...]
    """In the axes of the model."""
    folder: Path


def track_rows(quick: bool) -> Iterator[BenchmarkRow]:
    """Time and objective of each transcription, ours and Moco's."""
    folder = data_folder() / PLACE
    if not folder.is_dir():
        told = f"{folder} is not there; HOMODYN_DATA names the folder of recordings"
        yield BenchmarkRow("tracking of a walk", None, None, "s", None, None, told)
        return
    note = missing("opensim")
    walk = read_walk(folder)
    for ours, theirs, intervals in QUICK_CASES if quick else RUNS:
        mine = _best_answer(tracking_problem(walk, intervals), ours, 2 if quick else 3)
        peer = None if note else moco(walk, theirs, intervals)
        yield from _rows(walk, f"{intervals} intervals, {ours}", theirs, mine, peer, note)


def read_walk(folder: Path) -> TrackedWalk:
    """The walk with its coordinates filtered at 6 Hz, and the plates as they are."""
    model = load(folder / "subject01.osim", as_measured=True)
    motion = filter_motion(motion_from_table(model, read_table(folder / "ref_ik.mot")), cutoff=6.0)
    plates = tuple(read_plates(folder / FORCES, setup=folder / SETUP, up="y"))
    back = world_axes(model).T
    turned = tuple(plate.rotate(back) for plate in plates)
    return TrackedWalk(motion, inverse_dynamics(motion, plates, cutoff=None), turned, folder)


def tracking_problem(walk: TrackedWalk, intervals: int) -> oc.Problem:
    """Stay near the recorded coordinates with little torque, under the measured forces."""
    motion = walk.motion
    curves = {key: _over(motion.time, getattr(motion, key)) for key in ("q", "v", "a")}
    tau = np.asarray(walk.known.tau)
    phase = oc.Phase(
        "stride",
        SPAN[1] - SPAN[0],
        terms=[
            oc.track_coordinates(curves["q"]),
            EFFORT_WEIGHT * oc.torque(1 / TORQUE_SCALE**2),
        ],
        intervals=intervals,
        bounds={
            "tau": (-MAX_SCALED_TORQUE * TORQUE_SCALE, MAX_SCALED_TORQUE * TORQUE_SCALE),
            "v": (-50.0, 50.0),
        },
        guess={**curves, "tau": _over(motion.time, tau)},
        external_loads=[_load(plate) for plate in walk.plates],
    )
    return oc.Problem(motion.model, [phase], actuated=motion.model.coordinate_names)


def _over(time: np.ndarray, values: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """A curve as a function of the part of the span."""
    curve = CubicSpline(time, values)
    return lambda part: curve(SPAN[0] + (SPAN[1] - SPAN[0]) * part)


def _load(plate: ForcePlate) -> oc.ExternalLoad:
    wrench = oc.wrench_of_force(plate.force, plate.point, plate.torque)

    def at(part: np.ndarray) -> np.ndarray:
        time = SPAN[0] + (SPAN[1] - SPAN[0]) * part
        return np.column_stack([np.interp(time, plate.time, column) for column in wrench.T])

    return oc.ExternalLoad(plate.body, at)


def _best_answer(problem: oc.Problem, transcription: str, rounds: int) -> TrackingAnswer:
    """The fastest of some rounds, building and re-checking between nodes included."""
    best: TrackingAnswer | None = None
    for _ in range(rounds):
        start, used = perf_counter(), process_time()
        solution = problem.solve(transcription, tolerance=SOLVER_TOLERANCE)
        seconds, processor = perf_counter() - start, process_time() - used
        if best is None or seconds < best.seconds:
            phase = solution.phases[0]
            best = TrackingAnswer(
                seconds,
                processor,
                solution.iterations,
                solution.status.success,
                solution.objective,
                SPAN[0] + phase.time,
                phase.q,
                phase.v,
                SPAN[0] + phase.control_time,
                phase.tau,
                held=transcription == "midpoint",
            )
    assert best is not None
    return best


def moco(walk: TrackedWalk, scheme: str, intervals: int) -> TrackingAnswer:
    """The same by Moco, which times itself in a process of its own."""
    names = walk.motion.model.coordinate_names
    motion = walk.motion
    parts = np.linspace(0.0, 1.0, 2 * intervals + 1)
    curves = {"q": motion.q, "v": motion.v, "tau": np.asarray(walk.known.tau)}
    guess = {
        key: _by_name(names, _over(motion.time, values)(parts)) for key, values in curves.items()
    }
    told = {
        "span": SPAN,
        "intervals": intervals,
        "scheme": scheme,
        "effort": EFFORT_WEIGHT,
        "strength": TORQUE_SCALE,
        "most": MAX_SCALED_TORQUE,
        "tolerance": SOLVER_TOLERANCE,
        "threads": os.cpu_count(),
        "time": motion.time.tolist(),
        "q": _by_name(names, motion.q),
        "guess": {"time": np.linspace(*SPAN, len(parts)).tolist(), **guess},
    }
    setup = (walk.folder / SETUP).read_text()
    data = str((walk.folder / FORCES).resolve())
    with tempfile.TemporaryDirectory() as scratch:
        forces, problem = Path(scratch) / "loads.xml", Path(scratch) / "problem.json"
        forces.write_text(re.sub("<datafile>.*</datafile>", f"<datafile>{data}</datafile>", setup))
        problem.write_text(json.dumps(told))
        model = (walk.folder / "subject01.osim").resolve()
        command = [sys.executable, "-I", opensim_track_peer.__file__]
        answer = subprocess.run(
            [*command, *map(str, (model, forces, problem))],
            cwd=scratch,
            check=True,
            capture_output=True,
            text=True,
            timeout=MOCO_TIMEOUT_S,
        )
    found = json.loads(answer.stdout.splitlines()[-1])
    time = np.array(found["time"])
    columns = {key: np.column_stack([found[key][n] for n in names]) for key in ("q", "v", "tau")}
    return TrackingAnswer(
        found["seconds"],
        found["processor"],
        found["iterations"],
        found["success"],
        found["objective"],
        time,
        columns["q"],
        columns["v"],
        time,
        columns["tau"],
    )


def _by_name(names: tuple[str, ...], values: np.ndarray) -> dict[str, list[float]]:
    return {name: column.tolist() for name, column in zip(names, values.T, strict=True)}


def _rows(
    walk: TrackedWalk,
    ours: str,
    theirs: str,
    mine: TrackingAnswer,
    peer: TrackingAnswer | None,
    note: str,
) -> Iterator[BenchmarkRow]:
    what = f"tracking of a walk, 10 dof, {ours}"
    if peer is not None:
        note = (
            f"Moco {theirs}: {peer.iterations} iterations, its own objective {peer.own:.6g}"
            f"{'' if peer.success else ', it did not succeed'}; ours {mine.iterations}, "
            f"{mine.own:.6g}; processors {mine.processor:.2f} and {peer.processor:.1f} s"
        )
    if not mine.success:
        note += "; ours is not an answer"
    yield BenchmarkRow.from_times(
        what,
        mine.seconds,
        peer.seconds if peer else None,
        unit="s",
        required=MIN_SPEEDUP,
        note=note,
    )
    yield BenchmarkRow.from_times(
        f"{what}: objective by one quadrature",
        mine.objective(walk),
        peer.objective(walk) if peer else None,
        unit="rad2 s",
        required=1.0,
    )
