"""MOT and STO tables with old and new heads; every number that is written comes back."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from homodyn.capture import (
    Table,
    read,
    read_table,
    write_table,
)
from homodyn.errors import CaptureError, FormatError

NEW = "Coordinates\nversion=1\nnRows=2\nnColumns=3\ninDegrees=yes\n\nUnits are S.I.\n\nendheader\n"
OLD = "name first trial\ndatacolumns 3\ndatarows 2\nrange 0.0 0.1\nendheader\n"
BODY = "time\ta\tb\n0.0\t1.5\t-2\n0.1\t2.5\t-3e-2\n"


def table_of(folder, content, name="a.mot") -> Table:
    (folder / name).write_text(content)
    return read_table(folder / name)


@pytest.mark.parametrize(
    "content",
    [
        NEW + BODY,
        OLD + BODY,
        OLD + BODY.replace("\t", "   "),
        NEW + BODY.replace("\t", "\t    "),
        NEW + "\n" + BODY.replace("\n", "\t\n"),
        "DataType=double\nversion=3\nOpenSimVersion=4.4\nendheader\n" + BODY,
        (NEW + BODY).replace("\n", "\r\n"),
        NEW.replace("endheader", "ENDHEADER\t\t") + BODY,
    ],
)
def test_heads_and_separators(tmp_path, content):
    table = table_of(tmp_path, content)
    assert table.names == ("a", "b")
    assert table.time.tolist() == [0.0, 0.1]
    assert table.values.tolist() == [[1.5, -2.0], [2.5, -0.03]]


def test_titles_and_degrees(tmp_path):
    assert table_of(tmp_path, NEW + BODY).degrees
    assert table_of(tmp_path, NEW + BODY).title == "Coordinates"
    old = table_of(tmp_path, OLD + BODY)
    assert old.title == "first trial"
    # SIMM knew nothing but degrees; what has a version says so itself.
    assert old.degrees
    assert not table_of(tmp_path, OLD + BODY, "a.sto").degrees
    assert not table_of(tmp_path, "DataType=double\nversion=3\nendheader\n" + BODY).degrees
    assert not table_of(tmp_path, NEW.replace("yes", "no") + BODY).degrees


def test_blank_cells_are_nan(tmp_path):
    table = table_of(tmp_path, OLD + "time\ta\tb\n0\t\t1\n0.1\tNaN\t2\n")
    assert np.isnan(table.column("a")).all()
    assert table.column("b").tolist() == [1.0, 2.0]


def test_vectors_become_columns(tmp_path):
    content = "DataType=Vec3\nendheader\ntime\tp\tq\n0\t1,2,3\t4,5,6\n1\t7,8,9\t1,1,1\n"
    table = table_of(tmp_path, content)
    assert table.names == ("p_1", "p_2", "p_3", "q_1", "q_2", "q_3")
    assert table.values[1].tolist() == [7, 8, 9, 1, 1, 1]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (BODY, "the line endheader is missing"),
        (NEW, "ends after its head"),
        (NEW.replace("nRows=2", "nRows=9") + BODY, "header states 9 rows, the file has 2"),
        (NEW + "a\ttime\n1\t2\n3\t4\n", "first column is 'a'; time is expected"),
        (NEW + BODY + "0.2\t1\n", "line 13: 2 cells, 3 are expected; is the file truncated"),
        (NEW + BODY.replace("2.5", "x"), "line 12, column 2: 'x' is not a number"),
        ("DataType=Mystery\nendheader\n" + BODY, "DataType=mystery is not supported"),
        ("\x00\x01\x02", "this is a binary file"),
    ],
)
def test_unreadable_files_are_refused_with_the_reason(tmp_path, content, sentence):
    with pytest.raises(FormatError, match=sentence):
        table_of(tmp_path, content)


def test_marker_reading_names_the_right_function(tmp_path):
    with pytest.raises(FormatError, match=r"read forces with read_plates.*read_table"):
        read(tmp_path / "a.mot")
    with pytest.raises(FormatError, match=r"accepted: \.mot, \.sto, \.csv"):
        read_table(tmp_path / "a.txt")
    with pytest.raises(FormatError, match=r"accepted: \.mot, \.sto, \.csv"):
        write_table(Table((), np.zeros(1), np.zeros((1, 0))), tmp_path / "a.txt")


def test_columns_are_found_by_name(tmp_path):
    table = table_of(tmp_path, NEW + BODY)
    assert table.select(["b", "a"]).tolist() == [[-2.0, 1.5], [-0.03, 2.5]]
    with pytest.raises(CaptureError, match="no column 'c'; accepted: a, b"):
        table.column("c")
    with pytest.raises(CaptureError, match="several columns with the same name: a"):
        Table(("a", "a"), np.zeros(1), np.zeros((1, 2)))


def test_real_tables(shared_data):
    for path in [*shared_data.rglob("*.mot"), *shared_data.rglob("*.sto")]:
        table = read_table(path)
        assert np.isfinite(table.values).all()
        lines = [line for line in path.read_text().splitlines() if line.strip()]
        header_end = next(k for k, line in enumerate(lines) if line.strip().lower() == "endheader")
        assert len(table.time) == len(lines) - header_end - 2
        # The four components of a quaternion are separated by commas within one cell.
        last = [float(cell) for cell in lines[-1].replace(",", " ").split()]
        assert last == [table.time[-1], *table.values[-1]]
        if table.header.get("datatype", "double").lower() == "quaternion":
            quaternions = table.values.reshape(len(table.time), -1, 4)
            np.testing.assert_allclose(np.linalg.norm(quaternions, axis=-1), 1.0, atol=1e-6)
        else:
            # Only a file of sensor orientations may hold a single pose.
            assert len(table.time) > 70


@settings(max_examples=50)
@given(st.data(), st.sampled_from([".mot", ".sto", ".csv"]), st.booleans())
def test_tables_come_back_to_the_bit(tmp_path_factory, data, suffix, degrees):
    rows, columns = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 4))
    number = st.floats(allow_infinity=False) if suffix != ".x" else st.floats()
    values = [[data.draw(number) for _ in range(columns)] for _ in range(rows)]
    time = np.cumsum([data.draw(st.floats(1e-3, 10)) for _ in range(rows)])
    names = tuple(f"/jointset/knee_{k}/angle" for k in range(columns))
    table = Table(names, time, np.array(values), degrees, "a title")
    path = tmp_path_factory.mktemp("table") / f"t{suffix}"
    write_table(table, path)
    back = read_table(path)
    assert back.names == names
    assert back.degrees == degrees
    assert np.array_equal(back.time, time)
    assert np.array_equal(back.values, table.values, equal_nan=True)


def test_a_table_without_rows_is_refused(tmp_path):
    path = tmp_path / "empty.mot"
    path.write_text("a\nversion=1\nendheader\ntime\tx\n")
    with pytest.raises(FormatError, match="no rows of numbers"):
        read_table(path)


def test_the_rows_of_a_truncated_file_are_read_on_request_with_a_note(tmp_path):
    path = tmp_path / "short.sto"
    path.write_text(NEW.replace("nRows=2", "nRows=9") + BODY)
    table = read_table(path, partial=True)
    assert len(table.time) == 2
    assert table.notes == ("short.sto is truncated: 2 of 9 rows are read",)
    path.write_text(NEW.replace("nRows=2", "nRows=9") + BODY + "0.2\t1\n")
    table = read_table(path, partial=True)
    assert len(table.time) == 2
    assert table.notes[0] == "the last row is incomplete and not read: short.sto"
