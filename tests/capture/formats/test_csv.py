"""CSV files of any layout, with a map of columns where they do not explain themselves."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from homodyn.capture import (
    Trial,
    read,
    read_table,
    write,
)
from homodyn.errors import FormatError
from support.c3d_files import person

ROWS = [(0.0, 0.1, 0.2, 0.05, 0.1, 0.3, 1.7), (0.01, 0.2, 0.2, 0.05, 0.2, 0.3, 1.7)]
EXACT = np.array(ROWS)[:, 1:].reshape(2, 2, 3)


def lines(head, rows=ROWS, mark=","):
    return "\n".join([head, *(mark.join(map(str, row)) for row in rows)]) + "\n"


def read_text(folder, content, **more) -> Trial:
    (folder / "a.csv").write_text(content)
    return read(folder / "a.csv", **more)


@pytest.mark.parametrize(
    "content",
    [
        lines("time,LHEE.x,LHEE.y,LHEE.z,LFHD.x,LFHD.y,LFHD.z"),
        lines("Time (s),LHEE_X,LHEE_Y,LHEE_Z,LFHD_X,LFHD_Y,LFHD_Z"),
        lines('"t","LHEE X","LHEE Y","LHEE Z","LFHD X","LFHD Y","LFHD Z"'),
        lines("time;LHEE:x;LHEE:y;LHEE:z;LFHD:x;LFHD:y;LFHD:z", mark=";"),
        lines("time;LHEEx;LHEEy;LHEEz;LFHDx;LFHDy;LFHDz", mark=";").replace(".", ","),
        lines("time\tLHEE.x\tLHEE.y\tLHEE.z\tLFHD.x\tLFHD.y\tLFHD.z", mark="\t"),
        "# a comment\n\n" + lines("time LHEE.x LHEE.y LHEE.z LFHD.x LFHD.y LFHD.z", mark=" "),
    ],
)
def test_files_that_explain_themselves(tmp_path, content):
    trial = read_text(tmp_path, content)
    assert trial.markers == ("LHEE", "LFHD")
    assert trial.rate == 100.0
    assert np.allclose(trial.positions, EXACT)


def test_a_map_in_code(tmp_path):
    content = "lab export\nv 2\n" + lines(
        "t0,a,b,c,d,e,f", [(t, *(1e3 * v for v in r)) for t, *r in ROWS]
    )
    columns = {
        "skip": 2,
        "time": "t0",
        "unit": "mm",
        "markers": {"LHEE": ["a", "b", "c"], "LFHD": 5},
    }
    trial = read_text(tmp_path, content, columns=columns)
    assert trial.markers == ("LHEE", "LFHD")
    assert np.allclose(trial.positions, EXACT)
    only = read_text(tmp_path, lines("time,hx,hy,hz,d,e,f"), columns={"heel": "h", "head": 5})
    assert only.markers == ("heel", "head")


def test_a_map_in_a_file(tmp_path):
    (tmp_path / "map.toml").write_text(
        'rate = 50\nunit = "m"\nup = "y"\nmissing = [-99.0]\n[markers]\nLHEE = 2\nLFHD = 5\n'
    )
    rows = [(1, 0.1, 0.05, -0.2, -99, -99, -99), (2, 0.2, 0.05, -0.2, 0.2, 1.7, -0.3)]
    content = "\n".join(",".join(map(str, row)) for row in rows)
    trial = read_text(tmp_path, content, columns=tmp_path / "map.toml")
    assert trial.rate == 50.0
    assert trial.seen.tolist() == [[True, False], [True, True]]
    assert np.allclose(trial.positions[1], EXACT[1])


def test_codes_of_optotrak_are_not_seen(tmp_path):
    rows = [ROWS[0], (0.01, *[-3.6973e28] * 3, 0.2, 0.3, 1.7)]
    trial = read_text(tmp_path, lines("time,A.x,A.y,A.z,B.x,B.y,B.z", rows), up="z")
    assert trial.seen.tolist() == [[True, True], [False, True]]


@pytest.mark.parametrize(
    ("content", "columns", "sentence"),
    [
        (lines("time,a,b,c,d,e,f"), None, "no columns are named after markers"),
        (lines("q,A.x,A.y,A.z,d,e,f"), None, "no column of time; pass the frames per second"),
        (lines("time,a,b,c,d,e,f"), {"A": ["a", "b", "g"]}, "no column 'g'; accepted: time, a, b"),
        (lines("time,a,b,c,d,e,f"), {"A": 6}, "no column 8; the file has 1 to 7"),
        (
            lines("time,a,b,c,d,e,f"),
            {"A": 1.5},
            "markers.A: 1.5 is not accepted; expected",
        ),
        (lines("time,a"), {"markers": {}, "sped": 3}, "no setting of a column map 'sped'"),
        (lines("time,a"), {"markers": {}, "rate": "fast"}, "rate: 'fast' is not a number"),
        (lines("time,a"), {"markers": {}, "skip": -1}, "skip: it must be 0 or more"),
        (lines("time,A.x,A.y,A.z"), None, "line 2: 7 cells, 4 are expected"),
        ("time,A.x,A.y,A.z\n0,1,2\n", None, "3 cells, 4 are expected; is the file truncated"),
        ("time,A.x,A.y,A.z\n0,1,2,1e3x\n", None, "'1e3x' is not a number; a decimal point"),
        ("time,A.x,A.y,A.z\n", None, "no rows of numbers"),
        ("time;A.x;A.y;A.z\n0;1.234,5;2;3\n", None, "'1.234.5' is not a number"),
    ],
)
def test_unreadable_files_are_refused_with_the_reason(tmp_path, content, columns, sentence):
    with pytest.raises(FormatError, match=sentence):
        read_text(tmp_path, content, columns=columns)


def test_a_map_that_is_no_toml_or_not_wanted_is_refused(tmp_path):
    (tmp_path / "map.toml").write_text("[markers\n")
    with pytest.raises(FormatError, match=r"map\.toml: it is not valid TOML"):
        read_text(tmp_path, lines("time,a"), columns=tmp_path / "map.toml")
    with pytest.raises(FormatError, match=r"columns is for \.csv files"):
        read(tmp_path / "a.c3d", columns={"A": 1})


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.sampled_from([30.0, 59.94, 100.0]))
def test_what_is_written_comes_back_to_the_bit(tmp_path_factory, seed, rate):
    random = np.random.default_rng(seed)
    points, labels = person(frames=int(random.integers(2, 9)), seed=seed)
    points[random.uniform(size=points.shape[:2]) < 0.1] = np.nan
    points[0, 0] = 1.0
    trial = Trial("a", tuple(labels), points / 1e3, rate, 2.5, 7)
    path = tmp_path_factory.mktemp("csv") / "back.csv"
    write(trial, path)
    back = read(path)
    assert back.markers == trial.markers
    assert np.array_equal(back.positions, trial.positions, equal_nan=True)
    assert (back.rate, back.start, back.first_frame) == (rate, 2.5, 7)


def test_names_with_separators_are_refused(tmp_path):
    with pytest.raises(FormatError, match="contains a comma, a quote or a line break"):
        write(Trial("a", ("A,B",), np.ones((1, 1, 3)), 10.0), tmp_path / "a.csv")
    with pytest.raises(FormatError, match=r"without markers cannot be written as \.csv"):
        write(Trial("a", (), np.ones((1, 0, 3)), 10.0), tmp_path / "a.csv")


def test_tables_need_names_and_time(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("1,2\n3,4\n")
    with pytest.raises(FormatError, match="the columns have no names"):
        read_table(path)
    path.write_text("a,b\n3,4\n")
    with pytest.raises(FormatError, match="no column is named time; the file has a, b"):
        read_table(path)


def test_names_in_quotes_may_contain_the_separator(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('time (s),"trunk rotation, side forward (rad)",b\n0,1,2\n0.1,3,4\n')
    table = read_table(path)
    assert table.names == ("trunk rotation, side forward (rad)", "b")
    assert table.values.tolist() == [[1.0, 2.0], [3.0, 4.0]]
