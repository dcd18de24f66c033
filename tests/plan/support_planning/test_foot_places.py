"""Places for feet on level surfaces, clear of obstacles."""

import numpy as np

from homodyn.motion import BoxObstacle, Scene
from homodyn.motion.supports import ContactPatch, sole_contact
from homodyn.plan.support_planning.foot_places import FootPlace, FootPlaces, yaw_of
from homodyn.plan.support_planning.support_search_options import SupportSearchOptions

LEFT = sole_contact("left", (0, 0.1, 0), (0.28, 0.12), friction=0.7, body="left_foot")
RIGHT = sole_contact("right", (0, -0.1, 0), (0.28, 0.12), friction=0.7, body="right_foot")


def places(*obstacles: BoxObstacle, left: ContactPatch = LEFT, **options: float) -> FootPlaces:
    scene = Scene("room", obstacles=obstacles, supports={"left": left, "right": RIGHT})
    return FootPlaces(
        scene,
        SupportSearchOptions(**options),  # type: ignore[arg-type]
        79.0,
        {"left_foot": left, "right_foot": RIGHT},
        {"left_foot": 1.0, "right_foot": -1.0},
    )


def around(found: FootPlaces) -> list[FootPlace]:
    other = FootPlace(RIGHT, 0.0, True)
    return [each for each in found.around("left_foot", other) if not each.given]


def test_places_lie_beside_and_ahead_of_the_other_foot():
    offsets = np.array([p.patch.middle - RIGHT.middle for p in around(places())])
    assert len(offsets) > 10
    assert (offsets[:, 1] > 0.15).all()
    assert (offsets[:, 2] == 0).all()
    assert np.hypot(offsets[:, 0], offsets[:, 1]).max() <= 0.85
    assert all(abs(yaw_of(p.patch) - p.yaw) < 1e-9 for p in around(places()))


def test_a_platform_carries_feet_and_a_roof_does_not():
    platform = BoxObstacle((1.0, 2.0, 0.2), position=(0.8, 0, 0.1), name="platform")
    roof = BoxObstacle((4.0, 4.0, 0.1), position=(0, 0, 2.0), name="roof")
    heights = {round(float(p.patch.middle[2]), 9) for p in around(places(platform, roof))}
    assert heights == {0.0, 0.2}
    for place in around(places(platform)):
        on = place.patch.corners[:, 0]
        assert (on >= 0.3).all() or (on <= 0.3).all(), "no sole across the edge"


def test_places_keep_clear_of_obstacles():
    post = BoxObstacle((0.1, 0.1, 1.0), position=(0.4, 0.25, 0.5), name="post")
    for place in around(places(post)):
        gap = np.abs(place.patch.corners[:, :2] - [0.4, 0.25]).max(axis=1)
        assert gap.min() > 0.05


def test_soles_without_a_margin_are_left_out():
    slippery = sole_contact(
        "left", (0, 0.1, 0), (0.28, 0.12), friction=0.7, limit=100.0, body="left_foot"
    )
    assert around(places(left=slippery)) == []
    assert places(left=slippery).given["left_foot"] == ()
