"""Classical criteria: where they agree, what each of them ignores, and the inertia of the foot."""

from dataclasses import replace

import numpy as np
import pytest

from homodyn.balance import Stance, SupportPhase, evaluate, sole_contact
from homodyn.balance.criteria import classical_criteria, foot_inertia
from homodyn.balance.wrenches import point_mass_wrench, whole_body_wrench
from support.swaying_human import swaying

FOOT = {"size": (0.28, 0.12), "friction": 0.7}


def test_the_inertia_of_all_bodies_is_the_required_wrench():
    motion = swaying(7)
    force, moment = foot_inertia(motion, motion.model.body_names)
    required = whole_body_wrench(motion)
    weight = motion.model.mass * np.asarray(motion.model.gravity)
    assert force - weight == pytest.approx(required.force, abs=1e-6)
    assert moment - np.cross(required.com, weight) == pytest.approx(required.moment, abs=1e-6)


def test_the_classical_criteria_agree_where_they_should():
    """At rest on level ground CoM, ZMP, CMP, FRI and XCoM coincide, and so do all criteria."""
    stance = Stance(
        (sole_contact("left", (0, 0.1, 0), **FOOT), sole_contact("right", (0, -0.1, 0), **FOOT))
    )
    rng = np.random.default_rng(0)
    com = rng.uniform(-0.25, 0.25, (60, 3)) + np.array([0, 0, 0.9])
    at_rest = point_mass_wrench(
        np.arange(60.0), com, np.zeros((60, 3)), mass=60, velocity=np.zeros((60, 3))
    )
    criteria = classical_criteria(at_rest, stance)
    for name in ("zmp", "cmp", "fri", "xcom"):
        assert getattr(criteria, name) == pytest.approx(criteria.com_projection, abs=1e-9)
    assert ((criteria.cwc >= 0) == (criteria.com_projection >= 0)).all()
    assert 5 < (criteria.cwc >= 0).sum() < 55


def test_each_criterion_ignores_some_limits():
    stance = Stance((sole_contact("foot", (0, 0, 0), size=(0.28, 0.12), friction=0.2),), 700)
    com, time = np.array([[0.0, 0.0, 0.3]]), np.zeros(1)
    slipping = point_mass_wrench(
        time, com, np.array([[3.0, 0, 0]]), mass=60, velocity=np.zeros((1, 3))
    )
    criteria = classical_criteria(slipping, stance)
    # The ZMP ignores friction; the wrench cone does not.
    assert criteria.zmp[0] > 0
    assert criteria.cwc[0] < 0
    heavy = point_mass_wrench(
        time, com, np.array([[0, 0, 3.0]]), mass=60, velocity=np.zeros((1, 3))
    )
    criteria = classical_criteria(heavy, stance)
    # The cone ignores that the support gives at most 700 N.
    assert criteria.cwc[0] > 0
    assert evaluate(heavy, [SupportPhase(stance, 0, 1)]).wrench[0] < 0
    moving = point_mass_wrench(
        time, com, np.zeros((1, 3)), mass=60, velocity=np.array([[1.5, 0, 0]])
    )
    criteria = classical_criteria(moving, stance)
    assert criteria.zmp[0] > 0 > criteria.xcom[0]
    turning = replace(moving, moment=moving.moment + np.array([0, 20.0, 0]), kind="whole body")
    criteria = classical_criteria(turning, stance)
    # The moment pivot stays under the center of mass, the ZMP moves by moment over weight.
    assert criteria.cmp_position[0] == pytest.approx([0, 0])
    assert criteria.zmp_position[0] == pytest.approx([-20 / (60 * 9.81), 0])
    foot = (np.array([[10.0, 0, 0]]), np.zeros((1, 3)))
    assert classical_criteria(turning, stance, foot=foot).fri[0] == pytest.approx(criteria.zmp[0])
