"""Motions of OpenSim's example models with their loads, and OpenSim's analyses of them."""

import importlib.util
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture.formats.force_columns import plates_from_table
from homodyn.capture.kinetics import motion_from_table

SCRIPT = Path(__file__).parents[1] / "muscle" / "opensim_static_optimization.py"
FILES = {
    # folder, model, coordinates, forces and their ExternalLoads file
    "gait10dof": ("gait10dof", "subject01.osim", "ref_ik.mot", "walk_grf"),
    "gait54": ("opensim_id", "subject01.osim", "subject01_walk1_ik.mot", "subject01_walk1_grf"),
    "arm26": ("opensim_id", "arm26.osim", "arm26_InverseKinematics.mot", None),
}
ROOT_STRENGTH = 1000.0
"""Strength (N m, N) of OpenSim's actuators of the root, whose cost is then small."""
PLATE_THRESHOLD_N = 0.0


@dataclass(frozen=True)
class OpenSimWalk:
    """A filtered motion of a model with its loads."""

    file: Path
    model: hd.Model
    motion: hd.motion.Motion
    loads: hd.motion.Loads


def load_walk(shared_data, name):
    """Motion, filtered, and the loads of the motion as it is."""
    folder, model_file, coordinates, forces = FILES[name]
    folder = shared_data / folder
    model = hd.load(folder / model_file)
    recorded = motion_from_table(model, hd.capture.read_table(folder / coordinates))
    motion = hd.capture.filter_motion(recorded, cutoff=6.0)
    plates = ()
    if forces:
        file = folder / f"{forces}.mot"
        setup = folder / f"{forces}.xml"
        plates = plates_from_table(hd.capture.read_table(file), str(file), setup=setup)
    loads = hd.capture.inverse_dynamics(motion, plates, cutoff=None, threshold=PLATE_THRESHOLD_N)
    return OpenSimWalk(folder / model_file, model, motion, loads)


def write_table(path, names, time, columns):
    """Write a table as OpenSim reads it."""
    head = [path.stem, "version=1", f"nRows={len(time)}", f"nColumns={len(names) + 1}"]
    lines = [*head, "inDegrees=no", "endheader", "\t".join(["time", *names])]
    table = np.column_stack([time, columns])
    lines += ["\t".join(f"{value:.16g}" for value in row) for row in table]
    path.write_text("\n".join(lines) + "\n")
    return path.name


def read_columns(path):
    """Columns of a table of OpenSim by name."""
    lines = path.read_text().strip("\n").splitlines()
    lines = lines[next(k for k, line in enumerate(lines) if line.strip() == "endheader") + 1 :]
    values = np.array([[float(word) for word in line.split()] for line in lines[1:]])
    return dict(zip(lines[0].split(), values.T, strict=True))


def run_opensim(walk, folder, interval, **request):
    """Run an analysis of OpenSim on a walk in a folder."""
    if importlib.util.find_spec("opensim") is None:
        pytest.skip("opensim is not installed")
    model, motion = walk.model, walk.motion
    names = list(model.coordinate_names)
    values = {name: motion.q[:, model.position_index[k]] for k, name in enumerate(names)}
    for one in model.couplers:
        values[one.coordinate] = one.function.value(values[one.of])
    request |= {
        "model": str(walk.file),
        "interval": interval,
        "motion": write_table(
            folder / "motion.mot", list(values), motion.time, np.column_stack(list(values.values()))
        ),
        "loads": _write_ground_forces(walk, folder),
    }
    (folder / "request.json").write_text(json.dumps(request))
    subprocess.run([sys.executable, "-I", str(SCRIPT), "request.json"], cwd=folder, check=True)


def _write_ground_forces(walk, folder):
    if not walk.loads.feet:
        return ""
    names, columns, parts = [], [], []
    for k, foot in enumerate(walk.loads.feet):
        for letter, values in (("v", foot.force), ("p", foot.point), ("t", foot.torque)):
            names += [f"f{k}_{letter}{axis}" for axis in "xyz"]
            columns.append(np.nan_to_num(values))
        identifiers = "".join(
            f"<{what}_identifier>f{k}_{letter}</{what}_identifier>"
            for what, letter in (("force", "v"), ("point", "p"), ("torque", "t"))
        )
        parts.append(
            f'<ExternalForce name="f{k}"><applied_to_body>{foot.body}</applied_to_body>'
            "<force_expressed_in_body>ground</force_expressed_in_body>"
            f"<point_expressed_in_body>ground</point_expressed_in_body>{identifiers}"
            "</ExternalForce>"
        )
    table = write_table(folder / "ground.sto", names, walk.motion.time, np.column_stack(columns))
    (folder / "ground.xml").write_text(
        '<OpenSimDocument Version="30000"><ExternalLoads name="ground"><objects>'
        f"{''.join(parts)}</objects><datafile>{folder / table}</datafile>"
        "</ExternalLoads></OpenSimDocument>"
    )
    return str(folder / "ground.xml")


def opensim_activations(walk, folder, interval, reserve, **request):
    """Rows of the motion, and activations and forces of OpenSim by name."""
    strengths = {
        name: ROOT_STRENGTH if k in walk.model.root.v else reserve
        for k, name in enumerate(walk.model.coordinate_names)
    }
    run_opensim(walk, folder, interval, reserves=strengths, **request)
    activations = read_columns(folder / "run_activations_activation.sto")
    forces = read_columns(folder / "run_activations_force.sto")
    return rows_of(walk, activations["time"]), activations, forces


def rows_of(walk, times):
    """Frames of the motion at some times."""
    rows = [int(np.abs(walk.motion.time - time).argmin()) for time in times]
    assert np.abs(walk.motion.time[rows] - times).max() < 1e-6
    return rows
