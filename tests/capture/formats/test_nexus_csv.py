"""CSV exports of Vicon Nexus."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.errors import FormatError

HEAD = "Trajectories\n100\n,,Anna:LHEE,,,Anna:C7,,,Anna:LTOE,,\nFrame,Sub Frame,X,Y,Z,X,Y,Z,X,Y,Z\n"
UNITS = ",,mm,mm,mm,mm,mm,mm,mm,mm,mm\n"
ROWS = "5,0,0,0,100,10,20,1500,200,0,80\n6,0,1,0,100,,,,200,0,80\n"


def test_frame_and_sub_frame_and_units(tmp_path):
    file = tmp_path / "walk.csv"
    file.write_text("Devices\n1000\nFrame,Sub Frame,Fx\n,,N\n5,0,1\n\n" + HEAD + UNITS + ROWS)
    trial = hd.capture.read(file)
    assert trial.markers == ("Anna:LHEE", "Anna:C7", "Anna:LTOE")
    assert (trial.rate, trial.first_frame, trial.start) == (100.0, 5, 0.04)
    np.testing.assert_allclose(trial.marker("Anna:C7")[0], [0.01, 0.02, 1.5])
    assert not trial.seen[1, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + UNITS, "no rows of numbers"),
        (HEAD + UNITS + ROWS + "9,0,0,0,100,10,20,1500,200,0,80\n", "not consecutive"),
        ("Trajectories\n100\nA,B\n1,2\n3,4\n", "no line of axes"),
    ],
)
def test_damaged_exports_are_refused(tmp_path, text, message):
    file = tmp_path / "walk.csv"
    file.write_text(text)
    with pytest.raises(FormatError, match=message):
        hd.capture.read(file)
