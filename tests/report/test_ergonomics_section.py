"""Ergonomics on a page."""

import json
from pathlib import Path

import numpy as np
import pytest

import homodyn as hd
from homodyn.motion import motion_from_states
from homodyn.plan.ergonomics import ErgonomicAssessment, assess
from homodyn.report.ergonomics_section import (
    ergonomics_figures,
    ergonomics_section,
    write_ergonomics,
)


@pytest.fixture(scope="module")
def bending() -> ErgonomicAssessment:
    model = hd.catalog.manikin()
    q = np.repeat(model.neutral()[None], 30, axis=0)
    place = model.position_index[model.coordinate_index("torso_flexion")]
    q[:, place] = np.linspace(0, 0.8, 30)
    tau = np.zeros((30, model.nv))
    tau[:, model.coordinate_index("right_knee_flexion")] = -40.0
    time = 0.05 * np.arange(30)
    return assess(motion_from_states(model, time, q, np.zeros((30, model.nv)), tau=tau))


def test_the_section_has_scores_pictures_and_tables(bending: ErgonomicAssessment) -> None:
    text = ergonomics_section(bending)
    for words in ("Worst instants", "Anderson 2007", "Reach:", "RULA", "REBA", "<svg"):
        assert words in text
    assert [len(figure.panels) for figure in ergonomics_figures(bending)] == [2, 4]


def test_the_folder_is_complete(bending: ErgonomicAssessment, tmp_path: Path) -> None:
    files = write_ergonomics(bending, tmp_path / "out")
    assert {path.name for path in files} == {path.name for path in (tmp_path / "out").iterdir()}
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["sentence"] == bending.sentence
    table = np.genfromtxt(tmp_path / "out" / "ergonomics.csv", delimiter=",", skip_header=1)
    np.testing.assert_allclose(table[:, 1], bending.rula.score)
    with pytest.raises(hd.FormatError):
        write_ergonomics(bending, tmp_path / "out")
