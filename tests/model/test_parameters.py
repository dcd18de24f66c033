"""Numbers of records: coercion and refusals."""

import casadi as ca
import numpy as np
import pytest

from homodyn.errors import ModelError
from homodyn.model import (
    Body,
    Frame,
    Joint,
    JointAxis,
    Marker,
)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Body("b", mass="heavy"), "body 'b': mass must be a number, got 'heavy'"),
        (lambda: Body("b", com=(1, 2)), "com must be 3 numbers"),
        (lambda: Body("b", inertia=np.eye(2)), "inertia must be 3 x 3 numbers"),
        (lambda: Body("b", inertia=[[1, 0], [0], 1]), "inertia must be 3 x 3 numbers"),
        (lambda: Body("b", inertia=["a", "b", "c"]), "inertia must be 3 x 3 numbers"),
        (lambda: Marker("m", "b", position="there"), "marker 'm': position must be 3 numbers"),
        (lambda: Joint("j", "a", "b", "fixed", placement="x"), "placement must be a Transform"),
        (lambda: JointAxis("turn", (1, 0)), "axis must be 3 numbers"),
        (lambda: Body("b", mass=ca.MX.sym("m")), "mass must be a number"),
    ],
)
def test_records_refuse_what_is_not_their_number(make, words):
    with pytest.raises(ModelError, match=words):
        make()


def test_lists_and_integers_become_read_only_arrays_and_floats():
    body = Body("b", 1, [0, 0, 1], [1, 1, 1])
    assert isinstance(body.mass, float)
    assert body.inertia.shape == (3, 3)
    with pytest.raises(ValueError, match="read-only"):
        body.com[0] = 1
    frame = Frame("f", "b", (0, 0, 1))
    assert frame.placement.r.dtype == float
    assert not frame.placement.E.flags.writeable
