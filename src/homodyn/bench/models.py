"""OpenSim models: time to load, first result, and inverse dynamics of many states."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from homodyn import dynamics as laws
from homodyn.bench import opensim_peer
from homodyn.bench.harness import BenchmarkRow, benchmark, best_of, environment, missing
from homodyn.bench.opensim_process import data_folder, missing_data_row, run_opensim_script
from homodyn.model import Model, load

STATE_COUNT = 10_000
"""States of a batch."""
FILES = ("arnold2013/generic/unscaled_generic.osim", "arnold2013/subject01/subject01.osim")
"""Model files in the data folder."""


@benchmark("models")
def models(quick: bool) -> Iterator[BenchmarkRow]:
    """Loading of large OpenSim models and their inverse dynamics, against OpenSim."""
    folder = data_folder()
    for name in FILES:
        path = folder / name
        if not path.is_file():
            yield missing_data_row(f"load {Path(name).name}", "ms", path)
            continue
        yield from _rows(path, quick)


def _rows(path: Path, quick: bool) -> Iterator[BenchmarkRow]:
    rounds, states = (2, 50) if quick else (6, 300)
    note = missing("opensim")
    ours: dict[str, float] = {}
    peer: dict[str, float] = {}
    # Alternately, so that both are exposed to the same load of the machine.
    for _ in range(1 if quick else 3):
        _keep_best(ours, _load_times(path, rounds))
        if not note:
            _keep_best(peer, run_opensim_script(opensim_peer.__file__, path, rounds, states))
    model = load(path)
    size = f"{path.stem}, {model.nv} dof"
    names = {"load": f"load {size}", "first": f"load and first inverse dynamics, {size}"}
    for key, name in names.items():
        theirs = peer[key] * 1e3 if peer else None
        required = 1.0 if key == "first" and peer else None
        yield BenchmarkRow.from_times(
            name, ours[key] * 1e3, theirs, unit="ms", required=required, note=note
        )
    yield BenchmarkRow.from_times(
        f"inverse dynamics of {STATE_COUNT} states, {size}, 1 thread",
        _batch(model, rounds) * 1e6,
        peer["state"] * 1e6 if peer else None,
        unit="us/state",
        required=50.0 if peer else None,
        note=note,
    )


def _keep_best(best: dict[str, float], times: dict[str, float]) -> None:
    for key, seconds in times.items():
        best[key] = min(best.get(key, seconds), seconds)


def _load_times(path: Path, rounds: int) -> dict[str, float]:
    """Seconds to load, and to load, trace and evaluate without native code."""

    def evaluate() -> None:
        model = load(path)
        still = np.zeros(model.nv)
        laws.inverse_dynamics(model, model.neutral(), still, still)

    with environment("HOMODYN_TIER", "interpreted"):
        first = best_of(evaluate, repeat=rounds, minimum_time=0)
        return {"load": best_of(lambda: load(path), repeat=rounds, minimum_time=0), "first": first}


def _batch(model: Model, rounds: int) -> float:
    """Seconds per state in native code on one thread."""
    rng = np.random.default_rng(1)
    q = model.neutral() + 0.02 * rng.uniform(-1, 1, size=(STATE_COUNT, model.nq))
    v, a = np.full((2, STATE_COUNT, model.nv), 0.5)
    with environment("HOMODYN_THREADS", "1"), environment("HOMODYN_TIER", "compiled"):
        laws.inverse_dynamics(model, q, v, a)
        return best_of(lambda: laws.inverse_dynamics(model, q, v, a), repeat=rounds) / STATE_COUNT
