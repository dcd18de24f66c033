"""Inverse dynamics of recorded walks with force plates, against OpenSim."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from homodyn.bench import opensim_loads_peer
from homodyn.bench.harness import BenchmarkRow, best_of, environment, missing
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
from homodyn.capture.kinetics.newton_euler import newton_euler_loads
from homodyn.model import load
from homodyn.motion import (
    ForcePlate,
    Motion,
)

CUTOFF_HZ = 6.0
"""Cutoff of the low-pass filter."""


@dataclass(frozen=True)
class RecordedWalk:
    """Files of a recorded walk in the data folder."""

    name: str
    folder: str
    model: str
    coordinates: str
    forces: str
    setup: str


WALKS = (
    RecordedWalk(
        "gait10dof", "gait10dof", "subject01.osim", "ref_ik.mot", "walk_grf.mot", "walk_grf.xml"
    ),
    RecordedWalk(
        "gait, 23 dof",
        "opensim_id",
        "subject01.osim",
        "subject01_walk1_ik.mot",
        "subject01_walk1_grf.mot",
        "subject01_walk1_grf.xml",
    ),
)


def loads_rows(quick: bool) -> Iterator[BenchmarkRow]:
    """Rows of the algorithm alone, and of the whole computation from coordinates.

    Args:
        quick: Make fewer runs.

    Yields:
        The rows.
    """
    for walk in WALKS:
        folder = data_folder() / walk.folder
        if not folder.is_dir():
            yield missing_data_row(f"inverse dynamics, {walk.name}", "us/frame", folder)
            continue
        note = missing("opensim")
        peer = {} if note else _opensim(folder, walk, rounds=1 if quick else 3)
        yield from _rows(walk, folder, peer, note, quick)


def _rows(
    walk: RecordedWalk, folder: Path, peer: dict[str, float], note: str, quick: bool
) -> Iterator[BenchmarkRow]:
    table = replace(read_table(folder / walk.coordinates), degrees=True)
    motion = motion_from_table(load(folder / walk.model), table)
    plates = read_plates(folder / walk.forces)
    name = walk.name
    frames, repeat = len(motion.time), 3 if quick else 10
    with environment("HOMODYN_THREADS", "1"), environment("HOMODYN_TIER", "compiled"):
        loads = inverse_dynamics(motion, plates)
        law = best_of(lambda: newton_euler_loads(loads.motion, loads.feet), repeat=repeat) / frames
        whole = best_of(lambda: _whole(motion, plates), repeat=repeat) / frames
    yield BenchmarkRow.from_times(
        f"inverse dynamics, {name}, batch of {frames} frames, 1 thread",
        law * 1e6,
        peer["solver"] * 1e6 if peer else None,
        unit="us/frame",
        required=40.0 if peer else None,
        note=note,
    )
    yield BenchmarkRow.from_times(
        f"filtering, plate assignment and inverse dynamics, {name}, 1 thread",
        whole * 1e6,
        peer["tool"] * 1e6 if peer else None,
        unit="us/frame",
        required=None,
        note=note,
    )


def _whole(motion: Motion, plates: tuple[ForcePlate, ...]) -> None:
    inverse_dynamics(filter_motion(motion, cutoff=CUTOFF_HZ, style="opensim"), plates, cutoff=None)


def _opensim(folder: Path, walk: RecordedWalk, *, rounds: int) -> dict[str, float]:
    """Seconds per frame of OpenSim."""
    with tempfile.TemporaryDirectory() as scratch:
        setup = Path(scratch) / "loads.xml"
        write_force_setup(folder / walk.setup, folder / walk.forces, setup)
        files = (folder / walk.model, folder / walk.coordinates, setup)
        return run_opensim_script(opensim_loads_peer.__file__, *files, CUTOFF_HZ, rounds)
