"""Static optimization of a recorded walk with 54 muscles, against OpenSim's StaticOptimization.

Both programs solve the same frames of the same filtered motion with the same ground forces, bounds
and reserves, without passive forces, which OpenSim leaves out. They run on one thread and are
measured in processor time. OpenSim's time of a frame is the difference of a long and a short run,
so that reading files does not count.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from homodyn import capture
from homodyn.bench import opensim_sharing_peer
from homodyn.bench.harness import BenchmarkRow, best_of, environment, missing
from homodyn.bench.opensim_process import data_folder, missing_data_row, run_opensim_script
from homodyn.capture.formats.force_columns import plates_from_table
from homodyn.capture.kinetics import motion_from_table
from homodyn.model import load
from homodyn.motion import Loads
from homodyn.muscle import MuscleActivations, static_optimization

GAIT_FOLDER = "opensim_id"
MODEL_FILE = "subject01.osim"
COORDINATES_FILE = "subject01_walk1_ik.mot"
FORCES_FILE = "subject01_walk1_grf"
CUTOFF_HZ = 6.0
SHORT_INTERVAL_S = (1.0, 1.02)
LONG_INTERVAL_S = (1.0, 1.3)
ROOT_STRENGTH = 1000.0
"""Strength (N m, N) of OpenSim's actuators of the root, whose cost is then small."""
MIN_SPEED_RATIO = 100.0
MAX_ACTIVATION_DIFFERENCE = 0.01


@dataclass(frozen=True)
class _Comparison:
    """Both results in the frames that OpenSim solved."""

    seconds: float
    """Of OpenSim, by frame."""
    difference: float
    """Largest difference of activations."""
    objective: float
    """Sum of our objectives for the torques that OpenSim's actuators produce."""
    theirs: float
    """Sum of OpenSim's objectives."""


def static_optimization_rows(quick: bool) -> Iterator[BenchmarkRow]:
    """Time a frame, and compare activations and objectives.

    Args:
        quick: Fewer repetitions.

    Yields:
        Rows of speed, activations and objective.
    """
    folder = data_folder() / GAIT_FOLDER
    if not (folder / MODEL_FILE).is_file():
        yield missing_data_row("static optimization", "us/frame", folder / MODEL_FILE)
        return
    loads = _load_walk(folder)
    count = len(loads.motion.model.muscles)
    with environment("HOMODYN_THREADS", "1"):
        ours = _seconds(loads, repeat=3 if quick else 10)
    note = missing("opensim")
    found = None if note else _compare(folder, loads)
    yield BenchmarkRow.from_times(
        f"static optimization, {count} muscles, a frame",
        1e6 * ours,
        None if found is None else 1e6 * found.seconds,
        unit="us/frame",
        required=MIN_SPEED_RATIO,
        note=note,
    )
    if found is None:
        return
    yield BenchmarkRow(
        "largest difference of activations (limit 0.01)",
        found.difference,
        MAX_ACTIVATION_DIFFERENCE,
        "",
        MAX_ACTIVATION_DIFFERENCE / found.difference,
        1.0,
    )
    yield BenchmarkRow(
        "objective for the torques of OpenSim's actuators",
        found.objective,
        found.theirs,
        "",
        found.theirs / found.objective,
        1.0,
    )


def _load_walk(folder: Path) -> Loads:
    model = load(folder / MODEL_FILE)
    table = capture.read_table(folder / COORDINATES_FILE)
    motion = capture.filter_motion(motion_from_table(model, table), cutoff=CUTOFF_HZ)
    file = folder / f"{FORCES_FILE}.mot"
    plates = plates_from_table(
        capture.read_table(file), str(file), setup=folder / f"{FORCES_FILE}.xml"
    )
    return capture.inverse_dynamics(motion, plates, cutoff=None, threshold=0.0)


def _solve(loads: Loads) -> MuscleActivations:
    return static_optimization(loads.motion, loads, passive_fibers=False)


def _seconds(loads: Loads, repeat: int) -> float:
    """Seconds of processor time per frame, all frames in one call, kernels compiled."""
    with environment("HOMODYN_TIER", "compiled"):
        _solve(loads)
        seconds = best_of(lambda: _solve(loads), repeat=repeat, clock=process_time)
    return seconds / loads.motion.frames


