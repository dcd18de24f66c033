"""Rows of the plans."""

from homodyn.bench.balance_plans import plan_rows


def test_a_row_for_the_time_and_one_for_the_margin_of_a_plan():
    rows = plan_rows(quick=True)
    time, margin = next(rows), next(rows)
    assert time.unit == "s"
    assert time.ours > 0
    assert margin.unit == "N m"
    assert margin.passes
