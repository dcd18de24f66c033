"""Ground forces in tables: groups by name or by an ExternalLoads file, turned to Z up."""

from dataclasses import replace

import numpy as np
import pytest

from homodyn.capture import (
    Table,
    read,
    read_plates,
    read_table,
    write_plates,
    write_table,
)
from homodyn.errors import CaptureError, FormatError
from homodyn.motion import ForcePlate


def save(folder, names, values=None, rate=100.0):
    if values is None:
        values = np.arange(1.0, 3 * len(names) + 1).reshape(3, len(names)) / 10
        values[:, [k for k, name in enumerate(names) if name.endswith(("vy", "_2"))]] += 700
    table = Table(tuple(names), np.arange(len(values)) / rate, values)
    write_table(table, folder / "grf.mot")
    return folder / "grf.mot", table


def triple(stem):
    return [f"{stem}{axis}" for axis in "xyz"]


@pytest.mark.parametrize(
    ("force", "point", "torque", "name"),
    [
        ("ground_force_v", "ground_force_p", "ground_torque_", "ground_force"),
        ("1_ground_force_v", "1_ground_force_p", "1_ground_torque_", "1_ground_force"),
        ("l_ground_force_v", "l_ground_force_p", "l_ground_torque_", "l_ground_force"),
        ("ground_force_r_v", "ground_force_r_p", "ground_torque_r_", "ground_force_r"),
        ("ground_force_1_v", "ground_force_1_p", "ground_moment_1_m", "ground_force_1"),
        ("ground_force_1_v", "ground_force_1_p", "ground_force_1_m", "ground_force_1"),
        ("FP1_v", "FP1_p", "FP1_m", "FP1"),
    ],
)
def test_columns_are_grouped_by_their_names(tmp_path, force, point, torque, name):
    names = [*triple(force), *triple(point), *triple(torque)]
    path, table = save(tmp_path, names)
    (plate,) = read_plates(path)
    assert plate.name == name
    assert plate.rate == 100.0
    for vectors, stem in ((plate.force, force), (plate.point, point), (plate.torque, torque)):
        x, y, z = table.select(triple(stem)).T
        assert np.allclose(vectors, np.stack([x, -z, y], axis=-1))


def test_several_groups_in_any_order(tmp_path):
    names = [*triple("ground_torque_"), *triple("1_ground_force_p"), *triple("ground_force_v"),
             *triple("1_ground_force_v"), *triple("ground_force_p")]  # fmt: skip
    plates = read_plates(save(tmp_path, names)[0])
    assert [plate.name for plate in plates] == ["ground_force", "1_ground_force"]
    assert not plates[1].torque.any()
    assert plates[0].torque.any()


SETUP = """<OpenSimDocument Version="40000"><ExternalLoads name="l"><objects>
<ExternalForce name="right"><appliesForce>true</appliesForce>
<applied_to_body>/bodyset/calcn_r</applied_to_body><force_identifier>{force}</force_identifier>
<force_expressed_in_body>{frame}</force_expressed_in_body>
<point_identifier>spot</point_identifier><torque_identifier>twist</torque_identifier>
</ExternalForce>
<ExternalForce name="off"><isDisabled>true</isDisabled></ExternalForce>
</objects></ExternalLoads></OpenSimDocument>"""


def test_a_setup_names_columns_and_bodies(tmp_path):
    path, table = save(tmp_path, [*triple("push_vy"), *triple("spot"), *triple("twist_")],
                       np.full((3, 9), 5.0) + np.eye(3, 9, 1) * 900)  # fmt: skip
    setup = tmp_path / "loads.xml"
    setup.write_text(SETUP.format(force="push", frame="ground"))
    (plate,) = read_plates(path, setup=setup)
    assert (plate.name, plate.body) == ("right", "calcn_r")
    assert np.allclose(plate.force[:, 2], table.column("push_vyy"))
    setup.write_text(SETUP.format(force="pull", frame="ground"))
    with pytest.raises(FormatError, match=r"force_identifier 'pull' matches 0 columns .* push_vyx"):
        read_plates(path, setup=setup)
    setup.write_text(SETUP.format(force="push", frame="pelvis"))
    with pytest.raises(FormatError, match="'pelvis'; only ground is supported"):
        read_plates(path, setup=setup)
    setup.write_text("<a/>")
    with pytest.raises(FormatError, match="it has no ExternalForce"):
        read_plates(path, setup=setup)


