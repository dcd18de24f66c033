"""TRC files of Motion Analysis and OpenSim read the same, and what is written comes back."""

from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from homodyn.capture import (
    Trial,
    read,
    write,
)
from homodyn.capture.kinematics import Y_UP_TO_Z_UP
from homodyn.errors import FormatError
from support.c3d_files import person


def text(
    rows, *, labels="Frame#\tTime\tLHEE\t\t\tLFHD\t\t", rate=50, frames=3, units="mm", count=2
):
    return "\n".join(
        [
            "PathFileType\t4\t(X/Y/Z)\ta.trc",
            "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigNumFrames",
            f"{rate}\t{rate}\t{frames}\t{count}\t{units}\t{rate}\t{frames}",
            labels,
            "\t\tX1\tY1\tZ1\tX2\tY2\tZ2",
            "",
            *rows,
        ]
    )


ROWS = [
    "5\t0.00\t100\t50\t10\t120\t1700\t20",
    "6\t0.02\t101\t51\t11\t121\t1701\t21",
    "7\t0.04\t102\t52\t12\t122\t1702\t22",
]


def read_text(folder, content, **more) -> Trial:
    path = folder / "a.trc"
    path.write_text(content)
    return read(path, **more)


def test_the_plain_case(tmp_path):
    trial = read_text(tmp_path, text(ROWS))
    assert trial.markers == ("LHEE", "LFHD")
    assert (trial.rate, trial.start, trial.first_frame) == (50.0, 0.0, 5)
    # Y up in the file: our z is its y, our y is against its z.
    assert np.allclose(trial.positions[0], [[0.1, -0.01, 0.05], [0.12, -0.02, 1.7]])
    assert np.array_equal(trial.axes, Y_UP_TO_Z_UP)


@pytest.mark.parametrize(
    "variant",
    [
        text(ROWS, labels="Frame#\tTime\t\tLHEE\t\tLFHD"),
        text(ROWS, labels="Frame#\tTime\tLHEE\t\t\tLFHD\t\t\t\t"),
        text([row + "\t" for row in ROWS]),
        text([row.replace("\t", " \t ") for row in ROWS]),
        text(ROWS).replace("\n", "\r\n"),
        text([row.replace(".", ",") for row in ROWS]),
        text(ROWS).replace("\t", " ").replace("LHEE  ", "LHEE"),
        "\ufeff" + text(ROWS),
    ],
    ids=["shifted", "trailing", "tab at end", "blanks", "crlf", "comma", "spaces", "mark"],
)
def test_variants_of_the_layout(tmp_path, variant):
    plain = read_text(tmp_path, text(ROWS))
    trial = read_text(tmp_path, variant)
    assert trial.markers == plain.markers
    assert np.array_equal(trial.positions, plain.positions)


def test_blank_cells_words_and_codes_are_not_seen(tmp_path):
    rows = [
        "1\t0.00\t100\t50\t10",
        "2\t0.02\t\t\t\t121\t1701\t21",
        "3\t0.04\tNaN\tnan\tN/A\t122\t1702\t22",
        "4\t0.06\t-3.6973E+028\t-3.6973E+028\t-3.6973E+028\t122\t1702\t22",
        "5\t0.08\t0\t0\t0\t122\t1702\t22",
    ]
    trial = read_text(tmp_path, text(rows, frames=5))
    assert trial.seen.tolist() == [[True, False], *[[False, True]] * 4]


def test_times_overrule_a_wrong_rate_and_missing_rows_are_not_seen(tmp_path):
    trial = read_text(tmp_path, text([ROWS[0], ROWS[2]], rate=50, frames=2))
    assert (trial.rate, trial.frames) == (25.0, 2)
    rows = [f"{k}\t{k / 50}\t1\t2\t3\t4\t5\t6" for k in (1, 2, 3, 5, 6, 7, 8)]
    trial = read_text(tmp_path, text(rows, rate=50, frames=7, units="m"))
    assert trial.frames == 8
    assert not trial.seen[3].any()
    assert any("1 row is missing" in note for note in trial.notes)
    trial = read_text(tmp_path, text(ROWS, rate=500))
    assert trial.rate == 50.0
    assert any("the file states 500 Hz, its times are at 50 Hz" in note for note in trial.notes)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("hello\nworld\n", "no line of the header begins with Frame#"),
        (text(ROWS, frames=30), "truncated: NumFrames is 30, the file has 3 rows"),
        (text([]), "no rows|truncated"),
        (text([*ROWS[:2], "7\t0.01\t1\t2\t3\t4\t5\t6"]), "times must increase"),
        (text([*ROWS[:2], "7\tx\t1\t2\t3\t4\t5\t6"]), r"line 9, column 2: 'x' is not a number"),
        (text([*ROWS[:2], "7\t\t1\t2\t3\t4\t5\t6"]), "row 3: the time is missing"),
        (text(["1\t0\t1\t2\t3\t4\t5\t6\t7"], frames=1), "9 cells, 8 are expected"),
        (text(["1\t0\t\t\t\t\t\t"], frames=1), "no marker is visible"),
        (text([f"{k}\t{t}\t1\t2\t3\t4\t5\t6" for k, t in enumerate((0, 0.013, 0.02, 0.0471))],
              frames=4), "not equally spaced"),
    ],
)  # fmt: skip
def test_unreadable_files_are_refused_with_the_reason(tmp_path, content, sentence):
    with pytest.raises(FormatError, match=sentence):
        read_text(tmp_path, content)


