"""The interface of file formats: user-defined formats, registration and refusals."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture.formats import (
    RecordingFormat,
    file_format,
    register_format,
    registered_formats,
)
from homodyn.errors import FormatError


class PointFormat(RecordingFormat):
    """One marker as three columns of text."""

    extensions = (".walk",)

    def read_trial(self, path, options):
        return hd.capture.Trial(path.stem, ("A",), np.loadtxt(path).reshape(-1, 1, 3), 100.0)

    def write_trial(self, trial, path):
        np.savetxt(path, trial.marker("A"))


@pytest.fixture
def registered():
    point_format = PointFormat()
    register_format(point_format)
    yield
    file_format._REGISTRY.unregister(point_format)


@pytest.mark.usefixtures("registered")
def test_a_user_format_reads_and_writes(tmp_path):
    points = np.arange(12.0).reshape(4, 1, 3)
    hd.capture.write(hd.capture.Trial("t", ("A",), points, 100.0), tmp_path / "a.walk")
    assert np.array_equal(hd.capture.read(tmp_path / "a.walk").positions, points)
    with pytest.raises(FormatError, match=r"tables cannot be read from '\.walk'; accepted:"):
        hd.capture.read_table(tmp_path / "a.walk")


@pytest.mark.usefixtures("registered")
def test_readers_get_existing_files_only(tmp_path):
    with pytest.raises(FormatError, match=r"absent\.walk: there is no such file"):
        hd.capture.read(tmp_path / "absent.walk")


def test_formats_support_the_methods_that_they_override():
    assert PointFormat().supports("read_trial")
    assert not PointFormat().supports("write_table")
    with pytest.raises(FormatError, match="does not store tables"):
        PointFormat().write_table(hd.capture.Table((), np.zeros(0), np.zeros((0, 0))), None)


@pytest.mark.parametrize(
    ("extensions", "message"),
    [((), "has no extensions"), (("walk",), "begin with a dot"), ((".WALK",), "lower case")],
)
def test_a_format_without_a_proper_extension_is_refused(extensions, message):
    nameless = type("Nameless", (RecordingFormat,), {"extensions": extensions})
    with pytest.raises(FormatError, match=message):
        register_format(nameless())
    assert ".walk" not in registered_formats()


def test_an_unknown_extension_lists_the_accepted_ones(tmp_path):
    with pytest.raises(FormatError, match=r"'\.xyz'; accepted: \.c3d, \.trc, \.csv"):
        hd.capture.read(tmp_path / "a.xyz")
