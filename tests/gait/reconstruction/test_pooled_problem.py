"""One body for several steps: shared contact points, one mass, one problem."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.errors import CaptureError, HomodynError
from homodyn.gait.reconstruction import (
    pooled_problem,
    prepare_step,
    reconstruction_problem,
    share_body,
)
from homodyn.gait.reconstruction.load_sharing import LOAD_TRANSFER
from homodyn.gait.reconstruction.pooled_problem import model_difference, with_mass

MASS = 70.0


@pytest.fixture(scope="module")
def walks():
    """Two walks of a person at different speeds, on plates."""
    return [
        hd.synthetic.walking_trial(
            noise=0.0, gaps=0.0, strides=2, plates=2, variation=0.0, mass=MASS, speed=speed
        ).truth
        for speed in (1.1, 1.4)
    ]


@pytest.fixture(scope="module")
def steps(walks):
    return [
        prepare_step(walk.motion, walk.loads, events=walk.events, fit_contacts=False)
        for walk in walks
    ]


def test_a_wrong_mass_is_replaced_where_plates_decide_it(steps):
    heavy = with_mass(steps[0].motion.model, 90.0)
    wrong = [replace(step, motion=replace(step.motion, model=heavy)) for step in steps]
    wrong = [replace(s, loads=replace(s.loads, motion=s.motion)) for s in wrong]
    shared = share_body(wrong, mass_from_plates=True)
    for step in shared:
        assert step.motion.model.mass == pytest.approx(MASS, rel=0.005)
        assert step.loads.motion.model.mass == step.motion.model.mass
    body, original = shared[0].motion.model.bodies[2], steps[0].motion.model.bodies[2]
    np.testing.assert_allclose(body.inertia / body.mass, original.inertia / original.mass)
    assert share_body(wrong)[0].motion.model.mass == pytest.approx(90.0)
    unmeasured = [replace(step, loads=None) for step in wrong]
    assert share_body(unmeasured, mass_from_plates=True)[0].motion.model.mass == pytest.approx(90.0)


def test_contact_points_are_those_of_all_steps(steps):
    places = []
    for chosen in (steps[:1], steps[1:], steps):
        shared = share_body(chosen)
        contacts = {c.name: np.asarray(c.position) for c in shared[0].motion.model.contacts}
        places.append(contacts["HeelRight"])
        assert len({s.motion.model.contacts for s in shared}) == 1
    one, two, both = places
    assert not np.allclose(one, two, atol=1e-7)
    low, high = np.minimum(one, two) - 1e-3, np.maximum(one, two) + 1e-3
    assert ((low <= both) & (both <= high)).all()


def test_steps_of_different_bodies_are_refused(steps):
    other = with_mass(steps[1].motion.model, 80.0)
    foreign = replace(steps[1], motion=replace(steps[1].motion, model=other))
    assert "masses" in model_difference(steps[0].motion.model, other)
    assert model_difference(steps[0].motion.model, steps[1].motion.model) == ""
    with pytest.raises(CaptureError, match=r"not of one body.*--scale none"):
        share_body([steps[0], foreign])
    taller = hd.catalog.heiman(height=1.9, mass=MASS)
    assert "mm apart" in model_difference(steps[0].motion.model, taller)
    with pytest.raises(CaptureError, match="no steps"):
        share_body([])


def test_the_problem_has_all_phases_and_one_load_transfer(steps):
    shared = share_body(steps)
    problem, counts = pooled_problem(shared, preset="recorded", force=0.0, step=0.05)
    assert sum(counts) == len(problem.phases)
    single, _ = reconstruction_problem(
        shared[1].motion, phases=shared[1].phases, preset="recorded", step=0.05
    )
    assert counts[1] == len(single.phases)
    assert list(problem.parameters) == [LOAD_TRANSFER]
    assert not single.parameters
    ends = [phase.transition for phase in problem.phases]
    assert ends[counts[0] - 1] == "separate"
    assert ends.count("separate") == 1
    fixed, _ = pooled_problem(shared, preset="recorded", load_transfer="fixed")
    assert not fixed.parameters
    with pytest.raises(HomodynError, match="phases belongs to a single step"):
        pooled_problem(shared, phases=shared[0].phases)