def _compare(folder: Path, loads: Loads) -> _Comparison:
    model, motion = loads.motion.model, loads.motion
    with tempfile.TemporaryDirectory() as temporary:
        answer = _ask_opensim(folder, loads, Path(temporary))
    activations, forces = answer["activations"][-1], answer["forces"]
    counts = [len(one["time"]) for one in answer["activations"]]
    seconds = (answer["seconds"][1] - answer["seconds"][0]) / (counts[1] - counts[0])
    rows = [int(np.abs(motion.time - time).argmin()) for time in activations["time"]]
    result = _solve(loads)
    theirs = np.column_stack([activations[name] for name in result.muscles])
    reserves = np.column_stack([forces[f"reserve_{name}"] for name in result.coordinates])
    pulls = np.column_stack([forces[name] for name in result.muscles])
    # OpenSim satisfies torques to a tolerance only: its own torques are the loads to compare by.
    produced = np.einsum("fmc,fm->fc", result.moment_arms[rows], pulls) + reserves
    columns = [model.coordinate_names.index(name) for name in result.coordinates]
    tau = loads.tau.copy()
    tau[np.ix_(rows, columns)] = produced
    same = _solve(replace(loads, tau=tau))
    return _Comparison(
        seconds=seconds,
        difference=float(np.abs(result.activations[rows] - theirs).max()),
        objective=float(same.objective[rows].sum()),
        theirs=float((theirs**2).sum() + (reserves**2).sum()),
    )


def _ask_opensim(folder: Path, loads: Loads, temporary: Path) -> dict[str, Any]:
    model, motion = loads.motion.model, loads.motion
    values = {
        name: motion.q[:, model.position_index[k]] for k, name in enumerate(model.coordinate_names)
    }
    for one in model.couplers:
        values[one.coordinate] = one.function.value(values[one.of])
    _write_table(temporary / "motion.sto", motion.time, values)
    columns: dict[str, np.ndarray] = {}
    parts = []
    for k, foot in enumerate(loads.feet):
        for letter, vectors in (("v", foot.force), ("p", foot.point), ("t", foot.torque)):
            for axis, column in zip("xyz", np.nan_to_num(vectors).T, strict=True):
                columns[f"f{k}_{letter}{axis}"] = column
        parts.append(
            f'<ExternalForce name="f{k}"><applied_to_body>{foot.body}</applied_to_body>'
            "<force_expressed_in_body>ground</force_expressed_in_body>"
            "<point_expressed_in_body>ground</point_expressed_in_body>"
            f"<force_identifier>f{k}_v</force_identifier>"
            f"<point_identifier>f{k}_p</point_identifier>"
            f"<torque_identifier>f{k}_t</torque_identifier></ExternalForce>"
        )
    _write_table(temporary / "ground.sto", motion.time, columns)
    (temporary / "ground.xml").write_text(
        '<OpenSimDocument Version="30000"><ExternalLoads name="ground"><objects>'
        f"{''.join(parts)}</objects><datafile>{temporary / 'ground.sto'}</datafile>"
        "</ExternalLoads></OpenSimDocument>"
    )
    request = {
        "model": str((folder / MODEL_FILE).resolve()),
        "motion": str(temporary / "motion.sto"),
        "loads": str(temporary / "ground.xml"),
        "reserves": {
            name: ROOT_STRENGTH if k in model.root.v else 1.0
            for k, name in enumerate(model.coordinate_names)
        },
        "intervals": [SHORT_INTERVAL_S, LONG_INTERVAL_S],
    }
    (temporary / "request.json").write_text(json.dumps(request))
    return run_opensim_script(opensim_sharing_peer.__file__, temporary / "request.json")


def _write_table(path: Path, time: np.ndarray, columns: dict[str, np.ndarray]) -> None:
    """Write a table of radians and meters at full precision."""
    head = [path.stem, "version=1", f"nRows={len(time)}", f"nColumns={len(columns) + 1}"]
    lines = [*head, "inDegrees=no", "endheader", "\t".join(["time", *columns])]
    table = np.column_stack([time, *columns.values()])
    lines += ["\t".join(f"{value:.16g}" for value in row) for row in table]
    path.write_text("\n".join(lines) + "\n")
