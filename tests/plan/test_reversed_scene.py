"""Scenes in the opposite order: phases, slides on the seat and the request."""

import numpy as np

import homodyn as hd
from homodyn.plan.reversed_scene import reversed_scene


def test_getting_out_has_the_phases_of_getting_in_backward():
    car, out = hd.plan.load_case("car-all"), hd.plan.load_case("egress")
    assert [len(step.supports) for step in out.steps] == [
        len(step.supports) for step in car.steps[::-1]
    ]
    assert [step.name for step in out.steps] == [str(k) for k in range(1, 13)]
    np.testing.assert_array_equal(out.plan.start, car.plan.finish)
    assert not out.plan.start_at_rest
    assert out.plan.finish_at_rest


def test_a_body_slides_in_the_same_phase_of_both_ways():
    car, out = hd.plan.load_case("car-all"), hd.plan.load_case("egress")
    # In: phase 8 slides from the edge to the seat. Out: phase 5 is the same one.
    assert "edge of the seat" in car.steps[6].supports
    assert "seat" in car.steps[7].supports
    assert "seat" in out.steps[3].supports
    assert "edge of the seat" in out.steps[4].supports
    assert "edge of the seat" in out.steps[5].supports


def test_reversing_twice_gives_the_scene_again():
    board = hd.plan.load_case("board")
    again = reversed_scene(reversed_scene(board, "back"), board.name)
    assert [step.supports for step in again.steps] == [step.supports for step in board.steps]
    np.testing.assert_array_equal(again.plan.start, board.plan.start)
