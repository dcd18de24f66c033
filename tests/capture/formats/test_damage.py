"""Tables with bytes changed at random, or cut, are read or refused in a sentence."""

import warnings

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from homodyn.capture import (
    Table,
    Trial,
    read,
    read_plates,
    read_table,
    write,
    write_table,
)
from homodyn.errors import HomodynError
from support.c3d_files import person

PIECES = ["", "\t", "\n", ",", ";", "nan", "-", "1e400", "-1e300", "0", "é", "x", " ", "=", "#"]
READERS = {
    ".trc": (read,),
    ".csv": (read, read_table, read_plates),
    ".mot": (read_table, read_plates),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    points, labels = person(frames=4)
    trial = Trial("a", tuple(labels[:3]), points[:, :3] / 1e3, 50.0)
    write(trial, folder / "a.trc")
    write(trial, folder / "a.csv")
    kinds = ("force_v", "force_p", "torque_")
    names = tuple(f"ground_{kind}{axis}" for kind in kinds for axis in "xyz")
    write_table(Table(names, np.arange(4) / 50, np.ones((4, 9))), folder / "a.mot")
    return {suffix: (folder / f"a{suffix}").read_text() for suffix in READERS}


@settings(max_examples=250)
@given(st.data())
def test_damaged_tables_give_numbers_or_a_sentence(whole, tmp_path_factory, data):
    suffix = data.draw(st.sampled_from(sorted(READERS)))
    text = whole[suffix]
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, len(text)))
        length = data.draw(st.sampled_from([0, 1, 1, 3, 30]))
        text = text[:place] + data.draw(st.sampled_from(PIECES)) + text[place + length :]
    if data.draw(st.booleans()):
        text = text[: data.draw(st.integers(0, len(text)))]
    path = tmp_path_factory.mktemp("damaged") / f"a{suffix}"
    path.write_text(text, encoding="utf-8")
    for reader in READERS[suffix]:
        message = ""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            try:
                result = reader(path)
            except HomodynError as refusal:
                message = str(refusal)
        if message:
            assert message.startswith(str(path))
        elif isinstance(result, Trial):
            assert np.isfinite(result.rate)
            assert np.isfinite(result.positions).any()
