"""Walking without a robot and in an anthropomorphic one."""

import numpy as np
import pytest

from homodyn.catalog import winter_human
from homodyn.codesign import WalkingTask
from homodyn.codesign.reference_walker import ReferenceStudy, anthropomorphic_person
from homodyn.dynamics import center_of_mass, mass_matrix
from homodyn.search import PSO


def test_the_anthropomorphic_robot_has_the_masses_of_its_parts():
    person = winter_human()
    worn = anthropomorphic_person(person)
    thigh, shank = 0.954 - 0.513, 0.513 - 0.039 * 1.8
    actuators, pins, bars = 2 * 2.0, 2 * 0.5, 0.7 * (thigh + shank / 2)
    added = 2 * (actuators + pins + bars)
    assert worn.mass - person.mass == pytest.approx(added)
    heights = [0.954, 0.513, 0.513 + thigh / 2, 0.513 - shank / 2, 0.954 - thigh / 2]
    heights.append(0.513 - shank / 4)
    weights = [2.0, 2.0, 0.5, 0.5, 0.7 * thigh, 0.7 * shank / 2]
    moment = 2 * np.dot(weights, heights)
    old = center_of_mass(person, person.neutral())[2]
    new = center_of_mass(worn, worn.neutral())[2]
    assert new == pytest.approx((70 * old + moment) / (70 + added), abs=1e-9)
    change = mass_matrix(worn, worn.neutral()) - mass_matrix(person, person.neutral())
    assert np.linalg.eigvalsh(change).min() > -1e-9


def test_a_short_search_improves():
    study = ReferenceStudy(
        task=WalkingTask(duration=0.2), optimizer=PSO.with_constriction(8), iterations=3
    )
    assert len(study.space.names) == 57
    found = study.search(1)
    assert (found.evaluations, found.failed) == (24, 0)
    rows = study.evaluate_batch(
        np.array([[found.best.parameters[name] for name in study.space.names]])
    )
    assert rows[0, 1] == found.best.objectives["walking"]
