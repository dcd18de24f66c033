"""Records print briefly, are read-only, and survive a round trip through JSON."""

import json
import pickle
from collections.abc import Mapping
from dataclasses import FrozenInstanceError, field, replace
from enum import StrEnum

import numpy as np
import pytest

from homodyn.errors import HomodynError
from homodyn.foundation import Record, record, register_codec


class Color(StrEnum):
    RED = "red"
    BLUE = "blue"


@record
class PaintSample(Record):
    """A record within a record."""

    name: str
    color: Color
    thickness: float = 0.0


class Pigment:
    """Something that is not a record."""

    def __init__(self, number: int) -> None:
        self.number = number


register_codec(Pigment, lambda pigment: pigment.number, Pigment)


@record
class PaintJob(Record):
    """One of every kind of field."""

    title: str
    samples: tuple[PaintSample, ...]
    path: np.ndarray
    flags: np.ndarray = field(default_factory=lambda: np.zeros((0, 3), dtype=bool))
    weights: Mapping[str, float] = field(default_factory=dict)
    limit: float = np.inf
    best: PaintSample | None = None
    pigment: Pigment | None = None
    pair: tuple[int, float] = (1, 2.0)
    words: np.ndarray = field(default_factory=lambda: np.array(["a", "b"], dtype=object))
    extra: str = ""
    more: str = ""
    notes: tuple[str, ...] = ()
    cache: object = None

    _transient = ("cache",)

    def __post_init__(self) -> None:
        if not self.title:
            raise HomodynError("a job needs a title")


def job(**changes):
    path = np.array([[0.0, np.nan, 2.0], [1.0, 1.0, -np.inf]])
    sample = PaintSample("a", Color.BLUE, float("nan"))
    values = {
        "title": "fence",
        "samples": (sample,),
        "path": path,
        "flags": np.array([[True, False, True]]),
        "weights": {"a": 0.5},
        "best": sample,
        "pigment": Pigment(7),
        "cache": print,
    }
    return PaintJob(**{**values, **changes})


def test_arrays_are_read_only_and_not_copied():
    path = np.arange(6.0).reshape(2, 3)
    frozen = job(path=path)
    with pytest.raises(ValueError, match="read-only"):
        frozen.path[0, 0] = 1.0
    assert np.shares_memory(frozen.path, path)
    path[0, 0] = 5.0  # the caller's own array stays the caller's


def test_fields_cannot_be_assigned():
    with pytest.raises(FrozenInstanceError):
        job().title = "other"


def test_checks_of_the_class_still_run():
    with pytest.raises(HomodynError, match="title"):
        job(title="")
    with pytest.raises(HomodynError, match="title"):
        replace(job(), title="")


def test_repr_has_ten_lines_at_most_and_names_the_rest():
    text = repr(job(extra="x", more="y", notes=("z",)))
    assert len(text.splitlines()) == 10
    assert "more fields" in text
    assert "2 x 3, 0 to 2, 2 not finite" in text
    assert len(job(extra="x", more="y", notes=("z",)).summary().splitlines()) > 10


def test_long_values_are_shortened():
    assert all(len(line) < 100 for line in repr(job(extra="x" * 1000)).splitlines())


def test_html_escapes_what_it_shows():
    page = job(title="<script>")._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_a_round_trip_through_json_restores_every_field():
    original = job()
    found = PaintJob.from_dict(json.loads(json.dumps(original.to_dict(), allow_nan=False)))
    np.testing.assert_array_equal(found.path, original.path)
    np.testing.assert_array_equal(found.flags, original.flags)
    assert found.flags.dtype == bool
    assert found.samples[0].color is Color.BLUE
    assert np.isnan(found.samples[0].thickness)
    assert found.limit == np.inf
    assert found.best.name == "a"
    assert found.pigment.number == 7
    assert found.weights == {"a": 0.5}
    assert found.pair == (1, 2.0)
    assert list(found.words) == ["a", "b"]
    assert found.cache is None
    empty = PaintJob.from_dict(job(flags=np.zeros((0, 3), dtype=bool)).to_dict())
    assert empty.flags.shape == (0, 3)


def test_data_of_another_record_or_unknown_fields_are_refused():
    with pytest.raises(HomodynError, match=r"PaintSample.*expected PaintJob"):
        PaintJob.from_dict(PaintSample("a", Color.RED).to_dict())
    data = {**PaintSample("a", Color.RED).to_dict(), "gloss": 1}
    with pytest.raises(HomodynError, match="no field 'gloss'; its fields are name"):
        PaintSample.from_dict(data)


def test_what_plain_data_cannot_express_is_named():
    with pytest.raises(HomodynError, match=r"PaintJob\.extra is of type function"):
        job(extra=lambda: None).to_dict()


def test_records_can_be_pickled():
    found = pickle.loads(pickle.dumps(PaintSample("a", Color.RED, 1.0)))
    assert (found.name, found.color) == ("a", Color.RED)


def test_only_classes_derived_from_record_are_decorated():
    with pytest.raises(TypeError, match="must derive from Record"):

        @record
        class Loose:
            name: str


def test_the_first_note_is_shown_even_where_fields_are_left_out():
    @record
    class Ledger(Record):
        a: int = 1
        b: int = 2
        c: int = 3
        d: int = 4
        e: int = 5
        f: int = 6
        g: int = 7
        h: int = 8
        i: int = 9
        j: int = 10
        notes: tuple[str, ...] = ()

    lines = repr(Ledger(notes=("The plate drifts.", "Another."))).splitlines()
    assert len(lines) == 10
    assert lines[-2].split(maxsplit=1) == ["notes", "The plate drifts. (and 1 more)"]
    assert "4 more fields" not in lines[-1]
    assert "and 4 more" not in repr(Ledger())
    assert len(repr(Ledger()).splitlines()) == 10
