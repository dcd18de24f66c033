"""Bodies, frames and contacts that belong to feet are recognized by their names."""

import pytest

from homodyn import catalog
from homodyn.motion.foot_names import is_foot_name


@pytest.mark.parametrize(
    "name", ["FootRight", "calcn_l", "toes_r", "talus_r", "HeelLeft", "left_sole", "RFEET"]
)
def test_names_of_several_formats_are_feet(name):
    assert is_foot_name(name)


def test_two_feet_and_no_other_segments_of_a_person_are_feet():
    model = catalog.heiman(height=1.75, mass=70)
    assert [name for name in model.body_names if is_foot_name(name)] == ["FootRight", "FootLeft"]


def test_contacts_of_heels_and_toes_are_feet_and_those_of_hands_are_not():
    contacts = [contact.name for contact in catalog.hdm().contacts]
    assert [name for name in contacts if not is_foot_name(name)] == [
        "right_hand_contact",
        "left_hand_contact",
    ]
    assert len(contacts) == 6
