"""Springs as parts of a problem, with numbers or with unknowns for them."""

import numpy as np
import pytest

import homodyn.optimal as oc
from homodyn.errors import HomodynError
from homodyn.optimal.statement.springs import spring_force
from support.optimal import block


def half_swing(spring, duration=0.5, parameters=None, transcription="collocation"):
    """The block from 1 m to -1 m, at rest on both ends, with the least force."""
    phase = oc.Phase(
        "swing",
        duration,
        terms=[oc.torque()],
        start={"q": {"box": 1.0}, "v": {"box": 0.0}},
        end={"q": {"box": -1.0}, "v": {"box": 0.0}},
        intervals=8,
    )
    problem = oc.Problem(block(), [phase], parameters or {}, springs=[spring])
    return problem.solve(transcription)


@pytest.mark.parametrize("transcription", ["collocation", "multiple_shooting"])
def test_a_block_on_the_right_spring_needs_no_force(transcription):
    # Half a period of 1 kg on pi^2 / T^2 N/m lasts T.
    spring = oc.Spring("box", np.pi**2 / 0.5**2)
    solution = half_swing(spring, transcription=transcription)
    assert solution.status is oc.SolveStatus.SOLVED
    assert solution.objective < 1e-6
    assert half_swing(oc.Spring("box", 10.0)).objective > 100


def test_stiffness_is_found_when_it_is_unknown():
    stiffness = oc.FreeParameter(0.0, 100.0, 10.0)
    spring = oc.Spring("box", "k", rest=0.0, damping=0.0)
    solution = half_swing(spring, parameters={"k": stiffness})
    assert solution.status is oc.SolveStatus.SOLVED
    assert solution.parameters["k"] == pytest.approx(np.pi**2 / 0.25, rel=1e-3)


def test_dampers_take_power_and_mirrored_rests_change_sign():
    spring = oc.Spring("box", 10.0, rest=0.4, damping=2.0, sign=-1.0)
    force = spring_force([spring], block(), np.array([0.1]), np.array([0.5]), {})
    assert float(force[0]) == pytest.approx(10 * (-0.4 - 0.1) - 2 * 0.5)


def test_a_spring_with_an_unknown_parameter_is_refused():
    with pytest.raises(HomodynError, match=r"spring of 'box'.*no parameter 'k'"):
        half_swing(oc.Spring("box", "k"))
