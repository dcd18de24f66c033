"""Contacts at heel and toes of models without them, in axes with Z up."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.dynamics import center_of_mass, inverse_dynamics, position
from homodyn.gait.foot_contact_points import with_foot_contacts
from homodyn.motion import Motion


def standing(model):
    q = np.tile(model.neutral(), (5, 1))
    rest = np.zeros((5, model.nv))
    return Motion(model, np.arange(5) / 10, q, rest, rest)


def test_heiman_keeps_its_contacts():
    motion = standing(hd.catalog.heiman())
    found = with_foot_contacts(motion)
    assert found.model.contacts == motion.model.contacts


@pytest.mark.parametrize(
    "file", ["gait10dof/subject01.osim", "rajagopal_walk/subject_walk_scaled.osim"]
)
def test_a_model_with_y_up_is_turned_and_stays_the_same_body(shared_data, file):
    model = hd.load(shared_data / file)
    rng = np.random.default_rng(2)
    q = model.neutral() + 0.1 * rng.normal(size=model.nq)
    v, a = rng.normal(size=(2, model.nv))
    turned = with_foot_contacts(standing(model)).model
    x, y, z = np.asarray(center_of_mass(model, q)).ravel()
    np.testing.assert_allclose(np.ravel(center_of_mass(turned, q)), (x, -z, y), atol=1e-9)
    before, after = inverse_dynamics(model, q, v, a), inverse_dynamics(turned, q, v, a)
    np.testing.assert_allclose(after, before, rtol=1e-9, atol=1e-8)


def test_contacts_lie_along_the_sole(shared_data):
    model = hd.load(shared_data / "real_subject4" / "manually_scaled.osim")
    turned = with_foot_contacts(standing(model)).model
    places = {c.name: np.ravel(position(turned, turned.neutral(), c.name)) for c in turned.contacts}
    for side, outward in (("Right", -1), ("Left", 1)):
        heel, hallux, lateral = (places[f"{n}{side}"] for n in ("Heel", "Hallux", "Meta5"))
        assert 0.1 < hallux[0] - heel[0] < 0.35
        assert heel[0] < lateral[0] < hallux[0]
        assert outward * (lateral[1] - hallux[1]) > 0
