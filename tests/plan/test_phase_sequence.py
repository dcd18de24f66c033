"""Flights and segments of bundled scenes."""

import numpy as np

import homodyn as hd
from homodyn.plan.phase_sequence import PhaseSequence
from homodyn.plan.plan_context import PlanContext


def sequence_of(name: str) -> PhaseSequence:
    scene = hd.plan.load_case(name)
    context = PlanContext.of(hd.catalog.manikin(1.75, scene.mass), scene)
    return PhaseSequence(context, np.arange(len(scene.steps) + 1.0))


def test_flights_of_the_board_are_its_three_steps():
    sequence = sequence_of("board")
    flights = [(each.body, each.first, each.last) for each in sequence.flights]
    assert flights == [("left_foot", 1, 1), ("right_foot", 3, 3), ("left_foot", 5, 5)]
    assert sequence.segments == tuple((k, k) for k in range(7))
    assert set(sequence.key_stance(1)) == {"left_foot", "right_foot"}


def test_getting_into_a_car_has_flights_over_two_phases_and_a_seat():
    sequence = sequence_of("car-all")
    flights = {(each.body, each.first, each.last) for each in sequence.flights}
    assert flights == {
        ("left_foot", 1, 1),
        ("right_hand", 3, 3),  # free before: it flies in the last phase before its grasp
        ("right_foot", 3, 4),
        ("left_foot", 7, 9),
        ("right_hand", 8, 8),
        ("left_hand", 10, 10),
    }
    assert (3, 4) in sequence.segments
    assert (7, 9) in sequence.segments
    assert [sequence.is_seated(k) for k in range(12)] == [False] * 6 + [True] * 6
    assert sequence.landing_bodies(6) == {"pelvis": 6}
    assert sequence.landing_bodies(8) == {}


def test_getting_out_of_a_car_rises_from_where_the_body_slid_to():
    sequence = sequence_of("egress")
    # The body is on the edge of the seat from the fifth phase on and rises at the seventh.
    assert sequence.landing_bodies(6) == {"pelvis": 4}
