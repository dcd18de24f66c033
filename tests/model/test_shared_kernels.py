"""People of one build share the text of their kernels."""

import numpy as np
import pytest

import homodyn as hd
from homodyn import dynamics as laws
from homodyn.model.shared_kernels import with_dimension_parameters


def text(function, model, *arrays):
    return function.kernel(model, *arrays).traced.graph.serialize()


@pytest.fixture(scope="module")
def people():
    return (
        hd.catalog.heiman(height=1.81, mass=83.0),
        hd.catalog.heiman(height=1.62, mass=55.0, sex="female"),
    )


def test_two_people_of_one_build_share_their_text(people):
    arrays = [np.zeros(people[0].nv)] * 3
    one, other = (
        text(laws.inverse_dynamics, with_dimension_parameters(p, masses=True), *arrays)
        for p in people
    )
    assert one == other
    one, other = (text(laws.inverse_dynamics, person, *arrays) for person in people)
    assert one != other


def test_lengths_are_enough_for_what_has_no_mass(people):
    one, other = (
        text(laws.marker_positions, with_dimension_parameters(p), p.neutral()) for p in people
    )
    assert one == other


def test_values_are_those_of_the_model_itself(people):
    for person in people:
        measured = with_dimension_parameters(person, masses=True)
        q = person.random(seed=3, size=4)
        v = np.full((4, person.nv), 0.7)
        np.testing.assert_allclose(
            laws.inverse_dynamics(measured, q, v, v),
            laws.inverse_dynamics(person, q, v, v),
            rtol=1e-12,
            atol=1e-12,
        )
        np.testing.assert_allclose(
            laws.marker_positions(measured, q), laws.marker_positions(person, q), atol=1e-14
        )


def test_stretched_motions_are_measures_too(shared_data):
    generic = hd.load(shared_data / "gait10dof" / "subject01.osim")
    thighs = ("femur_r", "femur_l")
    tall, short = (
        hd.catalog.scale(generic, dict.fromkeys(thighs, factor)) for factor in (1.05, 0.93)
    )
    one, other = (
        text(laws.marker_positions, with_dimension_parameters(m), m.neutral())
        for m in (tall, short)
    )
    assert one == other
    q = tall.random(seed=1, size=3)
    np.testing.assert_allclose(
        laws.marker_positions(with_dimension_parameters(tall), q),
        laws.marker_positions(tall, q),
        atol=1e-14,
    )


def test_parameters_there_already_stay(people):
    open_model = people[0].with_parameters("ThighLeft.mass")
    assert with_dimension_parameters(open_model).parameter_names[0] == "ThighLeft.mass"
