import csv

import numpy as np
import pytest

from homodyn.errors import SearchError
from homodyn.search import GA, Job, Objective, Pool, SearchParameter, Study, export, run
from homodyn.search.jobs import ExecutionSettings


def grade(parameters, structure):
    if parameters["x"] > 1.5:
        raise ValueError("too far")
    return {"value": parameters["x"], "g": len(structure), "steps": 9}


@pytest.fixture(scope="module")
def study():
    job = Job(
        [SearchParameter("x", -2, 2), SearchParameter("y", 1, 10, scale="log")],
        # An objective with the name of another column.
        [Objective("value", until="< 1"), Objective("g")],
        pools=[Pool("form", {"one": ("x",), "two": ("x", "y")})],
        optimizer=GA(15),
        iterations=4,
        run=ExecutionSettings(where="serial"),
    )
    return run(job, grade).study


def test_csv_has_every_candidate_with_all_its_bits(study, tmp_path):
    assert export(study, tmp_path / "a.csv") == 60
    with open(tmp_path / "a.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == [
        "generation",
        "member",
        "status",
        "stage",
        "value",
        "form",
        "x",
        "y",
        "objective.value",
        "g",
        "seconds",
        "node",
        "data",
        "message",
    ]
    everything = study.candidates(0, 4)
    assert [float(row["x"]) for row in rows] == everything.values[:, 0].tolist()
    assert {row["status"] for row in rows} == {"ok", "failed"}
    assert all((row["y"] == "") == (row["form"] == "one") for row in rows)
    assert all((row["g"] == "") == (row["status"] == "failed") for row in rows)
    outcomes = {(row["status"], row["data"], row["message"]) for row in rows}
    assert outcomes == {("ok", '{"steps": 9}', ""), ("failed", "", "ValueError: too far")}


def test_parquet_has_the_same(study, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    assert export(study, tmp_path / "a.parquet") == 60
    table = parquet.read_table(tmp_path / "a.parquet")
    everything = study.candidates(0, 4)
    np.testing.assert_array_equal(table["x"].to_numpy(), everything.values[:, 0])
    np.testing.assert_array_equal(table["objective.value"].to_numpy(), everything.results[:, 0])
    assert set(table["form"].to_pylist()) == {"one", "two"}
    assert set(table["message"].to_pylist()) == {"", "ValueError: too far"}


def test_other_formats_are_refused_and_no_partial_file_is_written(study, tmp_path):
    with pytest.raises(SearchError, match=r"has \.xls; accepted: \.csv, \.parquet"):
        export(study, tmp_path / "a.xls")
    with pytest.raises(SearchError, match="cannot be written"):
        export(study, tmp_path / "no" / "a.csv")
    assert not list(tmp_path.iterdir())


def test_a_full_disk_leaves_no_partial_table(study, tmp_path):
    (tmp_path / "a.csv").write_text("before")
    import homodyn.search.studies.table_files as table_files

    def broken(tables, path):
        with open("/dev/full", "w") as file:
            file.write("x" * 10**6)
        return 1

    original, table_files._write_csv = table_files._write_csv, broken
    try:
        with pytest.raises(SearchError, match="No space left on device"):
            export(study, tmp_path / "a.csv")
    finally:
        table_files._write_csv = original
    assert (tmp_path / "a.csv").read_text() == "before"
    assert isinstance(study, Study)
