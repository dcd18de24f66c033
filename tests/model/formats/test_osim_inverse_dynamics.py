"""OpenSim's own inverse dynamics results, from its models, motions and force plates."""

import re
from pathlib import Path

import numpy as np
import pytest

from homodyn.dynamics import inverse_dynamics, position
from homodyn.model.formats import load

CASES = {
    # model, motion, results, and the tolerance of OpenSim's own test (N m, N)
    "arm26": ("opensim_id", "arm26.osim", "arm26_InverseKinematics.mot", "std_arm26", 1e-2),
    "gait": ("opensim_id", "subject01.osim", "subject01_walk1_ik.mot", "std_subject01", 2.0),
    "gait10dof": ("gait10dof", "subject01.osim", "ref_ik.mot", "ref_id", 2.0),
}
RESULTS = {
    "std_arm26": "std_arm26_InverseDynamics.sto",
    "std_subject01": "std_subject01_InverseDynamics.sto",
    "ref_id": "ref_id.sto",
}
PLATES = {
    "gait": ("subject01_walk1_grf.mot", {"calcn_r": "", "calcn_l": "l_"}),
    "gait10dof": ("walk_grf.mot", {"calcn_r": "", "calcn_l": "1_"}),
}
CUTOFF = 6.0
"""Hz"""


def table(path: Path) -> dict[str, np.ndarray]:
    """Columns of a .mot or .sto file by name."""
    lines = path.read_text().strip("\n").splitlines()
    lines = lines[next(k for k, line in enumerate(lines) if line.strip() == "endheader") + 1 :]
    values = np.array([[float(word) for word in line.split()] for line in lines[1:]])
    return dict(zip(lines[0].split(), values.T, strict=True))


def wrenches(model, q, times, plates, prefixes):
    """Moment and force of each plate about the origin of the body it acts on."""
    found = {}
    for body, prefix in prefixes.items():
        force, point, torque = (
            np.stack(
                [np.interp(times, plates["time"], plates[f"{prefix}{what}{x}"]) for x in "xyz"], -1
            )
            for what in ("ground_force_v", "ground_force_p", "ground_torque_")
        )
        arm = point - position(model, q, body)
        found[body] = np.concatenate([torque + np.cross(arm, force), force], -1)
    return found


class Trial:
    """A motion that OpenSim filtered, and our generalized forces for it."""

    def __init__(self, shared_data: Path, opensim, name: str) -> None:
        folder, file, motion, results, self.tolerance = CASES[name]
        self.folder = shared_data / folder
        self.path, self.motion = str(self.folder / file), str(self.folder / motion)
        self.model, self.results = load(self.path), table(self.folder / RESULTS[results])
        shifted = opensim("followed", path=self.path, motion=self.motion, cutoff=CUTOFF)
        self.times = np.array(shifted["times"])
        rows = np.array([shifted[c] for c in self.model.coordinate_names])
        q, v, a = (rows[:, :, order].T for order in range(3))
        external = {}
        if name in PLATES:
            plates, prefixes = PLATES[name]
            plates = table(self.folder / plates)
            external = wrenches(self.model, q, self.times, plates, prefixes)
        self.forces = inverse_dynamics(self.model, q, v, a, external=external)

    def largest_differences(self, expected: dict[str, np.ndarray]) -> dict[str, float]:
        """From the columns of a results file, by coordinate."""
        kept = [np.abs(self.times - time).argmin() for time in expected["time"]]
        assert np.abs(self.times[kept] - expected["time"]).max() < 1e-6
        found = {}
        for k, coordinate in enumerate(self.model.coordinate_names):
            column = expected.get(f"{coordinate}_moment", expected.get(f"{coordinate}_force"))
            found[coordinate] = np.abs(self.forces[kept, k] - column).max()
        return found


@pytest.mark.parametrize("name", CASES)
def test_generalized_forces_are_those_of_opensims_own_test(shared_data, opensim, name):
    trial = Trial(shared_data, opensim, name)
    differences = trial.largest_differences(trial.results)
    assert max(differences.values()) < trial.tolerance, differences


@pytest.mark.parametrize("name", CASES)
def test_generalized_forces_are_those_of_the_tool_a_hundred_times_closer(
    shared_data, opensim, name, tmp_path
):
    trial = Trial(shared_data, opensim, name)
    loads = ""
    if name in PLATES:
        written = next(trial.folder.glob("*grf.xml")).read_text()
        data = str(trial.folder / PLATES[name][0])
        written = re.sub("<datafile>.*</datafile>", f"<datafile>{data}</datafile>", written)
        loads = str(tmp_path / "loads.xml")
        Path(loads).write_text(written)
    to = str(tmp_path / "id.sto")
    times = trial.results["time"]
    opensim(
        "inverse_dynamics",
        path=trial.path,
        motion=trial.motion,
        cutoff=CUTOFF,
        loads=loads,
        times=[times[0] + 1e-3, times[-1] - 1e-3],
        to=to,
    )
    differences = trial.largest_differences(table(Path(to)))
    assert max(differences.values()) < trial.tolerance / 100, differences
