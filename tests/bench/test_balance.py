"""The benchmark of balance."""

from homodyn.bench import run


def test_rows_compare_polygons_and_states():
    report = run(["balance"], machine={}, quick=True)
    names = [row.name for row in report.rows]
    assert any("Bretl and Lall" in name for name in names)
    assert any("10000 states, equilibrium test" in name for name in names)
    # A loose bound, independent of the load of the machine; figures are in docs/benchmarks.md.
    for row in report.rows:
        if "Bretl and Lall" in row.name:
            assert row.ratio > 5
