"""Muscles of a recorded walk by optimal control, against MocoInverse and MocoTrack.

Both programs have the same model of ten degrees of freedom with 18 muscles of De Groote and Fregly
(activation dynamics, rigid tendons), a reserve on each coordinate, the forces of both plates, the
same mesh, bounds, weights and initial guess (static optimization). OpenSim writes the model that
Homodyn reads. Both are measured in processor time: Moco uses all cores, Homodyn one. The objective
of each solution is computed by the same quadrature.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from scipy.interpolate import CubicHermiteSpline, interp1d, make_interp_spline

import homodyn.optimal as oc
from homodyn.bench import opensim_muscle_track_peer
from homodyn.bench.harness import BenchmarkRow, missing
from homodyn.bench.opensim_process import (
    data_folder,
    missing_data_row,
    run_opensim_script,
    write_force_setup,
)
from homodyn.bench.optimal_track import (
    DATA_SET,
    FORCES,
    QUADRATURE_POINTS,
    SETUP,
    SPAN,
    TrackedWalk,
    read_walk,
)
from homodyn.foundation.text import unknown_name
from homodyn.model import Model, load
from homodyn.muscle.geometry.tangent_rule import OPENSIM
from homodyn.optimal.transcription.collocation import LegendreCollocation

RESERVES_N_M = {"pelvis": 100.0, "lumbar": 100.0}
"""Strength (N m, N) of the reserves of coordinates by the beginning of their name."""
OTHER_RESERVES = 10.0
MIN_CONTROL, MAX_RESERVE = 0.01, 50.0
"""Lowest excitation, and largest reserve in units of its strength."""
EFFORT_WEIGHTS = {"inverse": 1.0, "track": 1e-3}
SOLVER_TOLERANCE = 1e-7
"""Of Homodyn, whose excitations would else stay 0.02 above their bounds."""
TRANSCRIPTION_PAIRS = (
    ("midpoint", "midpoint", "trapezoidal", 100),
    ("collocation of degree 3", LegendreCollocation(3), "hermite-simpson", 50),
)
"""Transcription of Homodyn with its title, that of Moco, and intervals of both. Hermite and
Simpson's method is of order 4; degree 3 (order 6) is the least one whose solution resimulates."""
QUICK_RUNS = (("midpoint", "midpoint", "trapezoidal", 50),)
MOCO_TIMEOUT_S = 3600
MOCO_SETTINGS = {
    "inverse": {
        "scale": 1.0,
        "tolerance": 1e-5,
        "constraint_tolerance": 1e-5,
        "differences": "central",
        "max_iterations": 1000,
    },
    # Tracking converges if its objective is between 0.1 and 10, as Moco's authors advise; the
    # tolerances are those of its own example of muscle-driven tracking.
    "track": {
        "scale": 1000.0,
        "tolerance": 1e-3,
        "constraint_tolerance": 1e-4,
        "differences": "forward",
        "max_iterations": 1000,
    },
}
"""Factor of Moco's objective, its tolerances, finite differences and budget; its last iterate
counts."""
MIN_SPEEDUP = 10.0
ROW_TITLES = {"inverse": "muscles of a given walk", "track": "tracking a walk with muscles"}
MOCO_STUDIES = {"inverse": "MocoInverse", "track": "MocoTrack"}


