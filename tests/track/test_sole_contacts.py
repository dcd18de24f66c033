"""Contacts under the feet of a model without any."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.motion import motion_from_poses
from homodyn.track import with_sole_contacts


def test_spheres_touch_the_ground_where_the_feet_stand():
    heiman = hd.catalog.heiman(height=1.75, mass=75)
    q = hd.simulate.place_on_ground(heiman, heiman.neutral())
    bare = replace(heiman, contacts=())
    standing = motion_from_poses(bare, np.arange(5) * 0.1, np.tile(q, (5, 1)))
    model = with_sole_contacts(bare, standing)
    assert len(model.contacts) >= 4
    distances = hd.simulate.gap_distances(hd.simulate.ContactGeometry(model))(q)["distance"]
    np.testing.assert_allclose(distances, 0.0, atol=1e-9)
    assert with_sole_contacts(heiman, standing) is heiman
    flying = motion_from_poses(bare, np.arange(5) * 0.1, np.tile(q + np.eye(len(q))[2], (5, 1)))
    with pytest.raises(hd.ModelError, match="floor"):
        with_sole_contacts(bare, flying)
