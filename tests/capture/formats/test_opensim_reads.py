"""OpenSim finds in our files what we wrote, and in its own files what we read."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from homodyn.capture import (
    Table,
    Trial,
    read,
    read_table,
    write,
    write_plates,
    write_table,
)
from homodyn.capture.trial import Y_UP_TO_Z_UP
from homodyn.motion import ForcePlate
from support.c3d_files import person


@pytest.fixture
def asked(tmp_path):
    if importlib.util.find_spec("opensim") is None:
        pytest.skip("opensim is not installed")

    def ask(*paths):
        script = Path(__file__).with_name("opensim_tables.py")
        run = subprocess.run(
            [sys.executable, script, *paths], capture_output=True, text=True, cwd=tmp_path
        )
        assert run.returncode == 0, run.stderr
        return json.loads(run.stdout.splitlines()[-1])

    return ask


def test_opensim_finds_what_we_wrote(asked, tmp_path):
    points, labels = person(frames=6)
    points[2, 3] = points[0, -1] = points[4, 5:] = np.nan
    trial = Trial("a", tuple(labels), points / 1e3, 100.0, 0.5, 51)
    write(trial, tmp_path / "a.trc")
    force = np.tile([3.0, 4.0, 700.0], (6, 1))
    plate = ForcePlate("left", 100.0, force, 0.2 * force / 700, 0.01 * force, 0.5)
    write_plates([plate], tmp_path / "a.mot")
    angles = Table(("knee", "hip"), trial.time, np.arange(12.0).reshape(6, 2), True, "angles")
    write_table(angles, tmp_path / "a.sto")
    markers, forces, table = asked(*(tmp_path / f"a.{kind}" for kind in ("trc", "mot", "sto")))
    assert markers["names"] == labels
    assert np.allclose(markers["time"], trial.time)
    assert np.allclose(markers["values"], points @ Y_UP_TO_Z_UP, rtol=1e-11, equal_nan=True)
    assert np.allclose(forces["values"][0][:3], [3.0, 700.0, -4.0])
    assert forces["names"][3:6] == ["ground_force_px", "ground_force_py", "ground_force_pz"]
    assert table["names"] == ["knee", "hip"]
    assert table["degrees"]
    assert np.array_equal(table["values"], angles.values)


def test_we_read_what_opensim_reads(asked, shared_data):
    names = ["gait10dof/walk.trc", "arnold2013/subject01/markers.trc"]
    tables = ["gait10dof/walk_grf.mot", "gait10dof/ref_ik.mot", "arnold2013/subject01/grf.mot",
              "opensim_id/subject01_walk1_ik.mot", "ik_synthetic/std_subject01_walk1_ik.mot",
              "c3d/std_walking2_grfs.sto", "opensim_id/std_arm26_InverseDynamics.sto"]  # fmt: skip
    theirs = asked(*(shared_data / name for name in (*names, *tables)))
    for name, other in zip(names, theirs, strict=False):
        trial = read(shared_data / name)
        unit = 1e-3 if "gait10dof" in name else 1.0
        assert list(trial.markers) == other["names"]
        assert np.allclose(
            trial.positions @ Y_UP_TO_Z_UP, np.multiply(other["values"], unit), atol=1e-12
        )
        # Times of three decimals: OpenSim keeps them, we know the rate.
        assert np.abs(trial.time - other["time"]).max() < 1e-3
    for name, other in zip(tables, theirs[2:], strict=True):
        table = read_table(shared_data / name)
        assert list(table.names) == other["names"]
        assert np.array_equal(table.time, other["time"])
        assert np.array_equal(table.values, other["values"])
        assert table.degrees == other["degrees"]
