"""The folder of a study of stimulation."""

import json

import numpy as np
import pytest

import homodyn as hd
from homodyn.report.stimulation_folder import (
    stimulation_figures,
    stimulation_page,
    write_stimulation,
)
from homodyn.simulate.stimulation_studies import swing_up_knee


@pytest.fixture(scope="module")
def study():
    return swing_up_knee(0.2)


def test_the_folder_is_complete_and_not_replaced_unasked(study, tmp_path):
    folder = tmp_path / "swing"
    files = write_stimulation(study, folder)
    assert all(path.is_file() for path in files)
    assert {path.name for path in files} == {path.name for path in folder.iterdir()}
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["sentence"] == study.sentence
    assert summary["muscles"]["right_knee_quadriceps"]["impulses"] == 6
    table = np.genfromtxt(folder / "stimulation.csv", delimiter=",", skip_header=1)
    np.testing.assert_allclose(table[:, 1:3], study.stimulation.phases)
    assert hd.load(folder / "model.toml").coordinate_names == ("right_knee_extension",)
    with pytest.raises(hd.FormatError):
        write_stimulation(study, folder)
    write_stimulation(study, folder, overwrite=True)


def test_the_page_has_a_panel_for_each_quantity(study):
    figures = stimulation_figures(study)
    assert [figure.name for figure in figures] == ["phase", "recruitment", "force", "angle"]
    assert [len(figure.panels) for figure in figures] == [2, 2, 2, 1]
    page = stimulation_page(study)
    for text in ("replay-data", "Assumptions", "right knee quadriceps", study.assumptions[0]):
        assert text in page
