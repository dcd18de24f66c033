"""The mass of a subject that force plates carry."""

from dataclasses import replace

import numpy as np
import pytest

from homodyn import catalog
from homodyn.capture.kinetics import measure_mass
from support.walks import walk


def with_total_mass(motion, mass):
    return replace(motion, model=catalog.scale(motion.model, 1.0, mass=mass))


def take_weight_off(plate, share, frames):
    """The plate while something else carries a share of the force in some of its readings."""
    factor = np.ones((len(plate.force), 1))
    factor[frames] = 1.0 - share
    return replace(plate, force=factor * plate.force, torque=factor * plate.torque)


@pytest.mark.parametrize(("name", "mass"), [("gait10dof", 72.6), ("arnold2013", 72.84)])
@pytest.mark.parametrize("assumed", [55.0, 95.0])
def test_walks_weigh_their_subjects_whatever_the_model_weighs(shared_data, name, mass, assumed):
    found = walk(shared_data, name)
    measured = measure_mass(with_total_mass(found.motion, assumed), found.plates)
    assert measured.mass == pytest.approx(mass, rel=0.01)
    assert measured.spread < 0.05 * mass
    assert measured.duration > 0.5


def test_weight_on_something_else_for_a_while_is_not_counted(shared_data):
    found = walk(shared_data, "gait10dof")
    plates = []
    for plate in found.plates:
        third = slice(0, len(plate.force) // 3)
        plates.append(take_weight_off(plate, 0.6, third))
    measured = measure_mass(found.motion, plates)
    assert measured.mass == pytest.approx(72.6, rel=0.02)


def test_plates_that_do_not_carry_the_body_give_no_mass(shared_data):
    found = walk(shared_data, "gait10dof")
    assert measure_mass(found.motion, ()) is None
    light = [take_weight_off(plate, 0.7, slice(None)) for plate in found.plates]
    assert measure_mass(found.motion, light) is None
    # Something else takes up a varying part of the weight: no plateau is the whole weight.
    anchored = [
        take_weight_off(plate, np.linspace(0.8, 0.0, len(plate.force))[:, None], slice(None))
        for plate in found.plates
    ]
    assert measure_mass(found.motion, anchored) is None
