"""A report with a passing row, a failing row and a row without a peer."""

import pytest

from homodyn.bench import BenchmarkReport, BenchmarkRow


@pytest.fixture
def report():
    return BenchmarkReport(
        {"cpu": "abacus", "cores": 2},
        (
            BenchmarkRow.from_times("fast", 1.0, 2.0, unit="us", required=1.5),
            BenchmarkRow.from_times("slow", 2.0, 1.0, unit="us", required=1.5),
            BenchmarkRow.from_times(
                "alone", 1234.5, None, unit="us", required=1.5, note="pin is not installed"
            ),
        ),
    )
