"""Inertia of robot links against sums over many points."""

import numpy as np
import pytest

from homodyn.codesign.link_inertia import Construction, link_inertia


def test_a_triangle_with_two_joints_against_points():
    construction = Construction()
    joints = [(0.0, 0.0), (0.1, -0.3), (-0.2, -0.25)]
    carried = [(joints[1], 2.0), (joints[2], 0.5)]
    found = link_inertia(joints, carried, construction)

    rng = np.random.default_rng(1)
    masses, places = [], []
    share = (np.arange(4000) + 0.5)[:, None] / 4000
    for a, b in ((0, 1), (0, 2), (1, 2)):
        start, end = np.array(joints[a]), np.array(joints[b])
        length = np.linalg.norm(end - start)
        places.append(start + share * (end - start))
        masses.append(np.full(4000, 0.7 * length / 4000))
    for place, mass in carried:
        radius = 0.05 * np.sqrt((np.arange(20000) + 0.5) / 20000)
        angle = 2.399963 * np.arange(20000) + rng.uniform()
        disc = radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        places.append(np.array(place) + disc)
        masses.append(np.full(20000, mass / 20000))
    mass, place = np.concatenate(masses), np.concatenate(places)
    center = mass @ place / mass.sum()
    about = mass @ ((place - center) ** 2).sum(axis=1)

    assert float(found.mass) == pytest.approx(mass.sum(), rel=1e-9)
    assert np.allclose([float(x) for x in found.com], center, atol=1e-6)
    assert float(found.about_y) == pytest.approx(about, rel=1e-4)
    inertia = np.array([[float(found.spatial()[i, j]) for j in range(3)] for i in range(3)])
    assert np.allclose(np.diag(inertia), [about / 2, about, about / 2], rtol=1e-4)
