"""The benchmark of plans of the center of mass."""

from homodyn.bench.balance_plans import plan_rows


def test_each_plan_has_a_row_of_time_and_one_of_margin():
    rows = plan_rows(quick=True)
    time, margin = next(rows), next(rows)
    assert time.unit == "s"
    assert time.ours > 0
    assert margin.unit == "N m"
    assert margin.passes