def test_a_cut_off_file_is_read_on_demand(tmp_path):
    trial = read_text(tmp_path, text(ROWS, frames=30), partial=True)
    assert trial.frames == 3
    assert any("3 of 30 frames are read" in note for note in trial.notes)


def test_labels_overrule_the_convention_and_the_user_overrules_both(tmp_path):
    rows = ["1\t0\t100\t50\t10\t120\t70\t1700", "2\t0.02\t100\t50\t10\t120\t70\t1700"]
    trial = read_text(tmp_path, text(rows, frames=2))
    assert np.array_equal(trial.axes, np.eye(3))
    assert any(
        "up is z of the file: the direction from the feet to the head" in n for n in trial.notes
    )
    trial = read_text(tmp_path, text(rows, frames=2), up="x")
    assert trial.positions[0, 0, 2] == pytest.approx(0.1)
    plain = text(rows, frames=2, labels="Frame#\tTime\tA\t\t\tB\t\t")
    trial = read_text(tmp_path, plain)
    assert any("up is y of the file: the convention of TRC files" in n for n in trial.notes)


@pytest.mark.parametrize(
    ("name", "rate", "start"),
    [
        ("gait10dof/static.trc", 60.0, 0.0),
        ("gait10dof/walk.trc", 60.0, 0.0),
        ("ik_synthetic/subject01_synthetic_marker_data.trc", 60.0, 0.4),
        ("arnold2013/subject01/markers.trc", 200.0, 3.38),
    ],
)
def test_real_files_stand_upright(shared_data, name, rate, start):
    trial = read(shared_data / name)
    assert (trial.rate, trial.start) == (rate, start)
    assert np.array_equal(trial.axes, Y_UP_TO_Z_UP)
    heights = trial.positions[..., 2]
    assert 1.4 < np.nanmax(heights) < 2.0
    assert -0.05 < np.nanmin(heights) < 0.2


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.sampled_from([30.0, 59.94, 100.0, 1000.0]), st.integers(1, 99))
def test_what_is_written_comes_back(tmp_path_factory, seed, rate, first):
    random = np.random.default_rng(seed)
    points, labels = person(frames=int(random.integers(1, 9)), seed=seed)
    points[random.uniform(size=points.shape[:2]) < 0.1] = np.nan
    points[0, 0] = [1.0, 2.0, 1700.0]
    points[0, 7] = [1.0, 2.0, 50.0]
    trial = Trial("a", tuple(labels), points / 1e3, rate, (first - 1) / rate, first)
    path = tmp_path_factory.mktemp("trc") / "back.trc"
    write(trial, path)
    back = read(path)
    assert back.markers == trial.markers
    assert np.allclose(back.positions, trial.positions, rtol=1e-11, equal_nan=True)
    assert back.rate == pytest.approx(rate)
    assert back.start == pytest.approx(trial.start)
    assert back.first_frame == first


def test_a_trial_from_a_trc_file_keeps_the_axes_of_the_file(shared_data, tmp_path):
    trial = read(shared_data / "c3d/std_walking2_markers.trc")
    assert np.array_equal(trial.axes, np.eye(3))
    write(trial, tmp_path / "back.trc")
    rows = (tmp_path / "back.trc").read_text().splitlines()[6:]
    upward = [float(cell) for row in rows if (cell := row.split("\t")[4]) != "NaN"]
    assert np.allclose(upward, 1e3 * trial.positions[trial.seen[:, 0], 0, 2])
    other = replace(trial, source="")
    write(other, tmp_path / "moved.trc")
    assert np.allclose(read(tmp_path / "moved.trc").positions, trial.positions, equal_nan=True)


def test_names_that_would_break_the_table_are_refused(tmp_path):
    trial = Trial("a", ("A\tB",), np.ones((1, 1, 3)), 10.0)
    with pytest.raises(FormatError, match="contains a tab"):
        write(trial, tmp_path / "a.trc")
    assert not list(tmp_path.iterdir())


def test_rows_beyond_the_stated_number_are_read_with_a_note(tmp_path):
    path = tmp_path / "long.trc"
    path.write_text(text(ROWS, frames=2))
    trial = read(path)
    assert trial.frames == 3
    assert "NumFrames is 2; the file has 3 rows, all are read" in trial.notes
