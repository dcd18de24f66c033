"""The support polygon contains the center of mass of a standing body."""

from homodyn.studio.body_geometry import body_geometry
from homodyn.studio.file_opening import from_catalog
from homodyn.studio.support_polygon import support_polygon


def test_the_center_of_mass_of_a_standing_body_is_over_its_support():
    actor = from_catalog("heiman")
    shape = body_geometry(actor.model)
    poses = shape.poses(actor.q)
    corners = support_polygon(shape, poses.touching[0], None)
    assert len(corners) >= 4
    low, high = corners.min(axis=0), corners.max(axis=0)
    assert (low < poses.com[0][:2]).all()
    assert (poses.com[0][:2] < high).all()
    one = support_polygon(shape, poses.touching[0], {"FootLeft"})
    assert one[:, 1].min() > 0
    assert len(support_polygon(shape, poses.touching[0] + [0, 0, 0.3], None)) == 0
