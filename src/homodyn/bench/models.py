"""OpenSim models: how soon they are loaded and answer, and inverse dynamics of many states."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from homodyn import dynamics as laws
from homodyn.bench import opensim_peer
from homodyn.bench.harness import BenchmarkRow, benchmark, best_of, environment, missing
from homodyn.model import Model, load

STATE_COUNT = 10_000
FILES = ("arnold2013/generic/unscaled_generic.osim", "arnold2013/subject01/subject01.osim")
"""The largest models at hand, in the folder of recordings."""
OPENSIM_TIMEOUT_S = 300
"""Seconds that OpenSim may take in all for one model."""


@benchmark("models")
def models(quick: bool) -> Iterator[BenchmarkRow]:
    """Loading the largest OpenSim models and their inverse dynamics, against OpenSim."""
    folder = data_folder()
    for name in FILES:
        path = folder / name
        if not path.is_file():
            told = f"{path} is not there; HOMODYN_DATA names the folder of recordings"
            yield BenchmarkRow(f"load {Path(name).name}", None, None, "ms", None, None, told)
            continue
        yield from _rows(path, quick)


def data_folder() -> Path:
    """The folder of recordings: what ``HOMODYN_DATA`` names, else ``../shared/data``."""
    return Path(os.environ.get("HOMODYN_DATA") or Path("..") / "shared" / "data")


def _rows(path: Path, quick: bool) -> Iterator[BenchmarkRow]:
    rounds, states = (2, 50) if quick else (6, 300)
    note = missing("opensim")
    ours: dict[str, float] = {}
    peer: dict[str, float] = {}
    # In turns, so that a busy moment of the machine hits both.
    for _ in range(1 if quick else 3):
        _keep_best(ours, _first_answers(path, rounds))
        if not note:
            _keep_best(peer, _opensim(path, rounds, states))
    model = load(path)
    size = f"{path.stem}, {model.nv} dof"
    told = {"load": f"load {size}", "first": f"load and first inverse dynamics, {size}"}
    for key, text in told.items():
        theirs = peer[key] * 1e3 if peer else None
        required = 1.0 if key == "first" and peer else None
        yield BenchmarkRow.from_times(
            text, ours[key] * 1e3, theirs, unit="ms", required=required, note=note
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


def _first_answers(path: Path, rounds: int) -> dict[str, float]:
    """Seconds to load, and to load, trace and answer without native code; best of some rounds."""

    def answer() -> None:
        model = load(path)
        still = np.zeros(model.nv)
        laws.inverse_dynamics(model, model.neutral(), still, still)

    with environment("HOMODYN_TIER", "interpreted"):
        first = best_of(answer, repeat=rounds, minimum_time=0)
        return {"load": best_of(lambda: load(path), repeat=rounds, minimum_time=0), "first": first}


def _batch(model: Model, rounds: int) -> float:
    """Seconds a state, native and on one thread."""
    rng = np.random.default_rng(1)
    q = model.neutral() + 0.02 * rng.uniform(-1, 1, size=(STATE_COUNT, model.nq))
    v, a = np.full((2, STATE_COUNT, model.nv), 0.5)
    with environment("HOMODYN_THREADS", "1"), environment("HOMODYN_TIER", "compiled"):
        laws.inverse_dynamics(model, q, v, a)
        return best_of(lambda: laws.inverse_dynamics(model, q, v, a), repeat=rounds) / STATE_COUNT


def _opensim(path: Path, rounds: int, states: int) -> dict[str, float]:
    """The same by OpenSim, which times itself in a process of its own; it also leaves a log."""
    words = [sys.executable, "-I", opensim_peer.__file__, str(path.resolve())]
    with tempfile.TemporaryDirectory() as folder:
        answer = subprocess.run(
            [*words, str(rounds), str(states)],
            cwd=folder,
            check=True,
            capture_output=True,
            text=True,
            timeout=OPENSIM_TIMEOUT_S,
        )
    return json.loads(answer.stdout.splitlines()[-1])