@pytest.mark.parametrize(
    ("folder", "data", "setup"),
    [
        ("gait10dof", "walk_grf.mot", "walk_grf.xml"),
        ("opensim_id", "subject01_walk1_grf.mot", "subject01_walk1_grf.xml"),
    ],
)
def test_real_forces_by_names_and_by_setup_are_the_same(shared_data, folder, data, setup):
    path = shared_data / folder / data
    by_name, by_setup = read_plates(path), read_plates(path, setup=shared_data / folder / setup)
    assert [plate.body for plate in by_setup] == ["calcn_r", "calcn_l"]
    for one, other in zip(by_name, by_setup, strict=True):
        assert np.array_equal(one.force, other.force)
        assert np.array_equal(one.point, other.point)
        assert np.array_equal(one.torque, other.torque)
        assert one.rate == 600.0
        assert 750 < one.force[:, 2].max() < 900
    table = read_table(path)
    assert np.array_equal(by_name[0].force[:, 2], table.column("ground_force_vy"))
    assert np.array_equal(by_name[0].torque[:, 2], table.column("ground_torque_y"))
    assert np.array_equal(by_name[0].point[:, 1], -table.column("ground_force_pz"))


def test_forces_join_the_markers_they_belong_to(shared_data):
    folder = shared_data / "gait10dof"
    trial = read(folder / "walk.trc", forces=folder / "walk_grf.mot")
    loaded = trial.plates[0].force[:, 2] > 300
    point = trial.plates[0].point[loaded]
    heel = np.interp(trial.plates[0].time[loaded], trial.time, trial.marker("R.Heel")[:, 0])
    assert np.abs(point[:, 0] - heel).max() < 0.4


def test_forces_against_up_or_unit_are_refused_with_the_remedy(shared_data, tmp_path):
    path = shared_data / "c3d/std_cop_walking2_grfs.sto"
    with pytest.raises(CaptureError, match=r"largest along z, but up is y; .* --up z"):
        read_plates(path)
    with pytest.raises(CaptureError, match="pass the unit of the file, such as unit='mm'"):
        read_plates(path, up="z")
    plates = read_plates(path, up="z", unit="mm")
    trial = read(shared_data / "c3d/walking2.c3d")
    assert plates[0].force[:, 2].max() == pytest.approx(trial.plates[0].force[::100, 2].max())
    names = [*triple("ground_force_v"), *triple("ground_force_p")]
    values = np.tile([0, -700.0, 0, 0, 0, 0], (4, 1))
    with pytest.raises(CaptureError, match="the vertical force along y is negative"):
        read_plates(save(tmp_path, names, values)[0])
    with pytest.raises(CaptureError, match="unit='ell' is not a unit of length"):
        read_plates(path, unit="ell")


def test_tables_without_forces_are_refused(tmp_path):
    with pytest.raises(FormatError, match=r"no columns are a force.*the table has knee, hip"):
        read_plates(save(tmp_path, ["knee", "hip"])[0])
    with pytest.raises(FormatError, match="'ground_force_vx' has no point of application"):
        read_plates(save(tmp_path, triple("ground_force_v"))[0])


def test_nothing_under_a_foot_may_be_blank(tmp_path):
    names = [*triple("ground_force_v"), *triple("ground_force_p")]
    values = np.tile([0, 700.0, 0, 0.5, 0, 0.5], (4, 1))
    values[0] = np.nan
    (plate,) = read_plates(save(tmp_path, names, values)[0])
    assert not plate.force[0].any()
    assert np.isfinite(plate.point).all()


@pytest.mark.parametrize("suffix", [".mot", ".sto", ".csv"])
@pytest.mark.parametrize("up", ["y", "z"])
def test_written_forces_come_back(tmp_path, suffix, up):
    random = np.random.default_rng(4)
    force = random.normal(0, 20, (50, 3)) + np.array([0, 0, 600.0])
    plates = [
        ForcePlate(
            name, 200.0, force, random.normal(size=(50, 3)), random.normal(size=(50, 3)), 1.5
        )
        for name in ("left", "right")
    ]
    path = tmp_path / f"grf{suffix}"
    for count in (1, 2):
        write_plates(plates[:count], path, up=up)
        back = read_plates(path, up=up)
        assert len(back) == count
        for one, other in zip(plates, back, strict=False):
            assert (one.rate, one.start) == (other.rate, other.start)
            for part in ("force", "point", "torque"):
                assert np.array_equal(getattr(one, part), getattr(other, part))
    with pytest.raises(CaptureError, match="differ in rate, start or length"):
        write_plates([plates[0], replace(plates[1], start=0.0)], path)
    with pytest.raises(CaptureError, match="no plates to write"):
        write_plates([], path)
