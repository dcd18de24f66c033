"""Constants of contact laws: per contact, per batch element, and refusals."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.simulate import EventDrivenContact, SoftContact, TimeStepping, rollout, run


def test_constants_differ_by_contact():
    model = (
        hd.model.Assembly("table")
        .add(hd.model.box("table", 10.0, (1, 1, 0.1)), hd.joints.prismatic("z"))
        .contact("soft_leg", "table", position=(0.5, 0, -0.5))
        .contact("hard_leg", "table", position=(-0.5, 0, -0.5))
        .model()
    )
    law = SoftContact({"soft_leg": 1e4, "*": 3e4}, 200.0)
    rest = run(model, [0.5], None, 2.0, contact=law)
    assert rest.force("hard_leg")[-1, 2] == pytest.approx(3 * rest.force("soft_leg")[-1, 2])
    with pytest.raises(hd.ModelError, match="hard_leg"):
        run(model, [0.5], None, 0.1, contact=SoftContact({"soft_leg": 1e4}))


def test_constants_of_laws_can_be_batch_parameters(ball):
    q = ball.neutral()
    q[2] = 0.1
    k = np.array([1e3, 1e4, 5e4])
    result = rollout(ball, q, None, 3.0, contact=SoftContact("k", 60.0), batch_parameters={"k": k})
    np.testing.assert_allclose(0.1 - result.q[:, 2], 9.81 / k, rtol=1e-3)


def test_invalid_constants_are_refused(ball):
    with pytest.raises(
        hd.ModelError, match="friction is given for heel: no contact 'heel'; accepted: skin"
    ):
        run(ball, ball.neutral(), contact=SoftContact(friction={"heel": 0.3, "*": 0.2}))
    for law in (
        SoftContact(stiffness=np.inf),
        TimeStepping(friction=np.inf),
        EventDrivenContact(friction=-1.0),
    ):
        with pytest.raises(hd.ModelError, match="'skin' must be finite and not negative"):
            run(ball, ball.neutral(), contact=law)
    with pytest.raises(hd.ModelError, match="k is not"):
        run(ball, ball.neutral(), contact=SoftContact("k"), batch_parameters={"k": np.inf})
