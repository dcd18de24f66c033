"""Events of recordings and movements."""

from homodyn.motion import FOOT_STRIKE, Event, Side


def test_events_know_their_side():
    assert Event(0.0, FOOT_STRIKE, "Left").side is Side.LEFT
    assert Event(0.0, "Start", "General").side is None
