"""Supports as data: corners of soles, and refusals that name the support."""

import pytest

from homodyn.errors import ModelError
from homodyn.motion.supports import ContactPatch, Grasp, sole_contact


def test_invalid_supports_are_refused_by_name():
    with pytest.raises(ModelError, match="'left': friction"):
        sole_contact("left", (0, 0, 0), size=(0.2, 0.1), friction=-0.1)
    with pytest.raises(ModelError, match="'left': size is length and width"):
        sole_contact("left", (0, 0, 0), size=(0.0, 0.1), friction=0.5)
    with pytest.raises(ModelError, match="grasp 'hand': force"):
        Grasp("hand", (0, 0, 0), -1.0)
    with pytest.raises(ModelError, match="grasp 'hand': force and moment are zero"):
        Grasp("hand", (0, 0, 0), 0.0)
    with pytest.raises(ModelError, match="one plane"):
        ContactPatch("p", [[0, 0, 0], [1, 0, 0.5], [0, 1, 0]], [0, 0, 1], 0.5)