@dataclass(frozen=True, eq=False)
class DrivenWalk:
    """The recorded walk with a model whose muscles both programs have."""

    walk: TrackedWalk
    model: Model

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coordinates."""
        return self.model.coordinate_names

    @property
    def muscles(self) -> list[str]:
        """Names of the muscles."""
        return [muscle.name for muscle in self.model.muscles]

    @cached_property
    def curve(self) -> Any:
        """The recorded coordinates as a curve of time (s), as both programs have them."""
        return make_interp_spline(self.walk.motion.time, self.walk.motion.q, k=5)

    def problem(self, kind: str, intervals: int) -> oc.Problem:
        """The problem as Homodyn states it.

        Args:
            kind: ``"inverse"`` or ``"track"``.
            intervals: Mesh intervals.
        """
        motion = replace(self.walk.motion, model=self.model)
        options = oc.MuscleProblemOptions(
            drive=oc.MuscleDrive(wrapping=OPENSIM),
            span=SPAN,
            intervals=intervals,
            effort=EFFORT_WEIGHTS[kind],
            reserves=reserve_strengths(self.names),
        )
        make = oc.muscle_inverse_problem if kind == "inverse" else oc.muscle_tracking_problem
        problem = make(motion, replace(self.walk.known, motion=motion), options)
        bounds = {"v": (-50.0, 50.0), "excitation": (MIN_CONTROL, 1.0)}
        most = MAX_RESERVE * np.array(list(reserve_strengths(self.names).values()))
        (phase,) = problem.phases
        return replace(problem, phases=[replace(phase, bounds={**bounds, "tau": (-most, most)})])


@dataclass(frozen=True, eq=False)
class WalkSolution:
    """The solution of a program, and its times."""

    seconds: float
    processor: float
    """Processor time (s)."""
    iterations: int
    success: bool
    own: float
    """Objective as the program computes it."""
    time: np.ndarray
    q: np.ndarray | None
    v: np.ndarray | None
    control_time: np.ndarray
    reserves: np.ndarray
    """N m, N."""
    excitations: np.ndarray
    zero_order_hold: bool = False
    """Whether controls are piecewise constant instead of piecewise linear."""

    def __str__(self) -> str:
        """Iterations and objective."""
        return f"{self.iterations} iterations, objective {self.own:.6g}"

    def objective(self, driven: DrivenWalk, kind: str) -> float:
        """Integral of squared controls and, in tracking, of squared errors of coordinates.

        Args:
            driven: The walk.
            kind: ``"inverse"`` or ``"track"``.
        """
        fine = np.linspace(*SPAN, QUADRATURE_POINTS)
        strengths = np.array(list(reserve_strengths(driven.names).values()))
        controls = np.column_stack([self.excitations, self.reserves / strengths])
        hold = "nearest" if self.zero_order_hold else "linear"
        ends = (controls[0], controls[-1])
        over = interp1d(self.control_time, controls, hold, 0, bounds_error=False, fill_value=ends)(
            fine
        )
        density = EFFORT_WEIGHTS[kind] * (over**2).sum(axis=1)
        if kind == "track":
            q = CubicHermiteSpline(self.time, self.q, self.v)(fine)
            density = density + ((q - driven.curve(fine)) ** 2).sum(axis=1)
        return float(np.trapezoid(density, fine))


def reserve_strengths(names: tuple[str, ...]) -> dict[str, float]:
    """Strength of the reserve of each coordinate.

    Args:
        names: Names of the coordinates.
    """
    return {
        name: next(
            (s for start, s in RESERVES_N_M.items() if name.startswith(start)), OTHER_RESERVES
        )
        for name in names
    }


def walk_rows(quick: bool, kinds: tuple[str, ...] = tuple(ROW_TITLES)) -> Iterator[BenchmarkRow]:
    """Rows of time and objective of the inverse problem and of tracking.

    Args:
        quick: Use one coarse mesh and fewer rounds.
        kinds: ``"inverse"``, ``"track"``.

    Yields:
        The rows.

    Raises:
        ValueError: A kind is unknown.
    """
    for kind in kinds:
        if kind not in ROW_TITLES:
            raise ValueError(unknown_name("kind", kind, ROW_TITLES))
    folder = data_folder() / DATA_SET
    note = missing("opensim")
    if not folder.is_dir():
        yield missing_data_row("muscles of a walk", "s", folder)
        return
    if note:
        # OpenSim also writes the model.
        yield BenchmarkRow("muscles of a walk", None, None, "s", None, None, note)
        return
    driven = read_driven_walk(folder)
    for kind in kinds:
        for name, ours, theirs, intervals in QUICK_RUNS if quick else TRANSCRIPTION_PAIRS:
            solution = _best_solution(driven.problem(kind, intervals), ours, 2 if quick else 3)
            peer = moco(driven, kind, theirs, intervals)
            title = f"{ROW_TITLES[kind]}, 18 muscles, {intervals} intervals, {name}"
            yield from _rows(driven, kind, title, solution, peer)


def read_driven_walk(folder: Path) -> DrivenWalk:
    """The walk, and the model with the muscles that OpenSim converts."""
    walk = read_walk(folder)
    statement = _statement(walk.motion.model.coordinate_names, "model")
    with tempfile.TemporaryDirectory() as scratch:
        problem, driven = Path(scratch) / "problem.json", Path(scratch) / "driven.osim"
        problem.write_text(json.dumps(statement))
        script = opensim_muscle_track_peer.__file__
        run_opensim_script(script, folder / "subject01.osim", "none", problem, driven)
        return DrivenWalk(walk, load(driven, as_measured=True))


def _statement(names: tuple[str, ...], kind: str) -> dict[str, Any]:
    return {
        "kind": kind,
        "reserves": reserve_strengths(names),
        "min_control": MIN_CONTROL,
        "max_reserve": MAX_RESERVE,
    }


def _best_solution(
    problem: oc.Problem, transcription: str | oc.Transcription, rounds: int
) -> WalkSolution:
    """The fastest of several rounds, including transcription and verification between nodes."""
    best: WalkSolution | None = None
    problem.solve(transcription, tolerance=SOLVER_TOLERANCE).transcribed.compile()
    for _ in range(rounds):
        start, used = perf_counter(), process_time()
        solution = problem.solve(transcription, tolerance=SOLVER_TOLERANCE)
        seconds, processor = perf_counter() - start, process_time() - used
        if best is None or processor < best.processor:
            phase = solution.phases[0]
            assert phase.muscles is not None
            best = WalkSolution(
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
                phase.muscles.excitation,
                zero_order_hold=transcription == "midpoint",
            )
    assert best is not None
    return best


def moco(driven: DrivenWalk, kind: str, scheme: str, intervals: int) -> WalkSolution | None:
    """Solve the problem with Moco, which times itself in a separate process.

    None if it does not end within its time limit.

    Args:
        driven: The walk.
        kind: ``"inverse"`` or ``"track"``.
        scheme: Transcription scheme of Moco.
        intervals: Mesh intervals.
    """
    names, muscles, motion = driven.names, driven.muscles, driven.walk.motion
    parts = np.linspace(0.0, 1.0, 2 * intervals + 1)
    guess: Any = driven.problem(kind, intervals).phases[0].guess
    given = {
        "time": np.linspace(*SPAN, len(parts)).tolist(),
        "q": _by_name(names, guess["q"](parts)),
        "v": _by_name(names, guess["v"](parts)),
        "reserves": _by_name(names, guess["tau"](parts)),
        "activations": _by_name(tuple(muscles), guess["activation"](parts)),
    }
    statement = {
        **_statement(names, kind),
        "span": SPAN,
        "intervals": intervals,
        "scheme": scheme,
        "effort": EFFORT_WEIGHTS[kind],
        **MOCO_SETTINGS[kind],
        "threads": os.cpu_count(),
        "time": motion.time.tolist(),
        "q": _by_name(names, motion.q),
        "guess": given,
    }
    folder = driven.walk.folder
    with tempfile.TemporaryDirectory() as scratch:
        forces, problem = Path(scratch) / "loads.xml", Path(scratch) / "problem.json"
        write_force_setup(folder / SETUP, folder / FORCES, forces)
        problem.write_text(json.dumps(statement))
        files = (folder / "subject01.osim", forces, problem, Path(scratch) / "driven.osim")
        script = opensim_muscle_track_peer.__file__
        try:
            found = run_opensim_script(script, *files, timeout=MOCO_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return None
    time = np.array(found["time"])
    columns = {
        key: np.column_stack([found[key][name] for name in order]) if found[key] else None
        for key, order in (
            ("q", names),
            ("v", names),
            ("reserves", names),
            ("excitations", muscles),
        )
    }
    reserves, excitations = columns["reserves"], columns["excitations"]
    assert reserves is not None
    assert excitations is not None
    return WalkSolution(
        found["seconds"],
        found["processor"],
        found["iterations"],
        found["success"],
        found["objective"],
        time,
        columns["q"],
        columns["v"],
        time,
        reserves,
        excitations,
    )


def _by_name(names: tuple[str, ...], values: np.ndarray) -> dict[str, list[float]]:
    return {name: column.tolist() for name, column in zip(names, values.T, strict=True)}


def _rows(
    driven: DrivenWalk, kind: str, title: str, solution: WalkSolution, peer: WalkSolution | None
) -> Iterator[BenchmarkRow]:
    if peer is None:
        # Its time is above the limit, so the ratio is at least this.
        note = f"{MOCO_STUDIES[kind]} did not end within {MOCO_TIMEOUT_S} s; Homodyn: {solution}"
        yield BenchmarkRow.from_times(
            title,
            solution.processor,
            float(MOCO_TIMEOUT_S),
            unit="s",
            required=MIN_SPEEDUP,
            note=note,
        )
        return
    note = (
        f"{MOCO_STUDIES[kind]}: {peer.iterations} iterations, objective {peer.own:.6g}"
        f"{'' if peer.success else ', not converged'}; Homodyn: {solution}; by the clock "
        f"{solution.seconds:.2f} and {peer.seconds:.1f} s"
    )
    if not solution.success:
        note += "; Homodyn did not converge"
    yield BenchmarkRow.from_times(
        title, solution.processor, peer.processor, unit="s", required=MIN_SPEEDUP, note=note
    )
    yield BenchmarkRow.from_times(
        f"{title}, objective",
        solution.objective(driven, kind),
        peer.objective(driven, kind),
        unit="s" if kind == "inverse" else "rad2 s",
        required=1.0,
    )
