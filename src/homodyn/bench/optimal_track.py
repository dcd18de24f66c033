"""Torque-driven tracking of a recorded walk under measured ground forces, against OpenSim Moco.

Both programs solve the same problem: an ``.osim`` model without muscles, a motor on each coordinate
including the pelvis, the forces of both plates on the feet, the same mesh, weights, bounds and
initial guess (recorded coordinates and torques of inverse dynamics). The objective of each solution
is then computed by the same quadrature, independent of the transcription.
"""

from __future__ import annotations

import json
import os
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
from homodyn.bench.opensim_process import (
    data_folder,
    missing_data_row,
    run_opensim_script,
    write_force_setup,
)
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

DATA_SET = "gait10dof"
SPAN = (0.5, 1.625)
"""A stride of the walk (s); Moco refuses spans whose ends are rounded on its mesh."""
EFFORT_WEIGHT = 1e-3
"""Weight of squared scaled torques, relative to squared errors of coordinates."""
TORQUE_SCALE = 100.0
"""Torque or force per unit of control (N m, N)."""
MAX_SCALED_TORQUE = 50.0
"""Limit of torques, in units of ``TORQUE_SCALE``."""
SOLVER_TOLERANCE = 1e-5
"""Tolerance of both solvers; with a larger one the objective of Moco is 20 % above the best."""
RUNS = (("collocation", "hermite-simpson", 50), ("midpoint", "trapezoidal", 100))
"""Transcription of Homodyn, that of Moco, and intervals of both. The second-order methods need the
finer mesh for the motion of the feet between nodes."""
QUICK_CASES = (("collocation", "hermite-simpson", 30),)
MOCO_TIMEOUT_S = 600
"""Time limit of Moco for one solution (s)."""
MIN_SPEEDUP = 20.0
QUADRATURE_POINTS = 4001
"""Points of the quadrature of the objective."""
SETUP, FORCES = "walk_grf.xml", "walk_grf.mot"


@dataclass(frozen=True, eq=False)
class TrackingSolution:
    """The solution of a solver, and its times."""

    seconds: float
    """Elapsed time (s)."""
    processor: float
    """Processor time (s)."""
    iterations: int
    success: bool
    own: float
    """Objective as the solver computes it."""
    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    tau_time: np.ndarray
    tau: np.ndarray
    zero_order_hold: bool = False
    """Whether torques are piecewise constant instead of piecewise linear."""

    def objective(self, walk: TrackedWalk) -> float:
        """Integral of squared errors of coordinates and weighted squared torques.

        Args:
            walk: The recorded walk.

        Returns:
            The objective (rad2 s).
        """
        fine = np.linspace(*SPAN, QUADRATURE_POINTS)
        q = CubicHermiteSpline(self.time, self.q, self.v)(fine)
        error = q - CubicSpline(walk.motion.time, walk.motion.q)(fine)
        kind = "nearest" if self.zero_order_hold else "linear"
        ends = (self.tau[0], self.tau[-1])
        tau = interp1d(self.tau_time, self.tau, kind, 0, bounds_error=False, fill_value=ends)(fine)
        density = (error**2).sum(axis=1) + EFFORT_WEIGHT * ((tau / TORQUE_SCALE) ** 2).sum(axis=1)
        return float(np.trapezoid(density, fine))


@dataclass(frozen=True, eq=False)
class TrackedWalk:
    """The recorded walk: filtered motion, loads and plates."""

    motion: Motion
    known: Loads
    plates: tuple[ForcePlate, ...]
    """Force plates in the axes of the model."""
    folder: Path


def track_rows(quick: bool) -> Iterator[BenchmarkRow]:
    """Rows of time and objective of each transcription.

    Args:
        quick: Use a coarser mesh and fewer rounds.

    Yields:
        The rows.
    """
    folder = data_folder() / DATA_SET
    if not folder.is_dir():
        yield missing_data_row("tracking a walk", "s", folder)
        return
    note = missing("opensim")
    walk = read_walk(folder)
    for ours, theirs, intervals in QUICK_CASES if quick else RUNS:
        solution = _best_solution(tracking_problem(walk, intervals), ours, 2 if quick else 3)
        peer = None if note else moco(walk, theirs, intervals)
        yield from _rows(walk, f"{intervals} intervals, {ours}", theirs, solution, peer, note)


