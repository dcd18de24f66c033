"""Arguments of another type are refused with the accepted types."""

from types import SimpleNamespace

import numpy as np
import pytest

import homodyn as hd
from homodyn.errors import HomodynError
from homodyn.foundation.arguments import require_type


def test_accepted_types_and_their_subclasses_pass():
    require_type("count", True, int)
    require_type("value", 1.5, int, float)


def test_other_types_are_refused_by_name():
    with pytest.raises(HomodynError, match=r"^count is of type str; accepted: int, float$"):
        require_type("count", "3", int, float)


def test_a_result_that_holds_what_is_accepted_names_its_field():
    model = hd.catalog.heiman()
    rows = np.zeros((2, model.nq))
    motion = hd.motion.Motion(model, np.arange(2.0), rows, rows, rows)
    result = SimpleNamespace(motion=motion)
    with pytest.raises(HomodynError, match=r"accepted: Motion, such as its field 'motion'$"):
        hd.gait.measures(result)


TRIAL = hd.capture.Trial("trial", ("A",), np.zeros((2, 1, 3)), 100.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda model: hd.capture.match_labels(TRIAL, model), "model is of type Trial"),
        (lambda model: hd.capture.match_geometry(TRIAL, model), "model is of type Trial"),
        (lambda model: hd.capture.scale(TRIAL, model), "model is of type Trial"),
        (lambda model: hd.capture.calibrate(TRIAL, model), "model is of type Trial"),
        (
            lambda model: hd.capture.inverse_kinematics(TRIAL, model),
            "model is of type Trial; accepted: Model, ScalingResult",
        ),
        (lambda model: hd.capture.inverse_dynamics(TRIAL), "motion is of type Trial"),
        (lambda model: hd.capture.check_health(model), "trial is of type Model; accepted: Trial"),
        (lambda model: hd.gait.measures(TRIAL), "motion is of type Trial; accepted: Motion"),
        (
            lambda model: hd.report.write("report.html", TRIAL),
            "motion is of type Trial; accepted: Motion",
        ),
        (lambda model: hd.balance.margins(TRIAL), "motion is of type Trial; accepted: Motion, Mod"),
        (lambda model: hd.simulate.run(model.neutral(), model), "model is of type ndarray"),
        (lambda model: hd.simulate.rollout(model.neutral(), model), "model is of type ndarray"),
    ],
)
def test_exchanged_arguments_are_reported(call, message):
    with pytest.raises(HomodynError, match=message):
        call(hd.catalog.hdm())
