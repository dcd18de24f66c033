import numpy as np
import pandas
import pytest

import homodyn as hd
from homodyn.track.streams.outputs import ResultFiles
from support.live_samples import live_sample


@pytest.fixture(scope="module")
def model():
    return hd.catalog.hdm()


def test_motion_and_table_can_be_read_at_any_time(tmp_path, model):
    files = ResultFiles(tmp_path)
    files.start(model)
    samples = [live_sample(model, k) for k in range(6)]
    for k, sample in enumerate(samples):
        files.write(sample)
        if k == 2:
            assert len(hd.capture.read_table(tmp_path / "motion.mot").time) == 3
    files.close()
    table = hd.capture.read_table(tmp_path / "motion.mot")
    assert tuple(table.names) == model.coordinate_names
    np.testing.assert_allclose(table.time, [sample.time for sample in samples])
    rows = pandas.read_csv(tmp_path / "frames.csv")
    assert len(rows) == 6
    np.testing.assert_allclose(
        rows[f"{model.coordinate_names[7]}_torque"], [sample.torques[7] for sample in samples]
    )
    np.testing.assert_allclose(rows["left_heel_ground_force_z"], 400.0)
    assert rows["right_heel_ground_point_x"].isna().all()
    assert (rows["effort_nm"] > 0).all()


def test_angles_are_in_the_unit_of_the_header(tmp_path, model):
    files = ResultFiles(tmp_path)
    files.start(model)
    files.write(live_sample(model, 3))
    files.close()
    text = (tmp_path / "motion.mot").read_text()
    assert "nRows=1" in text
    assert "inDegrees=yes" in text
    sample = live_sample(model, 3)
    last = model.coordinate_names[-1]
    table = hd.capture.read_table(tmp_path / "motion.mot")
    values = dict(zip(table.names, table.values[0], strict=True))
    np.testing.assert_allclose(values[last], np.rad2deg(sample.q[-1]), rtol=1e-7)


def test_another_model_begins_other_files(tmp_path, model):
    files = ResultFiles(tmp_path)
    for _ in range(2):
        files.start(model)
        files.write(live_sample(model, 1))
    files.close()
    names = [path.name for path in files.paths]
    assert names == ["motion.mot", "frames.csv", "motion_2.mot", "frames_2.csv"]


def test_parquet_has_the_rows_of_the_table(tmp_path, model):
    files = ResultFiles(tmp_path, parquet=True)
    files.start(model)
    for k in range(3):
        files.write(live_sample(model, k))
    files.close()
    pandas.testing.assert_frame_equal(
        pandas.read_parquet(tmp_path / "frames.parquet"), pandas.read_csv(tmp_path / "frames.csv")
    )
