"""Plates of every type give the wrench of the textbook, of ezc3d and of OpenSim's answers."""

import numpy as np
import pytest

from homodyn.capture import (
    read,
    read_table,
    write,
)
from homodyn.capture.formats.c3d_plates import (
    moment_unit,
    plate_axes,
    plate_wrench,
)
from homodyn.motion import STANCE_THRESHOLD, PlateChannels
from support.c3d_files import C3D, person

CORNERS = np.array([(0.0, 0.4, 0.0), (0.6, 0.4, 0.0), (0.6, 0.0, 0.0), (0.0, 0.0, 0.0)])
MIDDLE = CORNERS.mean(axis=0)
FRAME = np.array([[-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, -1.0]])
"""Axes of that plate as columns: x toward the first corner, z into the floor."""


def moment_about(point, force, at, torque):
    return torque + np.cross(at - point, force)


@pytest.fixture
def pushes():
    """Ground reactions (N) at points of the surface (m) with free moments (N m), in the world."""
    random = np.random.default_rng(5)
    force = random.normal(0, 60, (50, 3))
    force[:, 2] = random.uniform(50, 900, 50)
    force[:5, 2] = random.uniform(-5, 5, 5)
    point = np.stack([random.uniform(0, 0.6, 50), random.uniform(0, 0.4, 50), np.zeros(50)], -1)
    torque = np.stack([np.zeros(50), np.zeros(50), random.normal(0, 8, 50)], -1)
    return force, point, torque


def agrees(answer, pushes):
    force, point, torque = answer
    loaded = np.abs(pushes[0][:, 2]) > STANCE_THRESHOLD.center_of_pressure_n
    assert 0 < (~loaded).sum() < 10
    assert np.allclose(force, pushes[0])
    assert np.allclose(point[loaded], pushes[1][loaded])
    assert np.allclose(torque[loaded], pushes[2][loaded])
    assert np.allclose(point[~loaded], MIDDLE)
    # The same wrench, wherever it is taken.
    there = np.array([0.3, -0.2, 0.9])
    assert np.allclose(
        moment_about(there, force, point, torque),
        moment_about(there, pushes[0], pushes[1], pushes[2]),
    )


def at_transducer(pushes, origin):
    """Force and moment in the frame of the plate, at the transducer below the surface."""
    force, point, torque = (part @ FRAME for part in (pushes[0], pushes[1] - MIDDLE, pushes[2]))
    return force, moment_about(-np.asarray(origin), force, point, torque)


def test_the_frame_of_a_plate_is_its_corners():
    assert np.allclose(plate_axes(CORNERS), FRAME)
    assert plate_axes(CORNERS * 1e-9) is None
    assert plate_axes(np.full((4, 3), np.nan)) is None
    assert plate_axes(np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0.0]])) is None


@pytest.mark.parametrize("origin", [(0.0, 0.0, 0.0), (0.003, -0.002, -0.04)])
def test_type_2(pushes, origin):
    force, moment = at_transducer(pushes, origin)
    channels = np.concatenate([force, 1e3 * moment], axis=1)
    layout = PlateChannels(2, ("",) * 6, CORNERS, np.array(origin), moment_unit=1e-3)
    agrees(plate_wrench(layout, channels), pushes)
    # Many writers give the same vector with the opposite sign.
    rotated = PlateChannels(2, ("",) * 6, CORNERS, -np.array(origin), moment_unit=1e-3)
    agrees(plate_wrench(rotated, channels), pushes)


def test_type_2_by_the_formula_of_the_manual():
    # AMTI: CoP = ((Fx dz - My) / Fz, (Fy dz + Mx) / Fz), the surface at dz from the transducer.
    fx, fy, fz, mx, my, mz, dz = 30.0, -20.0, -800.0, 40.0, 25.0, 3.0, -0.04
    x, y = (fx * dz - my) / fz, (fy * dz + mx) / fz
    layout = PlateChannels(2, ("",) * 6, CORNERS, np.array([0.0, 0.0, dz]))
    force, point, torque = plate_wrench(layout, np.array([[fx, fy, fz, mx, my, mz]]))
    assert np.allclose(force[0], [-fx, fy, -fz])
    assert np.allclose(point[0], MIDDLE + np.array([-x, y, 0.0]))
    assert np.allclose(torque[0], [0.0, 0.0, -(mz - x * fy + y * fx)])


