"""Motors of a leg: numbers of a motor, and gains that switch in the cycle."""

import casadi as ca
import numpy as np
import pytest

from homodyn.codesign import DriveBounds
from homodyn.codesign.drive import (
    drive_names,
    drive_parameters,
    drive_signals,
    in_window,
    phase_signals,
)
from homodyn.model.side import Side


def test_a_motor_of_table_5_2_has_19_numbers():
    parameters = drive_parameters("joint 3", DriveBounds(-np.pi, np.pi, 0.6))
    assert [one.name for one in parameters] == drive_names("joint 3", 5)
    assert len(parameters) == 19
    by_name = {one.name: one for one in parameters}
    assert by_name["joint 3 target y5"].upper == np.pi
    assert by_name["joint 3 target y5"].start == (-0.6, 0.6)
    assert (by_name["joint 3 stiffness 1"].upper, by_name["joint 3 damping 2"].upper) == (12e3, 60)


@pytest.mark.parametrize(
    ("phase", "start", "share", "inside"),
    [(0.3, 0.2, 0.2, 1), (0.5, 0.2, 0.2, 0), (0.05, 0.9, 0.2, 1), (0.2, 0.9, 0.2, 0)],
)
def test_windows_go_across_the_end_of_the_cycle(phase, start, share, inside):
    batch = {name: ca.SX(x) for name, x in {"p": phase, "k start": start, "k share": share}.items()}
    assert int(ca.DM(in_window(batch, "k", "p"))) == inside


def test_legs_are_in_antiphase_and_share_their_numbers():
    phases = phase_signals(0.9)
    assert phases["left phase"].start == 0.5
    left = drive_signals("ankle", Side.LEFT, 5)["left ankle target"]
    right = drive_signals("ankle", Side.RIGHT, 5)["right ankle target"]
    assert (left.phase, right.phase) == ("left phase", "right phase")
    assert left.values == right.values == tuple(f"ankle target y{k}" for k in range(1, 6))
