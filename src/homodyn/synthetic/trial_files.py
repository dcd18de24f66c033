"""A synthetic trial as files: recordings as C3D, the ground truth as tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from homodyn.capture import (
    Signals,
    Table,
    read_table,
    write,
    write_table,
)
from homodyn.errors import FormatError
from homodyn.foundation.guarded_read import guarded_reader
from homodyn.model import load, save
from homodyn.model.formats.files import write_bytes
from homodyn.model.side import Side
from homodyn.motion import (
    ContactForce,
    Event,
    Motion,
    MotionSource,
)
from homodyn.synthetic.ground_truth import GroundTruth, true_loads
from homodyn.synthetic.marker_artifacts import MarkerInterval
from homodyn.synthetic.synthetic_trial import SyntheticTrial

WALK, STATIC, TRUTH = "walk.c3d", "static.c3d", "truth"
_TABLES = ("coordinates", "speeds", "accelerations", "torques", "forces", "markers", "drive")
_FORCE_COLUMNS = ("fx", "fy", "fz", "px", "py", "pz", "mx", "my", "mz")


def write_trial(
    synthetic: SyntheticTrial, folder: str | Path, *, overwrite: bool = False
) -> list[Path]:
    """Write ``walk.c3d``, ``static.c3d`` and the folder ``truth`` with CSV tables (SI units, rad).

    Args:
        synthetic: The trial.
        folder: Where to write; created when missing.
        overwrite: Replace existing files.

    Returns:
        Paths of the written files.

    Raises:
        FormatError: A file exists already, or the folder cannot be created.
    """
    folder = Path(folder)
    truth = synthetic.truth
    tables = _tables(truth)
    paths = [folder / WALK, folder / STATIC, folder / TRUTH / "subject.toml"]
    paths += [folder / TRUTH / f"{name}.csv" for name in tables]
    paths.append(folder / TRUTH / "walk.json")
    existing = [path for path in paths if path.exists()]
    if existing and not overwrite:
        raise FormatError(
            "the file exists already; choose another folder or overwrite it",
            str(existing[0]),
        )
    try:
        (folder / TRUTH).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FormatError(f"the folder cannot be created ({error.strerror})", str(folder)) from None
    write(synthetic.trial, paths[0])
    write(synthetic.static, paths[1])
    save(truth.model, paths[2])
    for name, table in tables.items():
        write_table(table, folder / TRUTH / f"{name}.csv")
    write_bytes(paths[-1], (json.dumps(_facts(synthetic), indent=2) + "\n").encode())
    return paths


def _tables(truth: GroundTruth) -> dict[str, Table]:
    motion, loads = truth.motion, truth.loads
    names, time = motion.model.coordinate_names, motion.time
    markers = [marker.name for marker in motion.model.markers]
    forces = np.concatenate(
        [np.concatenate([foot.force, foot.point, foot.torque], axis=1) for foot in loads.feet],
        axis=1,
    )
    return {
        "coordinates": Table(names, time, motion.q),
        "speeds": Table(names, time, motion.v),
        "accelerations": Table(names, time, motion.a),
        "torques": Table(names, time, loads.tau),
        "forces": Table(
            tuple(f"{foot.side}_{part}" for foot in loads.feet for part in _FORCE_COLUMNS),
            time,
            forces,
        ),
        "markers": Table(
            tuple(f"{name}_{axis}" for name in markers for axis in "xyz"),
            time,
            truth.markers.reshape(len(time), -1),
        ),
        "drive": Table(truth.drive.names, truth.drive.time, truth.drive.values),
    }


def _facts(synthetic: SyntheticTrial) -> dict[str, Any]:
    steps, truth = synthetic.walk.steps, synthetic.truth
    return {
        "speed": steps.speed,
        "step_length": steps.step_length,
        "step_width": steps.width,
        "cadence": steps.cadence,
        "stance": steps.stance,
        "mass": float(synthetic.model.mass),
        "events": [
            {"time": event.time, "label": event.label, "context": event.context}
            for event in truth.events
        ],
        "gaps": [_interval(gap) for gap in truth.gaps],
        "swaps": [_interval(swap) for swap in truth.swaps],
        "clean_strikes": list(truth.clean_strikes),
    }


def _interval(interval: MarkerInterval) -> dict[str, Any]:
    return {"markers": interval.markers, "first": interval.first, "last": interval.last}


@guarded_reader("trial with its ground truth")
def read_truth(folder: str | Path) -> GroundTruth:
    """Read the ground truth that `write_trial` wrote.

    Args:
        folder: The folder of the trial, or its folder ``truth``.

    Returns:
        Motion, loads, markers, events and artifacts.

    Raises:
        FormatError: The folder holds no ground truth.
    """
    folder = Path(folder)
    folder = folder / TRUTH if (folder / TRUTH).is_dir() else folder
    facts_path = folder / "walk.json"
    try:
        facts = json.loads(facts_path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise FormatError(
            f"this is not the ground truth of a synthetic trial ({error})", str(facts_path)
        ) from None
    model = load(folder / "subject.toml")
    tables = {name: read_table(folder / f"{name}.csv") for name in _TABLES}
    names = model.coordinate_names
    q, v, a, tau = (
        tables[name].select(names) for name in ("coordinates", "speeds", "accelerations", "torques")
    )
    events = tuple(Event(**event) for event in facts["events"])
    motion = Motion(
        model,
        tables["coordinates"].time,
        q,
        v,
        a,
        method="synthetic",
        tau=tau,
        contact_forces=tuple(_contact_force(tables["forces"], side) for side in Side),
        events=events,
        source=MotionSource.SYNTHETIC,
    )
    drive = tables["drive"]
    rate = (len(drive.time) - 1) / (drive.time[-1] - drive.time[0])
    intervals = {
        kind: tuple(MarkerInterval(tuple(i["markers"]), i["first"], i["last"]) for i in facts[kind])
        for kind in ("gaps", "swaps")
    }
    return GroundTruth(
        motion,
        true_loads(motion, "exact"),
        tables["markers"].values.reshape(len(motion.time), -1, 3),
        events,
        Signals(drive.names, rate, drive.values, ("",) * len(drive.names)),
        intervals["gaps"],
        intervals["swaps"],
        tuple(facts["clean_strikes"]),
    )


def _contact_force(forces: Table, side: Side) -> ContactForce:
    columns = forces.select([f"{side}_{part}" for part in _FORCE_COLUMNS])
    return ContactForce(f"Foot{side.title}", side, columns[:, :3], columns[:, 3:6], columns[:, 6:])
