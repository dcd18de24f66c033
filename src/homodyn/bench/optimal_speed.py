"""Solution times of three optimal control problems, with cached kernels and without.

Each figure is measured in a separate process, so that memory and loaded kernels are its own.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import homodyn.optimal as oc
from homodyn import gait
from homodyn.bench import squat
from homodyn.bench.harness import BenchmarkRow
from homodyn.gait.synthesis.problem import TRANSCRIPTION
from homodyn.symbolic import build_queue
from homodyn.synthetic import walking_trial

LIMITS = {"squat": 4.0, "step": 5.0, "synthesis": 60.0}
"""Time limit of each case on two cores with cached kernels (s)."""
NAMES = {
    "squat": "squat, 39 dof, 50 intervals",
    "step": "reconstruction of a step, 34 dof, 29 intervals",
    "synthesis": "synthesis of a step at 1.75 m/s, 34 dof",
}
SPEED_M_PER_S = 1.75
"""Half-way between the speeds of two stored steps."""
MAX_COMPILATION_S = 180.0
"""Time limit of the first compilation."""
MAX_MEMORY_MB = 2000.0
"""Memory limit of a solution."""
PROCESS_TIMEOUT_S = 900
"""Time limit of one process."""


def speed_rows(quick: bool) -> Iterator[BenchmarkRow]:
    """Rows of a squat, a reconstruction and a synthesis: time, memory and first compilation.

    Args:
        quick: Solve the squat only.

    Yields:
        The rows.
    """
    cases = ("squat",) if quick else tuple(NAMES)
    for case in cases:
        _child("compile", case)
        best = min((_child("solve", case) for _ in range(1 if quick else 3)), key=_seconds)
        note = (
            f"{best['status']}, {best['iterations']} iterations, processor time "
            f"{best['processor']:.2f} s; the peer is a limit"
        )
        yield BenchmarkRow.from_times(
            NAMES[case], best["seconds"], LIMITS[case], unit="s", required=1.0, note=note
        )
        yield BenchmarkRow.from_times(
            f"memory, {case}",
            best["memory"],
            MAX_MEMORY_MB,
            unit="MB",
            required=1.0,
            note="the peer is a limit",
        )
    for case in () if quick else cases:
        yield first_compilation(case)


def first_compilation(case: str) -> BenchmarkRow:
    """Row of the time until all kernels of a case are compiled, from an empty cache."""
    with tempfile.TemporaryDirectory(prefix="homodyn-") as folder:
        first = _child("first", case, HOMODYN_CACHE=folder, HOMODYN_BACKGROUND="")
    note = f"the first solution took {first['seconds']:.1f} s; the peer is a limit"
    name = f"first compilation, {case}"
    return BenchmarkRow.from_times(
        name, first["compiled"], MAX_COMPILATION_S, unit="s", required=1.0, note=note
    )


def problem_of(case: str) -> oc.Problem:
    """The squat or the step by name."""
    if case == "squat":
        return squat.problem()
    walk = walking_trial(
        noise=0.0, gaps=0.0, strides=2, plates=2, variation=0.0, mass=70.0, plate_noise=0.0
    )
    truth = walk.truth
    return gait.reconstruction.reconstruction_problem(
        truth.motion, measured=truth.loads, events=truth.events
    )[0]


def _seconds(found: dict[str, Any]) -> float:
    return float(found["seconds"])


def _child(what: str, case: str, **environment: str) -> dict[str, Any]:
    process = subprocess.run(
        [sys.executable, "-m", "homodyn.bench.optimal_speed", what, case],
        env={**os.environ, **environment},
        check=True,
        capture_output=True,
        text=True,
        timeout=PROCESS_TIMEOUT_S,
    )
    return dict(json.loads(process.stdout.splitlines()[-1]))


def _time_search(search: Callable[[], oc.Solution]) -> dict[str, Any]:
    start, used = time.perf_counter(), time.process_time()
    found = search()
    return {
        "seconds": time.perf_counter() - start,
        "processor": time.process_time() - used,
        "status": str(found.status),
        "iterations": found.iterations,
        "functions": found.timings["functions"],
        "solving": found.timings["solving"],
        "memory": _peak_memory(),
    }


def _peak_memory() -> float:
    """Peak memory of this process (MB); ``getrusage`` would include that of its parent."""
    status = Path("/proc/self/status")
    if status.exists():
        (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _search(case: str) -> Callable[[], oc.Solution]:
    if case == "synthesis":
        return lambda: gait.synthesis.synthesize_step(speed=SPEED_M_PER_S).solution
    problem = problem_of(case)
    return problem.solve


def _main(what: str, case: str) -> dict[str, Any]:
    if what == "compile":
        if case == "synthesis":
            problem = gait.synthesis.synthesis_problem(
                objective=gait.synthesis.WALKING_OBJECTIVES["mixed"], speed=SPEED_M_PER_S
            )
            problem.transcribe(TRANSCRIPTION).compile()
        else:
            problem_of(case).transcribe().compile()
        return {}
    start = time.perf_counter()
    found = _time_search(_search(case))
    if what == "first":
        while build_queue.pending_jobs() or build_queue.is_builder_running():
            time.sleep(0.2)
        found["compiled"] = time.perf_counter() - start
    return found


if __name__ == "__main__":
    print(json.dumps(_main(*sys.argv[1:3])))
