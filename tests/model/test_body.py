"""Homogeneous solids as bodies."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from homodyn.model import (
    box,
    capsule,
    cylinder,
    rod,
    sphere,
)


@pytest.mark.parametrize(
    ("body", "inertia"),
    [
        (box("b", 12.0, (1, 2, 3)), (13, 10, 5)),
        (sphere("b", 5.0, 2.0), (8, 8, 8)),
        (cylinder("b", 12.0, 1.0, 2.0), (7, 7, 6)),
        (cylinder("b", 12.0, 1.0, 2.0, axis="x"), (6, 7, 7)),
        (rod("b", 12.0, (0, 0, 0), (0, 2, 0)), (4, 0, 4)),
        (capsule("b", 5.0, 2.0, 0.0), (8, 8, 8)),
    ],
)
def test_solids_have_their_textbook_inertia(body, inertia):
    assert_allclose(body.inertia, np.diag(inertia), atol=1e-12)


def test_capsule_inertia_equals_sampled_volume():
    rng = np.random.default_rng(0)
    points = rng.uniform(-1, 1, (400_000, 3)) * [0.3, 0.3, 0.8]
    beyond = np.maximum(np.abs(points[:, 2]) - 0.5, 0)
    inside = points[points[:, 0] ** 2 + points[:, 1] ** 2 + beyond**2 < 0.09]
    squares = (inside**2).mean(axis=0)
    body = capsule("c", 1.0, 0.3, 1.0)
    assert_allclose(np.diag(body.inertia), squares.sum() - squares, rtol=5e-3)
