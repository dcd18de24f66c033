"""The benchmark of balance: its peers agree with us and its rows say what was asked."""

from homodyn.bench import run


def test_rows_compare_polygons_and_states():
    report = run(["balance"], machine={}, quick=True)
    names = [row.name for row in report.rows]
    assert any("Bretl and Lall" in name for name in names)
    assert any("10000 states, balanced or not" in name for name in names)
    # Loose, so that a busy machine does not matter; the figures are in docs/benchmarks.md.
    for row in report.rows:
        if "Bretl and Lall" in row.name:
            assert row.ratio > 5
