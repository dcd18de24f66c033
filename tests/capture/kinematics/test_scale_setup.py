"""Reading setup files of OpenSim's ScaleTool."""

from pathlib import Path

import numpy as np
import pytest

from homodyn.capture.kinematics import read_scale_setup
from homodyn.errors import FormatError

from .scale_setups import write_setup

SHANK = {"shank": ([("RKNE", "RTIB"), ("LKNE", "LTIB")], {"ShankRight": "XZ", "ShankLeft": "Z"})}


def test_a_setup_is_read_as_it_is_written(tmp_path: Path) -> None:
    path = write_setup(
        tmp_path / "setup.xml", SHANK, {"RKNE": 3}, manual={"Head": (1, 1.1, 0.9)}, mass=71.5
    )
    setup = read_scale_setup(path)
    assert setup.mass == 71.5
    assert setup.order == ("measurements", "manualScale")
    assert setup.measured_interval == setup.pose_interval == (0.0, 0.1)
    assert setup.move_markers
    assert not setup.keep_shares
    assert not setup.marker_set
    (shank,) = setup.measurements
    assert shank.name == "shank"
    assert shank.pairs == (("RKNE", "RTIB"), ("LKNE", "LTIB"))
    assert dict(shank.axes) == {"ShankRight": "xz", "ShankLeft": "z"}
    np.testing.assert_array_equal(setup.manual_scales["Head"], [1, 1.1, 0.9])


def test_open_intervals_masses_and_steps_that_are_not_listed_are_left_out(tmp_path: Path) -> None:
    path = write_setup(
        tmp_path / "setup.xml", SHANK, {}, manual={"Head": (1, 1, 1)}, order="", interval="-1 -1"
    )
    setup = read_scale_setup(path)
    assert setup.mass is None
    assert setup.measured_interval is None
    assert setup.measurements == ()
    assert not setup.manual_scales


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("ScaleTool", "OtherTool", "no <ScaleTool>"),
        ("<axes> X Z</axes>", "<axes> X W</axes>", "axes X, Y or Z"),
        ("<markers> RKNE RTIB</markers>", "<markers> RKNE</markers>", "two names of markers"),
        ("measurements manualScale", "measurements guess", "'guess' is no step of scaling"),
        ("1.1", "-1.1", "scale factors above 0"),
        ("<time_range>0 0.1</time_range>", "<time_range>0</time_range>", "two times"),
    ],
)
def test_what_is_not_valid_is_refused_with_its_place(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    path = write_setup(tmp_path / "setup.xml", SHANK, {}, manual={"Head": (1, 1.1, 0.9)})
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(FormatError, match=words):
        read_scale_setup(path)
