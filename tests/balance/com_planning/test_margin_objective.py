"""The margin that plans maximize is the margin that evaluations compute."""

import numpy as np
import pytest

from homodyn.balance import load_scene, scene_stances, wrench_margins, wrench_set
from homodyn.balance.com_planning import MarginKind, MarginObjective
from homodyn.balance.wrenches import point_mass_wrench

ORIGIN = (0.0, 0.0, 0.0)


@pytest.mark.parametrize("kind", ["force", "wrench"])
def test_facets_for_a_solver_give_the_margins_of_evaluations(kind):
    scene = load_scene("car")
    wrenches = wrench_set(scene_stances(scene)[4])
    rng = np.random.default_rng(1)
    com = rng.normal(size=(40, 3)) * 0.3
    need = point_mass_wrench(np.arange(40.0), com, rng.normal(size=(40, 3)), mass=60.0)
    for about in (None, ORIGIN, (0.4, -1.0, 0.2)):
        objective = MarginObjective(MarginKind(kind), about, 0.7)
        expected = wrench_margins(wrenches, need.force, need.moment, com=com, about=about, unit=0.7)
        distances = objective.distances(objective.facets(wrenches), com, need.force).min(axis=1)
        assert np.allclose(distances, getattr(expected, kind), rtol=1e-9, atol=1e-9)
