"""Scaling by setup files of OpenSim's ScaleTool: against known truth and against OpenSim."""

import importlib.util
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture.kinematics import scale_by_setup, to_world_axes
from homodyn.errors import CaptureError

from .scale_setups import write_setup

PAIRS = {
    "shanks": (
        [("RKNE", "RTIB"), ("LKNE", "LTIB")],
        {"ShankRight": "xyz", "ShankLeft": "xyz"},
    ),
    "feet": ([("RHEE", "RTOE")], {"FootRight": "x", "FootLeft": "xyz"}),
}
LEGS = {
    "pelvis": ([("r.ASIS", "L.ASIS"), ("r.PSIS", "L.PSIS")], {"pelvis": "XYZ"}),
    "thighs": ([("r.ASIS", "r_knee"), ("L.ASIS", "L_knee")], {"femur_r": "XYZ", "femur_l": "XYZ"}),
    "shanks": (
        [("r_knee", "r_ankle"), ("L_knee", "L_ankle")],
        {"tibia_r": "XYZ", "tibia_l": "XYZ"},
    ),
    "feet": ([("r_calc", "r_toe"), ("L_calc", "L_toe")], {"calcn_r": "XYZ", "calcn_l": "XYZ"}),
}
GENERIC = hd.catalog.heiman(1.75, 70.0)
FACTORS = {"ShankRight": 1.1, "ShankLeft": 1.1, "FootRight": 0.9, "FootLeft": 0.9}
PERSON = hd.catalog.scale(GENERIC, FACTORS, 82.0)


def standing(person: hd.Model, frames: int = 20) -> hd.capture.Trial:
    """A trial in which a person stands."""
    positions = hd.dynamics.marker_positions(person, person.neutral())
    names = tuple(marker.name for marker in person.markers)
    return hd.capture.Trial("static", names, np.repeat(positions[None], frames, axis=0), rate=100)


def weights_of(model: hd.Model) -> dict[str, float]:
    return {marker.name: 1.0 for marker in model.markers}


def test_lengths_of_marker_pairs_give_the_factors_of_their_bodies(tmp_path: Path) -> None:
    setup = write_setup(tmp_path / "setup.xml", PAIRS, weights_of(GENERIC), mass=82.0)
    found = scale_by_setup(GENERIC, standing(PERSON), setup)
    for side in ("Right", "Left"):
        np.testing.assert_allclose(found.scales[f"Shank{side}"], 1.1, rtol=1e-12)
    np.testing.assert_allclose(found.scales["FootLeft"], 0.9, rtol=1e-12)
    np.testing.assert_allclose(found.scales["FootRight"], [0.9, 1, 1], rtol=1e-12)
    np.testing.assert_array_equal(found.scales["Head"], 1.0)
    assert found.model.mass == pytest.approx(82.0, rel=1e-12)
    rows = {row.body: row for row in found.bodies}
    assert rows["FootRight"].measured.tolist() == [True, False, False]
    assert rows["FootRight"].source == "x: feet"
    assert rows["Head"].source == "not scaled"


def test_the_later_step_of_the_order_decides(tmp_path: Path) -> None:
    trial, manual = standing(PERSON), {"ShankRight": (1.0, 1.2, 1.05)}
    for order, expected in (
        ("measurements manualScale", [1.0, 1.2, 1.05]),
        ("manualScale measurements", [1.1, 1.1, 1.1]),
    ):
        path = write_setup(
            tmp_path / "setup.xml", PAIRS, weights_of(GENERIC), manual=manual, order=order
        )
        found = scale_by_setup(GENERIC, trial, path, mass=70)
        np.testing.assert_allclose(found.scales["ShankRight"], expected, rtol=1e-12)


def test_markers_move_to_the_static_pose_unless_they_are_fixed(tmp_path: Path) -> None:
    moved = {"RTHI": np.array([0.03, 0.0, 0.02]), "LASI": np.array([0.0, 0.02, 0.0])}
    person = replace(
        PERSON,
        markers=tuple(
            replace(m, position=m.position + moved.get(m.name, np.zeros(3))) for m in PERSON.markers
        ),
    )
    generic = replace(
        GENERIC, markers=tuple(replace(m, fixed=m.name == "LASI") for m in GENERIC.markers)
    )
    sizes = {
        "all": PAIRS["shanks"],
        "feet": (PAIRS["feet"][0], {"FootRight": "xyz", "FootLeft": "xyz"}),
    }
    weights = {name: 0.0 if name in moved else 1.0 for name in weights_of(generic)}
    setup = write_setup(tmp_path / "setup.xml", sizes, weights)
    found = scale_by_setup(generic, standing(person), setup, mass=82)
    shifts = {row.marker: row.shift for row in found.marker_shifts}
    np.testing.assert_allclose(shifts["RTHI"], moved["RTHI"], atol=1e-6)
    np.testing.assert_array_equal(shifts["LASI"], 0.0)
    np.testing.assert_allclose(shifts["RANK"], 0.0, atol=1e-6)


