"""Rows of numbers, and what the end of a file says about the last one."""

from collections import Counter

import numpy as np
import pytest

from homodyn import capture
from homodyn.capture import Table, Trial
from homodyn.capture.formats.cells import FileEnd, inspect_end
from homodyn.errors import HomodynError

ROWS = ["1\t0.00\t1776.27", "2\t0.01\t1776.31"]


@pytest.mark.parametrize(
    ("last", "is_cut"),
    [
        ("3\t0.02\t1776.40", False),
        ("3\t0.02\t1776.4", True),
        ("3\t0.02\t177", True),
        ("3\t0.02\t", True),
        ("3\t0.02", True),
        ("3\t0.0", True),
        ("3", True),
    ],
)
def test_the_last_row_without_line_end(last, is_cut):
    rows = [*ROWS, last]
    end = inspect_end("\n".join(rows), rows, "\t")
    assert end.is_cut == is_cut
    assert bool(end.note) != is_cut
    assert inspect_end("\n".join(rows) + "\n", rows, "\t") == FileEnd()


def test_integers_show_no_cut():
    rows = ["1,2,3", "2,3,4444", "3,4,4"]
    end = inspect_end("\n".join(rows), rows, ",")
    assert not end.is_cut
    assert "last number is incomplete" in end.note


@pytest.mark.parametrize("suffix", [".trc", ".mot", ".sto", ".csv"])
def test_every_cut_of_the_last_row_is_refused_or_noted(tmp_path, suffix):
    """Cut one byte after the other from a file of each format."""
    path, cut = tmp_path / f"a{suffix}", tmp_path / f"cut{suffix}"
    values = np.random.default_rng(0).normal(size=(30, 2, 3)) + 1.0
    if suffix in (".trc", ".csv"):
        capture.write(Trial("a", ("A", "B"), values, 100.0), path)
        read, values_of = capture.read, lambda trial: trial.positions
    else:
        table = Table(("a", "b", "c"), np.arange(30) / 100, values[:, 0])
        capture.write_table(table, path)
        read, values_of = capture.read_table, lambda table: table.values
    content = path.read_bytes()
    whole = read(path)
    length = len(content) - content[:-1].rindex(b"\n") - 1
    outcomes = Counter()
    for missing in range(1, length):
        cut.write_bytes(content[:-missing])
        try:
            found = read(cut)
        except HomodynError:
            outcomes["refused"] += 1
            continue
        if any("last number is incomplete" in note for note in found.notes):
            outcomes["noted"] += 1
        else:
            outcomes["silent"] += not np.array_equal(values_of(found), values_of(whole))
    assert outcomes["silent"] == 0, outcomes
    assert outcomes["refused"] > 0.6 * length, outcomes