def test_type_1(pushes):
    force, point, torque = (part @ FRAME for part in (pushes[0], pushes[1] - MIDDLE, pushes[2]))
    channels = np.concatenate([force, 1e3 * point[:, :2], 1e3 * torque[:, 2:]], axis=1)
    layout = PlateChannels(1, ("",) * 6, CORNERS, np.zeros(3), length_unit=1e-3, moment_unit=1e-3)
    agrees(plate_wrench(layout, channels), pushes)


def eight_forces(pushes, a, b, az0):
    """What the four transducers of a Kistler plate feel, chosen to sum up to the wrench."""
    force, moment = at_transducer(pushes, (0.0, 0.0, az0))
    fx, fy, fz = force.T
    mx, my, mz = moment.T
    z1 = fz / 4 + mx / (4 * b) - my / (4 * a)
    z2 = fz / 4 + mx / (4 * b) + my / (4 * a)
    z3 = fz / 4 - mx / (4 * b) + my / (4 * a)
    z4 = fz / 4 - mx / (4 * b) - my / (4 * a)
    x12, y14 = fx / 2 - mz / (4 * b), fy / 2 + mz / (4 * a)
    return np.stack([x12, fx - x12, y14, fy - y14, z1, z2, z3, z4], axis=-1)


def test_type_3(pushes):
    origin = np.array([0.21, 0.12, -0.05])
    agrees(
        plate_wrench(PlateChannels(3, ("",) * 8, CORNERS, origin), eight_forces(pushes, *origin)),
        pushes,
    )


def test_types_with_a_calibration_matrix(pushes):
    random = np.random.default_rng(3)
    force, moment = at_transducer(pushes, (0.0, 0.0, -0.04))
    six = np.concatenate([force, moment], axis=1)
    matrix = random.normal(size=(6, 6)) + 4 * np.eye(6)
    layout = PlateChannels(4, ("",) * 6, CORNERS, np.array([0, 0, -0.04]), calibration=matrix)
    agrees(plate_wrench(layout, six @ np.linalg.inv(matrix).T), pushes)
    wide = random.normal(size=(6, 8))
    layout = PlateChannels(5, ("",) * 8, CORNERS, np.array([0, 0, -0.04]), calibration=wide)
    agrees(plate_wrench(layout, six @ np.linalg.pinv(wide).T), pushes)
    origin = np.array([0.21, 0.12, -0.05])
    square = random.normal(size=(8, 8)) + 4 * np.eye(8)
    layout = PlateChannels(7, ("",) * 8, CORNERS, origin, calibration=square)
    agrees(plate_wrench(layout, eight_forces(pushes, *origin) @ np.linalg.inv(square).T), pushes)


def test_the_correction_of_kistler_moves_the_center_of_pressure(pushes):
    origin = np.array([0.21, 0.12, -0.05])
    linear = np.zeros((2, 6))
    linear[0, 5], linear[1, 5] = 0.1, 0.2
    layout = PlateChannels(3, ("",) * 8, CORNERS, origin, correction=linear)
    _, point, torque = plate_wrench(layout, eight_forces(pushes, *origin))
    loaded = np.abs(pushes[0][:, 2]) > STANCE_THRESHOLD.center_of_pressure_n
    expected = (pushes[1] - MIDDLE) * [0.9, 0.8, 1.0] + MIDDLE
    assert np.allclose(point[loaded], expected[loaded])
    assert np.allclose(torque[loaded, :2], 0.0)


@pytest.mark.parametrize(
    ("units", "factor"),
    [(["Nmm"], 1e-3), (["N·m"], 1.0), (["N.mm", ""], 1e-3), (["V", "V"], 0.01), ([], 0.01)],
)
def test_units_of_moments(units, factor):
    assert moment_unit(units, 0.01) == factor


