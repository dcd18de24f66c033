"""From markers to angles and torques, against OpenSim, and a long recording of a human."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from homodyn.bench import opensim_ik_peer
from homodyn.bench.capture_loads import loads_rows
from homodyn.bench.harness import BenchmarkRow, benchmark, best_of, environment, missing
from homodyn.bench.models import OPENSIM_TIMEOUT_S, data_folder
from homodyn.capture import (
    Trial,
    inverse_kinematics,
    read,
)
from homodyn.capture.kinematics import read_tasks
from homodyn.catalog import heiman
from homodyn.dynamics import marker_positions
from homodyn.model import Marker, Model, load
from homodyn.motion import Motion

RECORDINGS = (
    ("gait10dof", "subject01.osim", "walk.trc", "setup_ik.xml"),
    (
        "ik_synthetic",
        "subject01_simbody.osim",
        "subject01_synthetic_marker_data.trc",
        "gait2354_IK_Tasks.xml",
    ),
)
"""Folder, model, markers and weights of the recordings that OpenSim fits too."""
LONG_TRIAL_FRAMES = 1000
"""Frames of a long trial."""
FAST_ENOUGH = 0.15
"""Milliseconds a frame that a person of 34 freedoms with 40 markers may take."""


@benchmark("capture")
def capture(quick: bool) -> Iterator[BenchmarkRow]:
    """Inverse kinematics and dynamics of recordings against OpenSim, and of a long human one."""
    for name, model, markers, tasks in RECORDINGS:
        folder = data_folder() / name
        if not folder.is_dir():
            told = f"{folder} is not there; HOMODYN_DATA names the folder of recordings"
            yield BenchmarkRow(f"fit {name}", None, None, "ms/frame", None, None, told)
            continue
        yield from _against_opensim(folder / model, folder / markers, folder / tasks, quick)
    yield _human(quick)
    yield from loads_rows(quick)


def _against_opensim(
    model_file: Path, markers: Path, tasks: Path, quick: bool
) -> Iterator[BenchmarkRow]:
    """The recording as it is, and walked to and fro, so that many frames share the first search."""
    model, trial = load(model_file), read(markers)
    weights, _ = read_tasks(tasks, model)
    long = replace(
        trial, positions=_append_reversed(trial.positions), filled=np.zeros((0, 0), bool)
    )
    note = missing("opensim")
    rounds = 1 if quick else 3
    ours = [np.inf, np.inf]
    peer: dict[str, float] = {}
    for _ in range(rounds):
        # In turns, so that a busy moment of the machine hits both.
        for k, each in enumerate((trial, long)):
            ours[k] = min(ours[k], _seconds(model, each, weights, rounds))
        if not note:
            found = _opensim(model_file, markers, weights, rounds)
            peer = {key: min(value, peer.get(key, value)) for key, value in found.items()}
    error = _weighted_error(inverse_kinematics(model, trial, weights=weights), weights)
    told = note or f"weighted error {error:.6g} m2, OpenSim {peer['error']:.6g} m2"
    for seconds, frames in zip(ours, (trial.frames, long.frames), strict=True):
        # Both find the person first: OpenSim by assembling, ours by trying places and postures.
        theirs = (peer["first"] + peer["frame"] * (frames - 1)) / frames * 1e3 if peer else None
        yield BenchmarkRow.from_times(
            f"fit {frames} frames, {markers.parent.name}, {model.nv} dof",
            seconds / frames * 1e3,
            theirs,
            unit="ms/frame",
            required=40.0 if peer else None,
            note=told,
        )


def _human(quick: bool) -> BenchmarkRow:
    model, trial = long_trial()
    seconds = _seconds(model, trial, {}, 2 if quick else 6)
    ours = seconds / trial.frames * 1e3
    name = f"fit {trial.frames} frames, {model.nv} dof, {len(model.markers)} markers, 2 threads"
    told = f"asked for: {FAST_ENOUGH} ms"
    return BenchmarkRow(name, ours, None, "ms/frame", FAST_ENOUGH / ours, 1.0, told)


def long_trial() -> tuple[Model, Trial]:
    """A human with 40 markers swaying for ten seconds, seen with 3 mm of noise."""
    person = heiman()
    rng = np.random.default_rng(0)
    more = [
        Marker(f"more{k}", person.markers[4 * k].body, rng.uniform(-0.1, 0.1, 3)) for k in range(8)
    ]
    model = replace(person, markers=(*person.markers, *more))
    time = np.arange(LONG_TRIAL_FRAMES)[:, None] / 100
    swing = rng.uniform(0.1, 0.3, model.nv) * np.sin(rng.uniform(2, 8, model.nv) * time)
    swing[:, 0] += 1.2 * time[:, 0]
    inside = np.clip(model.neutral() + swing, model.lower, model.upper)
    seen = marker_positions(model, inside) + 0.003 * rng.normal(size=(LONG_TRIAL_FRAMES, 40, 3))
    return model, Trial("swaying", tuple(m.name for m in model.markers), seen, 100.0)


def _seconds(model: Model, trial: Trial, weights: dict[str, float], rounds: int) -> float:
    with environment("HOMODYN_THREADS", "2"):
        inverse_kinematics(model, trial, weights=weights)
        return best_of(
            lambda: inverse_kinematics(model, trial, weights=weights),
            repeat=max(3, 3 * rounds),
            minimum_time=0,
        )


def _append_reversed(positions: np.ndarray) -> np.ndarray:
    once = np.concatenate([positions, positions[-2:0:-1]])
    return np.concatenate([once] * -(-LONG_TRIAL_FRAMES // len(once)))[:LONG_TRIAL_FRAMES]


def _weighted_error(motion: Motion, weights: dict[str, float]) -> float:
    """Mean over the frames after the first of sum w d^2 (m2)."""
    shares = np.array([weights[name] for name in motion.markers])
    return float(np.nansum(shares * motion.residual[1:] ** 2, axis=1).mean())


def _opensim(
    model: Path, markers: Path, weights: dict[str, float], rounds: int
) -> dict[str, float]:
    words = [sys.executable, "-I", opensim_ik_peer.__file__, model.resolve(), markers.resolve()]
    with tempfile.TemporaryDirectory() as folder:
        answer = subprocess.run(
            [*map(str, words), json.dumps(weights), str(rounds)],
            cwd=folder,
            check=True,
            capture_output=True,
            text=True,
            timeout=OPENSIM_TIMEOUT_S,
        )
    return json.loads(answer.stdout.splitlines()[-1])
