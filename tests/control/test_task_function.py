"""V37 and V38 on the task function of Bip (HuMAnS, section 8.1)."""

from typing import Any

import casadi as ca
import numpy as np
import pytest

import homodyn as hd
from homodyn.control import InverseStatus, KinematicPoint, TaskFunction
from homodyn.errors import ModelError
from homodyn.model import Model

TRUNK = ("trunk_bottom_right", "trunk_bottom_left", "trunk_top_right")


@pytest.fixture(scope="module")
def bip() -> Model:
    return hd.catalog.bip()


def bip_values(point: KinematicPoint) -> Any:
    """Center of mass to ankles in the pelvis, trunk in the feet, then trunk joints and root."""
    to_pelvis = point.rotation("pelvis").T
    parts = [
        to_pelvis @ (point.center_of_mass - point.position(ankle))
        for ankle in ("right_ankle", "left_ankle")
    ]
    a, b, c = (point.position(name) for name in TRUNK)
    for foot in ("right_foot", "left_foot"):
        to_foot = point.rotation(foot).T
        across, up = to_foot @ (a - b), to_foot @ (c - a)
        parts.append(ca.vertcat(across[0], across[2], up[0]))
    return ca.vertcat(*parts, point.q[18:21], point.q[0:6])


@pytest.fixture(scope="module")
def function(bip: Model) -> TaskFunction:
    return TaskFunction(bip, bip_values)


def test_v37_the_jacobian_equals_differences(bip: Model, function: TaskFunction) -> None:
    rng = np.random.default_rng(1)
    q, v = bip.neutral() + 0.2 * rng.normal(size=21), rng.normal(size=21)
    h = 1e-6
    ahead, back = (function.value(bip.integrate(q, s * h * v)) for s in (1, -1))
    np.testing.assert_allclose((ahead - back) / (2 * h), function.jacobian(q) @ v, atol=1e-7)


def test_v37_second_derivatives_follow_equation_8_2(bip: Model, function: TaskFunction) -> None:
    rng = np.random.default_rng(2)
    q = bip.neutral() + 0.2 * rng.normal(size=21)
    v, a = rng.normal(size=(2, 21))
    h = 1e-4

    def rate(t: float) -> np.ndarray:
        at = np.asarray(bip.integrate(q, t * v + t**2 / 2 * a))
        return np.asarray(function.jacobian(at) @ (v + t * a))

    expected = (rate(h) - rate(-h)) / (2 * h)
    np.testing.assert_allclose(function.jacobian(q) @ a + function.bias(q, v), expected, atol=1e-5)


def test_v38_the_inverse_returns_the_pose(bip: Model, function: TaskFunction) -> None:
    rng = np.random.default_rng(3)
    for _ in range(3):
        q = bip.neutral() + 0.3 * rng.uniform(size=21)
        start = q + 0.03 * rng.normal(size=21)
        found = function.inverse(function.value(q), start)
        assert found.status is InverseStatus.SOLVED
        np.testing.assert_allclose(found.q, q, atol=1e-8)


def test_values_out_of_reach_are_said(bip: Model, function: TaskFunction) -> None:
    values = function.value(bip.neutral())
    values[0] += 50.0
    found = function.inverse(values, bip.neutral())
    assert found.status is InverseStatus.STOPPED
    assert found.error > 1.0


def test_wrong_shapes_are_refused(bip: Model, function: TaskFunction) -> None:
    with pytest.raises(ModelError, match="values are 21 finite numbers"):
        function.inverse(np.zeros(4), bip.neutral())
    with pytest.raises(ModelError, match="q0 is 21"):
        function.inverse(np.zeros(21), np.zeros(2))
    with pytest.raises(ModelError, match="returns a column"):
        TaskFunction(bip, lambda point: point.rotation("pelvis"))
