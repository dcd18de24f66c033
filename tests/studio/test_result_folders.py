"""Result folders are read back."""

from dataclasses import replace

import numpy as np
import pytest

from homodyn import dynamics
from homodyn.analysis.result_tables import write_csv
from homodyn.errors import HomodynError
from homodyn.report.simulation_folder import write_simulation
from homodyn.simulate import SimulationOptions, run
from homodyn.studio.export import write_result
from homodyn.studio.file_opening import from_catalog, open_path


@pytest.fixture(scope="module")
def fallen(tmp_path_factory):
    """A result of a simulation, and the record it was written from."""
    actor = from_catalog("heiman")
    options = SimulationOptions(record_interval=1e-2)
    record = run(actor.model, actor.q, None, 0.05, 1e-3, contact="implicit", options=options)
    folder = tmp_path_factory.mktemp("results") / "fallen"
    write_simulation(record, folder)
    return folder, record


def test_a_simulation_is_read_from_its_folder(fallen):
    folder, record = fallen
    actor = open_path(folder)
    np.testing.assert_allclose(actor.motion.q, record.q, atol=1e-8)
    np.testing.assert_allclose(actor.loads.tau, record.torques, atol=1e-6)
    assert actor.model == record.model


def test_a_folder_without_a_result_says_so(tmp_path):
    with pytest.raises(HomodynError, match=r"not a result folder: summary\.json is missing"):
        open_path(tmp_path)


def test_a_cut_table_names_the_line(fallen, tmp_path):
    folder, _ = fallen
    copy = tmp_path / "cut"
    copy.mkdir()
    for path in folder.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    text = (copy / "positions.csv").read_text().splitlines()
    (copy / "positions.csv").write_text("\n".join([*text[:3], text[3][:20]]))
    with pytest.raises(HomodynError, match=r"positions\.csv, line 4"):
        open_path(copy)


def test_a_reconstruction_is_read_from_its_folder(tmp_path, walk_document):
    actor = walk_document.actor
    model, motion = actor.model, actor.motion
    folder = tmp_path / "step"
    write_result(replace(actor, loads=None), folder)
    (folder / "markers.csv").unlink()
    (folder / "tracking.csv").write_text("coordinate,unit,mean,sd,rms,largest\n")
    time = motion.time[::13]
    knee = model.coordinate_index("KneeLeft_RY")
    torques = actor.loads.tau[::13, knee]
    write_csv(folder / "torques.csv", time, ["KneeLeft_RY (N m)"], torques[:, None])
    heads = [f"{side} {axis} (N)" for side in ("Right", "Left") for axis in "xyz"]
    write_csv(folder / "forces.csv", time, heads, np.tile([1.0, 2, 300, 4, 5, 600], (len(time), 1)))
    back = open_path(folder)
    np.testing.assert_allclose(back.motion.q, motion.q, atol=1e-8)
    np.testing.assert_allclose(back.loads.tau[::13, knee], torques, rtol=1e-8)
    assert not back.loads.tau[:, :6].any()
    right, left = back.loads.feet
    assert (right.body, left.body) == ("FootRight", "FootLeft")
    np.testing.assert_allclose(left.force[7], [4, 5, 600])
    heel = dynamics.position(model, motion.q[100], "FootLeft")
    assert np.linalg.norm(left.point[100] - heel) < 0.25
