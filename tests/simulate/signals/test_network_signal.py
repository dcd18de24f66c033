"""Networks as signals: against runs of the network alone, feedback, and refusals."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.errors import ModelError
from homodyn.model import Assembly, joints, rod
from homodyn.simulate import run
from homodyn.simulate.signals import NetworkSignal

STEP_S = 1e-3


@pytest.fixture(scope="module")
def arm():
    body = rod("arm", 1, (0, 0, 0), (0, 0, -0.4))
    return Assembly("arm").add(body, joints.revolute("y")).model()


def signals_of(arm, signals, duration=0.5):
    result = run(
        arm, [0.3], duration=duration, dt=STEP_S, contact=None, signals=signals, compiled=False
    )
    return result


def test_a_network_advances_as_it_does_alone(arm):
    network = hd.network.parse('require "leg_oscillators.cdn"')
    network.set({"frequency": 0.9, "feedback": 2.0, "right_load": 0.7})
    alone = network.run(0.5, STEP_S)
    result = signals_of(arm, {"phases": NetworkSignal(network, ("right.p", "left.p"))})
    for k, name in enumerate(("right.p", "left.p")):
        both = result.signals["phases"][: len(alone.t), k], alone[name][: len(result.time)]
        assert np.abs(both[0] - both[1][: len(both[0])]).max() < 1e-9


def test_inputs_are_functions_of_the_state_and_earlier_signals(arm):
    network = hd.network.parse('node "leak" { x = 0\n drive = 1\n x\' = "drive - 5 * x" }')
    signals = {
        "angle": lambda t, q, v, batch: q[0],
        "leak": NetworkSignal(network, ("leak.x",), {"leak.drive": "angle"}),
    }
    result = signals_of(arm, signals)
    x, expected = 0.0, []
    for q in result.q[:, 0]:
        expected.append(x)
        x += STEP_S * (q - 5 * x)
    assert result.signals["leak"].ravel() == pytest.approx(np.array(expected), abs=1e-12)


@pytest.mark.parametrize(
    ("text", "outputs", "inputs", "words"),
    [
        ('node "a" { x = 0 x\' = "1" }', ("a.y",), {}, "variable of the network 'a.y'"),
        ('node "a" { x = 0 x\' = "1" }', ("a.x",), {"a.k": 1.0}, "parameter of the network 'a.k'"),
        ('node "a" { x = "rand(0, 1)" x\' = "1" }', ("a.x",), {}, "random numbers"),
    ],
)
def test_what_cannot_be_a_signal_is_refused(text, outputs, inputs, words):
    with pytest.raises(ModelError, match=words):
        NetworkSignal(hd.network.parse(text), outputs, inputs)
