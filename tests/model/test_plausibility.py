"""Implausible values of valid models."""

from dataclasses import replace

from homodyn.model import (
    Assembly,
    Coordinate,
    joints,
    sphere,
)
from homodyn.model.functions import Spline
from homodyn.model.plausibility import implausibilities
from support.small_models import two_links

GOOD = two_links()


def test_implausibilities_list_what_no_real_body_has():
    odd = (
        Assembly("odd")
        .add("toes", joints.revolute("y", lower=0.1, upper=1), mass=0.2, inertia=(1e-4, 2e-4, 1e-3))
        .add(sphere("ball", 1.0, 0.1), joints.custom(joints.turn("x", 0, Spline((0, 1), (0, 1)))))
        .add("wheel", joints.revolute("x"), inertia=(1, 1, 1))
        .model(as_measured=True)
    )
    odd = replace(
        odd,
        joints=(
            odd.joints[0],
            replace(odd.joints[1], coordinates=(Coordinate("ball", lower=0, upper=2),)),
            odd.joints[2],
        ),
    )
    text = "\n".join(implausibilities(odd))
    assert "the largest exceeds the sum of the others" in text
    assert "default 0 is outside its range 0.1 to 1" in text
    assert "its spline has knots from 0 to 1 only" in text
    assert "'wheel' has inertia but no mass" in text
    assert implausibilities(GOOD) == []