def test_opensims_answers_for_a_walking_trial(shared_data):
    trial = read(shared_data / "c3d/walking2.c3d")
    # Both files hold every hundredth sample in N, mm and N mm: one with the moment at the middle
    # of the plate, the other with the center of pressure and the free moment.
    middle = read_table(shared_data / "c3d/std_walking2_grfs.sto")
    pressed = read_table(shared_data / "c3d/std_cop_walking2_grfs.sto")
    samples = np.rint(middle.time * 2000).astype(int)

    def columns(table, kind, number):
        return table.select([f"{kind}{number}_{axis}" for axis in (1, 2, 3)])

    printed = 6e-9
    for number, plate in enumerate(trial.plates, start=1):
        force, point = plate.force[samples], plate.point[samples]
        torque = plate.torque[samples]
        assert np.abs(force - columns(middle, "f", number)).max() < printed
        center = columns(middle, "p", number)
        assert np.abs(1e3 * plate.corners.mean(axis=0) - center).max() < printed
        moment = 1e3 * moment_about(plate.corners.mean(axis=0), force, point, torque)
        assert np.abs(moment - columns(middle, "m", number)).max() < printed
        loaded = np.abs(force[:, 2]) > STANCE_THRESHOLD.center_of_pressure_n
        assert loaded.sum() > 90
        assert np.abs(1e3 * point - columns(pressed, "p", number))[loaded].max() < 6e-8
        assert np.abs(1e3 * torque - columns(pressed, "m", number))[loaded].max() < 6e-7


def test_opensims_markers_for_a_walking_trial(shared_data):
    trial = read(shared_data / "c3d/walking2.c3d")
    lines = (shared_data / "c3d/std_walking2_markers.trc").read_text().splitlines()
    rows = [line.split("\t") for line in lines if line[:1].isdigit()][1:]
    assert len(rows) == 126
    for row in rows:
        frame = min(round(float(row[1]) * 250), trial.frames - 1)
        ours = 1e3 * trial.positions[frame].ravel()
        theirs = np.array([float(cell) for cell in row[2 : 2 + len(ours)]])
        assert np.array_equal(np.isnan(ours), np.isnan(theirs))
        # Five digits are printed there; beyond them nothing may differ.
        digit = 10.0 ** (np.floor(np.log10(np.abs(theirs))) - 4)
        assert (np.abs(ours - theirs) <= 0.5 * digit + 1e-4)[~np.isnan(ours)].all()


@pytest.mark.parametrize("name", ["walking2", "Qualisys", "FP_Type3", "ten_plates_no_markers"])
def test_ezc3d_computes_the_same_forces_and_moments(shared_data, name):
    ezc3d = pytest.importorskip("ezc3d")
    path = shared_data / f"c3d/{name}.c3d"
    theirs = ezc3d.c3d(str(path), extract_forceplat_data=True)["data"]["platform"]
    trial = read(path)
    assert len(theirs) == len(trial.plates)
    for plate, other in zip(trial.plates, theirs, strict=True):
        assert np.allclose(plate.force, other["force"].T, atol=1e-6 * np.abs(plate.force).max())
        if name == "FP_Type3":
            # There the correction changes the wrench by design; ezc3d keeps it and moves the point.
            loaded = np.abs(plate.force[:, 2]) > STANCE_THRESHOLD.center_of_pressure_n
            points = other["center_of_pressure"].T[loaded] / 1e3
            assert np.allclose(plate.point[loaded], points, atol=1e-6)
            continue
        center = plate.corners.mean(axis=0)
        moment = moment_about(center, plate.force, plate.point, plate.torque)
        exact = other["moment"].T / 1e3
        assert np.allclose(moment, exact, atol=1e-6 * np.abs(exact).max())