def read_walk(folder: Path) -> TrackedWalk:
    """Read the walk; its coordinates are filtered at 6 Hz, its plates are not."""
    model = load(folder / "subject01.osim", as_measured=True)
    motion = filter_motion(motion_from_table(model, read_table(folder / "ref_ik.mot")), cutoff=6.0)
    plates = tuple(read_plates(folder / FORCES, setup=folder / SETUP, up="y"))
    to_model = world_axes(model).T
    rotated = tuple(plate.rotate(to_model) for plate in plates)
    return TrackedWalk(motion, inverse_dynamics(motion, plates, cutoff=None), rotated, folder)


def tracking_problem(walk: TrackedWalk, intervals: int) -> oc.Problem:
    """The tracking problem: recorded coordinates, small torques, measured ground forces."""
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
    """A curve as a function of the fraction of the span."""
    curve = CubicSpline(time, values)
    return lambda part: curve(SPAN[0] + (SPAN[1] - SPAN[0]) * part)


def _load(plate: ForcePlate) -> oc.ExternalLoad:
    wrench = oc.wrench_of_force(plate.force, plate.point, plate.torque)

    def at(part: np.ndarray) -> np.ndarray:
        time = SPAN[0] + (SPAN[1] - SPAN[0]) * part
        return np.column_stack([np.interp(time, plate.time, column) for column in wrench.T])

    return oc.ExternalLoad(plate.body, at)


def _best_solution(problem: oc.Problem, transcription: str, rounds: int) -> TrackingSolution:
    """The fastest of several rounds, including transcription and verification between nodes."""
    best: TrackingSolution | None = None
    for _ in range(rounds):
        start, used = perf_counter(), process_time()
        solution = problem.solve(transcription, tolerance=SOLVER_TOLERANCE)
        seconds, processor = perf_counter() - start, process_time() - used
        if best is None or seconds < best.seconds:
            phase = solution.phases[0]
            best = TrackingSolution(
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
                zero_order_hold=transcription == "midpoint",
            )
    assert best is not None
    return best


def moco(walk: TrackedWalk, scheme: str, intervals: int) -> TrackingSolution:
    """Solve the problem with Moco, which times itself in a separate process.

    Args:
        walk: The recorded walk.
        scheme: Transcription scheme of Moco.
        intervals: Mesh intervals.

    Returns:
        The solution.
    """
    names = walk.motion.model.coordinate_names
    motion = walk.motion
    parts = np.linspace(0.0, 1.0, 2 * intervals + 1)
    curves = {"q": motion.q, "v": motion.v, "tau": np.asarray(walk.known.tau)}
    guess = {
        key: _by_name(names, _over(motion.time, values)(parts)) for key, values in curves.items()
    }
    statement = {
        "span": SPAN,
        "intervals": intervals,
        "scheme": scheme,
        "effort": EFFORT_WEIGHT,
        "strength": TORQUE_SCALE,
        "max_control": MAX_SCALED_TORQUE,
        "tolerance": SOLVER_TOLERANCE,
        "threads": os.cpu_count(),
        "time": motion.time.tolist(),
        "q": _by_name(names, motion.q),
        "guess": {"time": np.linspace(*SPAN, len(parts)).tolist(), **guess},
    }
    with tempfile.TemporaryDirectory() as scratch:
        forces, problem = Path(scratch) / "loads.xml", Path(scratch) / "problem.json"
        write_force_setup(walk.folder / SETUP, walk.folder / FORCES, forces)
        problem.write_text(json.dumps(statement))
        files = (walk.folder / "subject01.osim", forces, problem)
        found = run_opensim_script(opensim_track_peer.__file__, *files, timeout=MOCO_TIMEOUT_S)
    time = np.array(found["time"])
    columns = {key: np.column_stack([found[key][n] for n in names]) for key in ("q", "v", "tau")}
    return TrackingSolution(
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
    solution: TrackingSolution,
    peer: TrackingSolution | None,
    note: str,
) -> Iterator[BenchmarkRow]:
    name = f"tracking a walk, 10 dof, {ours}"
    if peer is not None:
        note = (
            f"Moco {theirs}: {peer.iterations} iterations, objective {peer.own:.6g}"
            f"{'' if peer.success else ', not converged'}; Homodyn: {solution.iterations} "
            f"iterations, objective {solution.own:.6g}; processor time {solution.processor:.2f} "
            f"and {peer.processor:.1f} s"
        )
    if not solution.success:
        note += "; Homodyn did not converge"
    yield BenchmarkRow.from_times(
        name,
        solution.seconds,
        peer.seconds if peer else None,
        unit="s",
        required=MIN_SPEEDUP,
        note=note,
    )
    yield BenchmarkRow.from_times(
        f"{name}, objective",
        solution.objective(walk),
        peer.objective(walk) if peer else None,
        unit="rad2 s",
        required=1.0,
    )
