"""Unknowns and constraints of a chain of intervals are ordered by stages."""

from homodyn.optimal.nlp.stage_order import StageOrder, order_by_stages
from support.optimal import swing_up


def test_a_chain_of_intervals_separates_into_stages():
    transcribed = swing_up(7).transcribe()
    staged = order_by_stages(transcribed, transcribed.program)
    assert isinstance(staged, StageOrder)
    assert staged.states == [2] * 8
    # Acceleration and torque; the duration, which is known, goes with the last node.
    assert staged.controls == [2] * 7 + [1]
    assert staged.path_rows == [1] * 7 + [0]
    assert sorted(staged.variables) == list(range(transcribed.program.size))
    assert sorted(staged.rows) == list(range(transcribed.program.rows))