def test_a_plate_that_cannot_be_computed_is_omitted_with_a_note(tmp_path):
    points, labels = person()
    corners = 1e3 * np.stack([CORNERS.T] * 5, axis=-1)
    group = {
        "USED": 6,
        "TYPE": np.array([2, 21, 2, 4, 5]),
        "CORNERS": corners,
        "ORIGIN": np.zeros((3, 5)),
        "CHANNEL": np.array([[1], [2], [3], [4], [5], [6], [0], [0]]).repeat(5, axis=1),
    }
    group["CHANNEL"][5, 2] = 9
    file = C3D(
        points=points,
        analog=np.ones((20, 6)),
        groups={"POINT": {"LABELS": labels}, "FORCE_PLATFORM": group},
    )
    path = tmp_path / "plates.c3d"
    path.write_bytes(file.bytes())
    trial = read(path)
    assert [plate.name for plate in trial.plates] == ["plate 1", "plate 4"]
    notes = "\n".join(trial.notes)
    assert "plate 2 is omitted: its type 21 is not supported; types 1, 2, 3, 4, 5, 7 are" in notes
    assert "plate 3 is omitted: it uses channels up to 9, the file has 6" in notes
    assert "plate 5 is omitted: it uses" in notes
    assert "plate 6 is omitted: FORCE_PLATFORM:TYPE has no entry for it" in notes


def calibrated(kind: int, matrix: np.ndarray, *, byrow: bool = False) -> bytes:
    """A file with one plate whose channels are random voltages and whose matrix is given."""
    random = np.random.default_rng(8)
    points, labels = person()
    count = matrix.shape[1]
    volts = random.normal(size=(80, count))
    # A person stands on it: what is left over of the matrix after the third row stays small.
    volts += 8 * np.linalg.pinv(matrix)[:, 2]
    group = {
        "USED": 1,
        "TYPE": np.array([kind]),
        "CORNERS": 1e3 * CORNERS.T[..., None],
        "ORIGIN": np.array([[210.0], [120.0], [-40.0]]),
        "CHANNEL": np.arange(1, count + 1)[:, None],
        "CAL_MATRIX": (matrix.T if byrow else matrix)[..., None],
    }
    if byrow:
        group["MATRIX_STORE"] = ["BYROW"]
    return C3D(
        points=points,
        analog=volts,
        groups={
            "POINT": {"LABELS": labels},
            "ANALOG": {"LABELS": [f"v{k}" for k in range(count)], "UNITS": ["V"] * count},
            "FORCE_PLATFORM": group,
        },
    ).bytes()


@pytest.mark.parametrize(("kind", "shape"), [(4, (6, 6)), (5, (6, 8)), (7, (8, 8))])
def test_calibrated_plates_in_files_read_and_come_back(tmp_path, kind, shape):
    matrix = np.random.default_rng(kind).normal(0, 30, shape)
    (tmp_path / "a.c3d").write_bytes(calibrated(kind, matrix))
    (tmp_path / "b.c3d").write_bytes(calibrated(kind, matrix, byrow=True))
    (one,), (other,) = (read(tmp_path / name).plates for name in ("a.c3d", "b.c3d"))
    assert np.array_equal(one.force, other.force)
    assert one.channels.kind == kind
    assert np.allclose(one.channels.calibration, matrix, rtol=1e-6)
    write(read(tmp_path / "a.c3d"), tmp_path / "back.c3d")
    (back,) = read(tmp_path / "back.c3d").plates
    assert back.channels.kind == kind
    assert np.allclose(back.force, one.force, rtol=1e-5, atol=1e-4)
    assert np.allclose(back.torque, one.torque, rtol=1e-4, atol=1e-4)


def test_ezc3d_calibrates_the_same(tmp_path):
    ezc3d = pytest.importorskip("ezc3d")
    (tmp_path / "a.c3d").write_bytes(calibrated(4, np.random.default_rng(4).normal(0, 30, (6, 6))))
    # Without ANALOG:SCALE and OFFSET ezc3d would end the process: what we write has all of it.
    path = tmp_path / "whole.c3d"
    write(read(tmp_path / "a.c3d"), path)
    (theirs,) = ezc3d.c3d(str(path), extract_forceplat_data=True)["data"]["platform"]
    (plate,) = read(path).plates
    sign = plate.channels.sign
    assert np.allclose(plate.force, sign * theirs["force"].T, rtol=1e-5, atol=1e-4)
    moment = moment_about(MIDDLE, plate.force, plate.point, plate.torque)
    assert np.allclose(moment, sign * theirs["moment"].T / 1e3, rtol=1e-4, atol=1e-3)
