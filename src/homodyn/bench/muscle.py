"""Muscles against peers: paths of 80, static optimization, a walk by optimal control, rollouts.

Both programs run on one thread and are measured in processor time, which the load of the machine
affects least.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import process_time

import numpy as np

from homodyn.bench import opensim_muscle_peer
from homodyn.bench.harness import BenchmarkRow, benchmark, best_of, environment, missing
from homodyn.bench.muscle_rollouts import rollout_rows
from homodyn.bench.muscle_sharing import static_optimization_rows
from homodyn.bench.muscle_walk import walk_rows
from homodyn.bench.opensim_process import data_folder, missing_data_row, run_opensim_script
from homodyn.model import Model, load
from homodyn.muscle import forces, lengths, moment_arms

MODEL_FILE = Path("rajagopal_walk") / "Rajagopal2016.osim"
BATCH_STATES = 10_000
PEER_STATES = 20
ARM_COORDINATES = ("hip_flexion_r", "knee_angle_r", "ankle_angle_r")
"""Coordinates whose arms OpenSim is timed with."""
LARGEST_DRAWN_ANGLE_RAD = np.pi
PEER_ACTIVATION = 0.3


@benchmark("muscle")
def muscle(quick: bool) -> Iterator[BenchmarkRow]:
    """Paths and static optimization against OpenSim, a walk against Moco, rollouts."""
    yield from path_rows(quick)
    yield from static_optimization_rows(quick)
    yield from rollout_rows(quick)
    yield from walk_rows(quick, ("inverse",) if quick else ("inverse", "track"))


def path_rows(quick: bool) -> Iterator[BenchmarkRow]:
    """Lengths, moment arms and forces of 80 muscles, one core, against OpenSim.

    Args:
        quick: Use fewer states and rounds.

    Yields:
        The rows.
    """
    path = data_folder() / MODEL_FILE
    if not path.is_file():
        yield missing_data_row("lengths of 80 muscles", "us/state", path)
        return
    model = load(path)
    states = random_states(model, 1000 if quick else BATCH_STATES)
    note = missing("opensim")
    peer = {} if note else _time_opensim(path, model, states, rounds=1 if quick else 3)
    with environment("HOMODYN_THREADS", "1"):
        ours = [_seconds(one, model, (states,), quick) for one in (lengths, moment_arms)]
        speeds = np.full((len(states), model.nv), 0.3)
        levels = np.full((len(states), len(model.muscles)), PEER_ACTIVATION)
        given = (states, speeds, levels)
        ours.append(_seconds(forces, model, given, quick, tendon="rigid"))
    arms = peer.get("arms")
    rows = (
        (f"lengths of {len(model.muscles)} muscles", ours[0], peer.get("lengths"), 300.0),
        (
            f"moment arms of {len(model.muscles)} muscles, {model.nv} coordinates",
            ours[1],
            None if arms is None else arms * model.nv,
            3000.0,
        ),
        (
            f"forces of {len(model.muscles)} muscles with rigid tendons",
            ours[2],
            peer.get("forces"),
            100.0,
        ),
    )
    for name, seconds, theirs, required in rows:
        scaled = None if theirs is None else 1e6 * theirs
        yield BenchmarkRow.from_times(
            name, 1e6 * seconds, scaled, unit="us/state", required=required, note=note
        )


def random_states(model: Model, count: int, seed: int = 1) -> np.ndarray:
    """States between the limits of all coordinates, uniformly distributed.

    Args:
        model: A model without quaternions.
        count: Number of states.
        seed: Seed of the random numbers.

    Returns:
        (count, nq).
    """
    lower = np.maximum(model.lower, -LARGEST_DRAWN_ANGLE_RAD)
    upper = np.minimum(model.upper, LARGEST_DRAWN_ANGLE_RAD)
    return np.asarray(np.random.default_rng(seed).uniform(lower, upper, (count, model.nv)))


def _seconds(
    function: object, model: Model, given: tuple[np.ndarray, ...], quick: bool, **options: str
) -> float:
    """Seconds per state of one of our functions, compiled, on one thread."""
    kernel = function.kernel(model, *given, **options)  # type: ignore[attr-defined]
    kernel.compile()
    out = kernel(*given)
    repeat = 3 if quick else 10
    call_seconds = best_of(lambda: kernel(*given, out=out), repeat=repeat, clock=process_time)
    return call_seconds / len(given[0])


def _time_opensim(path: Path, model: Model, states: np.ndarray, rounds: int) -> dict[str, float]:
    values = {name: states[:PEER_STATES, k] for k, name in enumerate(model.coordinate_names)}
    for coupler in model.couplers:
        values[coupler.coordinate] = coupler.function.value(values[coupler.of])
    poses = {
        "names": list(values),
        "values": np.array(list(values.values())).T.tolist(),
        "arms": ARM_COORDINATES,
        "activation": PEER_ACTIVATION,
    }
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "poses.json"
        file.write_text(json.dumps(poses))
        script = opensim_muscle_peer.__file__
        return run_opensim_script(script, path, file, rounds, 1 if rounds == 1 else 5)
