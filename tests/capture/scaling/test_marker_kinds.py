"""Kinds of markers, from names, flags and positions; points that are derived from others."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture.scaling import MarkerKind, derived_markers, marker_kinds
from homodyn.capture.scaling.marker_kinds import placeholder_markers
from homodyn.model import Marker


def leg(*markers):
    """A pelvis and a thigh with markers: name, body, position, flag."""
    return replace(hd.catalog.heiman(), markers=tuple(Marker(*marker) for marker in markers))


def test_names_flags_and_positions_decide_in_this_order():
    model = leg(
        ("R_HJC", "ThighRight", [0.0, 0.0, 0.01], True),
        ("origin", "ShankRight", [0.0, 0.0, 0.0], False),
        ("R.ASIS", "Pelvis", [0.1, -0.1, 0.1], False),
        ("Head_top_of_cap", "Head", [0.0, 0.0, 0.2], True),
        ("r_5meta", "FootRight", [0.1, 0.0, 0.0], True),
        ("r_thigh1", "ThighRight", [0.0, -0.1, -0.2], False),
        ("r_thigh2", "ThighRight", [0.0, -0.1, -0.2], False),
        ("R.SH1", "ShankRight", [0.0, -0.1, -0.2], None),
        ("R.Shoulder", "UpperTrunk", [0.0, -0.1, 0.2], None),
        ("something", "ThighRight", [0.0, -0.1, -0.1], None),
    )
    kinds = marker_kinds(model)
    assert [kinds[name] for name in ("R_HJC", "origin")] == [MarkerKind.JOINT_CENTER] * 2
    landmarks = ("R.ASIS", "Head_top_of_cap", "r_5meta", "R.Shoulder")
    assert {kinds[name] for name in landmarks} == {MarkerKind.LANDMARK}
    tracking = ("r_thigh1", "r_thigh2", "R.SH1", "something")
    assert {kinds[name] for name in tracking} == {MarkerKind.TRACKING}
    assert placeholder_markers(model) == {"r_thigh1", "r_thigh2"}


def test_the_flag_of_an_osim_file_and_a_toml_file_is_kept(shared_data, tmp_path):
    model = hd.load(shared_data / "real_subject4" / "unscaled_generic.osim")
    flags = {marker.name: marker.fixed for marker in model.markers}
    assert flags["r.ASIS"] is True
    assert flags["r_thigh1"] is False
    hd.save(model, tmp_path / "model.toml")
    again = hd.load(tmp_path / "model.toml")
    assert {marker.name: marker.fixed for marker in again.markers} == flags
    assert {marker.fixed for marker in hd.catalog.heiman().markers} == {None}


def test_middles_and_projections_are_derived_and_markers_are_not():
    rng = np.random.default_rng(0)
    base = rng.uniform(0.1, 1.5, (1, 12, 3)) + rng.normal(0, 1e-4, (9, 12, 3))
    middle = (base[:, [3]] + base[:, [7]]) / 2
    floor = base[:, [5]] * [1.0, 1.0, 0.0]
    names = [f"M{k}" for k in range(12)]
    found = derived_markers([*names, "mid", "ground"], np.concatenate([base, middle, floor], 1))
    assert found == {"mid": ("M3", "M7"), "ground": ("M5",)}
    assert derived_markers(names, base) == {}


@pytest.fixture(scope="module")
def rajagopal(shared_data):
    return shared_data / "rajagopal_walk"


def test_derived_points_of_a_laboratory_are_recognized(rajagopal):
    trial = hd.capture.read(rajagopal / "static_walk_1.trc")
    derived = derived_markers(trial.markers, trial.positions)
    assert {"MidASIS", "MidPSIS", "L.KneeJoint", "R.HeelGround"} <= set(derived)
    assert not {"R.ASIS", "R.Heel", "R_HJC", "R.TH1"} & set(derived)
    assert set(derived["MidASIS"]) == {"R.ASIS", "L.ASIS"}