def test_missing_markers_bodies_and_frames_are_reported(tmp_path: Path) -> None:
    trial = standing(PERSON)
    less = trial.select_markers([name for name in trial.markers if name != "LTIB"])
    path = tmp_path / "setup.xml"
    found = scale_by_setup(GENERIC, less, write_setup(path, PAIRS, weights_of(GENERIC)))
    assert any("'shanks' is in part not used" in w and "LTIB" in w for w in found.warnings)
    np.testing.assert_allclose(found.scales["ShankLeft"], 1.1, rtol=1e-12)
    assert any("mass not given" in warning for warning in found.warnings)
    wrong = {"tail": ([("RKNE", "RTIB")], {"Tail": "xyz"})}
    with pytest.raises(CaptureError, match="Tail"):
        scale_by_setup(GENERIC, trial, write_setup(path, wrong, weights_of(GENERIC)))
    with pytest.raises(CaptureError, match=r"from 5 to 6 s.*lasts from 0 to 0\.19 s"):
        scale_by_setup(
            GENERIC, trial, write_setup(path, PAIRS, weights_of(GENERIC), interval="5 6")
        )
    with pytest.raises(CaptureError, match="weight above zero"):
        scale_by_setup(GENERIC, trial, write_setup(path, PAIRS, {}))


RUN_SCALE_TOOL = """
import sys, opensim
opensim.Logger.setLevelString("off")
sys.exit(0 if opensim.ScaleTool(sys.argv[1]).run() else 1)
"""


def pose_of(model: hd.Model, path: Path) -> np.ndarray:
    """The pose in a motion file of OpenSim with one row, in radians."""
    table, q = hd.capture.read_table(path), model.neutral().copy()
    values = {
        name.split("/")[-2]: table.values[0, k]
        for k, name in enumerate(table.names)
        if name.endswith("/value")
    }
    assert not table.degrees
    for name, index in zip(model.coordinate_names, model.position_index, strict=True):
        if index is not None and name in values:
            q[index] = values[name]
    return q


def test_sizes_and_masses_are_those_of_opensim_and_the_pose_fits_no_worse(
    shared_data: Path, tmp_path: Path
) -> None:
    if importlib.util.find_spec("opensim") is None:
        pytest.skip("opensim is not installed")
    data = shared_data / "real_subject4"
    for name in ("unscaled_generic.osim", "static1.trc"):
        (tmp_path / name).write_bytes((data / name).read_bytes())
    generic = hd.load(tmp_path / "unscaled_generic.osim", as_measured=True)
    trial = hd.capture.read(tmp_path / "static1.trc")
    weights = {m.name: 1.0 for m in generic.markers if m.fixed and m.name in trial.markers}
    files = {"model_file": "unscaled_generic.osim", "marker_file": "static1.trc"}
    setup = write_setup(
        tmp_path / "setup.xml", LEGS, weights, manual={"torso": (1.02, 1.05, 0.98)}, mass=72.5,
        keep_shares=True, interval="0.5 1.0", files=files,
    )  # fmt: skip
    script = [sys.executable, "-c", RUN_SCALE_TOOL, str(setup)]
    subprocess.run(script, cwd=tmp_path, check=True, capture_output=True)
    expected = hd.load(tmp_path / "placed.osim", as_measured=True)
    found = scale_by_setup(generic, trial, setup)
    assert found.model.mass == pytest.approx(72.5, rel=1e-9)
    for ours, theirs in zip(found.model.bodies, expected.bodies, strict=True):
        assert ours.mass == pytest.approx(theirs.mass, rel=1e-6)
    for joint in expected.joints:
        np.testing.assert_allclose(
            found.model.joint(joint.name).placement.r, joint.placement.r, atol=1e-7
        )
    # OpenSim stops in one of several poses that fit almost as well; ours has to fit no worse.
    sized = hd.load(tmp_path / "sized.osim", as_measured=True)
    still = to_world_axes(sized, trial.crop(0.5, 1.0))
    rows = [m.name for m in sized.markers]
    measured = {name: np.nanmean(still.marker(name), axis=0) for name in weights}

    def cost(q: np.ndarray) -> float:
        places = hd.dynamics.marker_positions(sized, q)
        return sum(((places[rows.index(n)] - measured[n]) ** 2).sum() for n in weights)

    theirs_q = pose_of(sized, tmp_path / "pose.mot")
    assert cost(found.q[0]) <= (1 + 1e-6) * cost(theirs_q)
    # In its pose OpenSim moves the markers that are not fixed to their measured places, as we do.
    places = hd.dynamics.marker_positions(expected, theirs_q)
    ours = hd.dynamics.marker_positions(found.model, found.q[0])
    names = [m.name for m in expected.markers]
    for marker in generic.markers:
        if not marker.fixed and marker.name in trial.markers:
            place = np.nanmean(still.marker(marker.name), axis=0)
            np.testing.assert_allclose(places[names.index(marker.name)], place, atol=1e-4)
            own = [m.name for m in found.model.markers].index(marker.name)
            np.testing.assert_allclose(ours[own], place, atol=1e-9)
