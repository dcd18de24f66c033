"""Inverse dynamics of recorded walks with their force plates, against OpenSim."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from homodyn.bench import opensim_loads_peer
from homodyn.bench.harness import BenchmarkRow, best_of, environment, missing
from homodyn.bench.models import OPENSIM_TIMEOUT_S, data_folder
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
"""Hz."""
WALKS = {
    "gait10dof": ("gait10dof", "subject01.osim", "ref_ik.mot", "walk_grf.mot", "walk_grf.xml"),
    "gait, 23 dof": (
        "opensim_id",
        "subject01.osim",
        "subject01_walk1_ik.mot",
        "subject01_walk1_grf.mot",
        "subject01_walk1_grf.xml",
    ),
}


def loads_rows(quick: bool) -> Iterator[BenchmarkRow]:
    """Torques of each walk, a frame: the law alone, and everything from coordinates to notes."""
    for name, (place, model, coordinates, forces, setup) in WALKS.items():
        folder = data_folder() / place
        if not folder.is_dir():
            told = f"{folder} is not there; HOMODYN_DATA names the folder of recordings"
            yield BenchmarkRow(
                f"inverse dynamics of {name}", None, None, "us/frame", None, None, told
            )
            continue
        note = missing("opensim")
        peer = (
            {}
            if note
            else _opensim(folder, model, coordinates, forces, setup, rounds=1 if quick else 3)
        )
        yield from _rows(name, folder, model, coordinates, forces, peer, note, quick)


def _rows(
    name: str,
    folder: Path,
    model: str,
    coordinates: str,
    forces: str,
    peer: dict[str, float],
    note: str,
    quick: bool,
) -> Iterator[BenchmarkRow]:
    table = replace(read_table(folder / coordinates), degrees=True)
    motion = motion_from_table(load(folder / model), table)
    plates = read_plates(folder / forces)
    frames, repeat = len(motion.time), 3 if quick else 10
    with environment("HOMODYN_THREADS", "1"), environment("HOMODYN_TIER", "compiled"):
        known = inverse_dynamics(motion, plates)
        law = best_of(lambda: newton_euler_loads(known.motion, known.feet), repeat=repeat) / frames
        whole = best_of(lambda: _whole(motion, plates), repeat=repeat) / frames
    yield BenchmarkRow.from_times(
        f"inverse dynamics with plates, {name}, {frames} frames at once, 1 thread",
        law * 1e6,
        peer["solver"] * 1e6 if peer else None,
        unit="us/frame",
        required=40.0 if peer else None,
        note=note,
    )
    yield BenchmarkRow.from_times(
        f"filter, assign plates and inverse dynamics, {name}, 1 thread",
        whole * 1e6,
        peer["tool"] * 1e6 if peer else None,
        unit="us/frame",
        required=None,
        note=note,
    )


def _whole(motion: Motion, plates: tuple[ForcePlate, ...]) -> None:
    inverse_dynamics(filter_motion(motion, cutoff=CUTOFF_HZ, style="opensim"), plates, cutoff=None)


def _opensim(
    folder: Path, model: str, coordinates: str, forces: str, setup: str, *, rounds: int
) -> dict[str, float]:
    """Seconds a frame by OpenSim."""
    written = (folder / setup).read_text()
    data = str((folder / forces).resolve())
    written = re.sub("<datafile>.*</datafile>", f"<datafile>{data}</datafile>", written)
    with tempfile.TemporaryDirectory() as scratch:
        own = Path(scratch) / "loads.xml"
        own.write_text(written)
        command = [sys.executable, "-I", opensim_loads_peer.__file__]
        places = [str((folder / file).resolve()) for file in (model, coordinates)]
        answer = subprocess.run(
            [*command, *places, str(own), str(CUTOFF_HZ), str(rounds)],
            cwd=scratch,
            check=True,
            capture_output=True,
            text=True,
            timeout=OPENSIM_TIMEOUT_S,
        )
    found: dict[str, float] = json.loads(answer.stdout.splitlines()[-1])
    return found
