"""Assemblies: models under construction."""

import pytest

from homodyn.errors import ModelError
from homodyn.model import (
    Assembly,
    joints,
    sphere,
)


def test_an_unfinished_assembly_is_a_value():
    start = Assembly("a").add("base", joints.fixed())
    one = start.add(sphere("x", 1, 1), joints.revolute("x"))
    two = start.add(sphere("y", 1, 1), joints.revolute("x"))
    assert one.model().body_names == ("base", "x")
    assert two.model().body_names == ("base", "y")
    with pytest.raises(ModelError, match="takes no weight; accepted: mass, com, inertia"):
        start.add("b", joints.fixed(), weight=3)
