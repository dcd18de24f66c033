"""The folder of a simulation: curves by side and with clinical names, files and replay."""

import json

import numpy as np
import pytest

from homodyn import catalog
from homodyn.report.colors import SIDE_COLORS
from homodyn.report.simulation_folder import (
    position_names,
    simulation_figure,
    simulation_page,
    write_simulation,
)
from homodyn.simulate import PD, SimulationOptions, place_on_ground, run
from support.pages import read


@pytest.fixture(scope="module")
def record():
    model = catalog.heiman()
    q = place_on_ground(model, model.neutral(), 0.0)
    servos = PD(300.0, 30.0, target=q, stable=True)
    options = SimulationOptions(record_interval=1e-2)
    return run(model, q, None, 0.05, 1e-3, contact="implicit", actuation=servos, options=options)


def curves(plot):
    return {line.get_label(): line for line in plot.lines if not line.get_label().startswith("_")}


def test_contact_forces_have_the_color_of_their_side(record):
    force, _, _ = simulation_figure(record).axes
    lines = curves(force)
    assert "total" in lines
    for name, line in lines.items():
        if name != "total":
            side = "right" if "Right" in name else "left"
            assert line.get_color() == SIDE_COLORS[side], name


def test_coordinates_have_clinical_names_and_signs(record):
    model = record.model
    _, _, joints = simulation_figure(record).axes
    lines = curves(joints)
    assert not any(name.startswith(("Knee", "Ankle", "Hip")) for name in lines)
    column = model.coordinate_index("AnkleRight_RY")
    expected = -(record.q[:, column] - record.q[0, column])
    np.testing.assert_allclose(lines["Right ankle dorsiflexion"].get_ydata(), expected)
    assert lines["Right ankle dorsiflexion"].get_color() == SIDE_COLORS["right"]


def test_the_page_is_complete_and_its_forces_have_sides(record):
    page = simulation_page(record)
    reader = read(page)
    assert reader.faults == []
    assert all(reference.startswith("#") for reference in reader.references)
    data = json.loads(page.split('id="replay-data">')[1].split("</script>")[0])
    assert {foot["side"] for foot in data["feet"]} == {"right", "left"}


def test_all_files_are_written(record, tmp_path):
    paths = write_simulation(record, tmp_path / "run")
    assert all(path.stat().st_size > 0 for path in paths)
    header = (tmp_path / "run" / "positions.csv").read_text().splitlines()[0].split(",")
    assert header[1:] == position_names(record.model)


def test_entries_of_quaternions_are_named():
    names = position_names(catalog.hdm())
    assert len(names) == len(set(names)) == catalog.hdm().nq
    assert [name for name in names if name.endswith(" qw")]
