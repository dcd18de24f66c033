"""Quantities with units."""

import pytest

from homodyn.cli.units import file_size


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (999_949, "999.9 kB"),
        (999_950, "1.0 MB"),
        (12_345_678, "12.3 MB"),
        (5_000_000_000, "5.0 GB"),
        (7_200_000_000_000, "7.2 TB"),
    ],
)
def test_file_sizes_read_well(size, text):
    assert file_size(size) == text
