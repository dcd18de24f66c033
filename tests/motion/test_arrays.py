"""Arrays of records are read-only copies of the required shape."""

from dataclasses import dataclass

import numpy as np
import pytest

from homodyn.errors import CaptureError
from homodyn.motion.arrays import checked_array, transfer_ownership


@dataclass(frozen=True)
class Path:
    points: object


def test_the_field_becomes_a_read_only_copy_of_the_required_type():
    given = np.array([[1, 2, 3], [4, 5, 6]])
    path = Path(given)
    checked_array(path, "points", (2, 3), "path")
    given[0, 0] = 9
    assert path.points.dtype == float
    np.testing.assert_array_equal(path.points, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    with pytest.raises(ValueError, match="read-only"):
        path.points[0, 0] = 0.0


def test_another_type_of_entries_can_be_required():
    path = Path([0, 1, 2])
    checked_array(path, "points", (3,), "path", bool)
    assert path.points.tolist() == [False, True, True]


def test_another_shape_is_refused_with_both_shapes():
    with pytest.raises(CaptureError, match=r"path 'a': points has shape \(2,\), \(2, 3\) is exp"):
        checked_array(Path([1.0, 2.0]), "points", (2, 3), "path 'a'")


def test_a_writeable_view_of_a_read_only_array_does_not_change_a_record():
    given = np.zeros((2, 3))
    view = given[:]
    given.flags.writeable = False
    path = Path(given)
    checked_array(path, "points", (2, 3), "path")
    view[:] = 9.0
    given.flags.writeable = True
    given[:] = 9.0
    assert not path.points.any()


def test_arrays_of_records_and_transferred_arrays_are_not_copied():
    first, second = Path(transfer_ownership(np.zeros(3))), Path(None)
    given = first.points
    checked_array(first, "points", (3,), "path")
    assert first.points is given
    object.__setattr__(second, "points", first.points)
    checked_array(second, "points", (3,), "path")
    assert second.points is given
    base = np.zeros((2, 3))
    assert not np.shares_memory(transfer_ownership(base[0]), base)


def test_an_array_of_a_record_that_was_made_writeable_is_copied():
    path, other = Path(np.zeros(3)), Path(None)
    checked_array(path, "points", (3,), "path")
    path.points.flags.writeable = True
    object.__setattr__(other, "points", path.points)
    checked_array(other, "points", (3,), "path")
    assert other.points is not path.points
