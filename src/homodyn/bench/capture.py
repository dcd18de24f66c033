"""Inverse kinematics and dynamics of recordings, against OpenSim."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from homodyn.bench import opensim_ik_peer
from homodyn.bench.capture_loads import loads_rows
from homodyn.bench.harness import BenchmarkRow, benchmark, best_of, environment, missing
from homodyn.bench.opensim_process import data_folder, missing_data_row, run_opensim_script
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
"""Folder, model, markers and weights of the recordings."""
LONG_TRIAL_FRAMES = 1000
"""Frames of a long trial."""
MAX_FRAME_TIME_MS = 0.15
"""Limit per frame of a model of 34 degrees of freedom with 40 markers (ms)."""


@benchmark("capture")
def capture(quick: bool) -> Iterator[BenchmarkRow]:
    """Inverse kinematics and dynamics of recordings, against OpenSim."""
    for name, model, markers, tasks in RECORDINGS:
        folder = data_folder() / name
        if not folder.is_dir():
            yield missing_data_row(f"inverse kinematics, {name}", "ms/frame", folder)
            continue
        yield from _against_opensim(folder / model, folder / markers, folder / tasks, quick)
    yield _human(quick)
    yield from loads_rows(quick)


def _against_opensim(
    model_file: Path, markers: Path, tasks: Path, quick: bool
) -> Iterator[BenchmarkRow]:
    """The recording as it is, and repeated forward and backward to 1000 frames."""
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
        # Alternately, so that both are exposed to the same load of the machine.
        for k, each in enumerate((trial, long)):
            ours[k] = min(ours[k], _seconds(model, each, weights, rounds))
        if not note:
            found = run_opensim_script(
                opensim_ik_peer.__file__, model_file, markers, json.dumps(weights), rounds
            )
            peer = {key: min(value, peer.get(key, value)) for key, value in found.items()}
    error = _weighted_error(inverse_kinematics(model, trial, weights=weights), weights)
    errors = note or f"weighted error {error:.6g} m2, OpenSim {peer['error']:.6g} m2"
    for seconds, frames in zip(ours, (trial.frames, long.frames), strict=True):
        # Both include the search for the pose of the first frame.
        theirs = (peer["first"] + peer["frame"] * (frames - 1)) / frames * 1e3 if peer else None
        yield BenchmarkRow.from_times(
            f"inverse kinematics, {frames} frames, {markers.parent.name}, {model.nv} dof",
            seconds / frames * 1e3,
            theirs,
            unit="ms/frame",
            required=40.0 if peer else None,
            note=errors,
        )


def _human(quick: bool) -> BenchmarkRow:
    model, trial = long_trial()
    seconds = _seconds(model, trial, {}, 2 if quick else 6)
    ours = seconds / trial.frames * 1e3
    size = f"{model.nv} dof, {len(model.markers)} markers"
    return BenchmarkRow.from_times(
        f"inverse kinematics, {trial.frames} frames, {size}, 2 threads",
        ours,
        MAX_FRAME_TIME_MS,
        unit="ms/frame",
        required=1.0,
        note="the peer is a limit",
    )


def long_trial() -> tuple[Model, Trial]:
    """A human model with 40 markers that sways for 10 s, with 3 mm of marker noise."""
    person = heiman()
    rng = np.random.default_rng(0)
    extra = [
        Marker(f"more{k}", person.markers[4 * k].body, rng.uniform(-0.1, 0.1, 3)) for k in range(8)
    ]
    model = replace(person, markers=(*person.markers, *extra))
    time = np.arange(LONG_TRIAL_FRAMES)[:, None] / 100
    swing = rng.uniform(0.1, 0.3, model.nv) * np.sin(rng.uniform(2, 8, model.nv) * time)
    swing[:, 0] += 1.2 * time[:, 0]
    inside = np.clip(model.neutral() + swing, model.lower, model.upper)
    noise = 0.003 * rng.normal(size=(LONG_TRIAL_FRAMES, 40, 3))
    positions = marker_positions(model, inside) + noise
    return model, Trial("swaying", tuple(m.name for m in model.markers), positions, 100.0)


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
    """Mean of sum w d^2 over the frames after the first (m2)."""
    shares = np.array([weights[name] for name in motion.markers])
    return float(np.nansum(shares * motion.residual[1:] ** 2, axis=1).mean())
