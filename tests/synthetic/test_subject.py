"""Random subjects keep stature and mass and differ in proportions."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.synthetic.subject import random_subject


def test_a_subject_keeps_stature_and_mass_but_not_proportions():
    rng = np.random.default_rng(0)
    usual = hd.catalog.heiman(height=1.7, mass=65, sex="female")
    person = random_subject(height=1.7, mass=65, sex="female", rng=rng)
    assert person.mass == pytest.approx(65)
    top = hd.dynamics.position(person, person.neutral(), "Head")[2]
    assert top == pytest.approx(hd.dynamics.position(usual, usual.neutral(), "Head")[2], abs=1e-9)
    thigh = [
        np.linalg.norm(next(j for j in m.joints if j.name == "KneeLeft").placement.r)
        for m in (usual, person)
    ]
    assert 0.001 < abs(thigh[0] - thigh[1]) < 0.03
