"""Exported files can be opened again without loss."""

import csv
import io
import re
from dataclasses import replace

import numpy as np
import pytest

from homodyn import catalog, load, save
from homodyn.capture import read_table
from homodyn.errors import HomodynError
from homodyn.studio import StudioDocument
from homodyn.studio.export import (
    EXPORTS,
    marker_map,
    model_lua,
    model_toml,
    motion_mot,
    motion_table,
    replay,
    result_archive,
)
from homodyn.studio.file_opening import (
    from_catalog,
    open_path,
    open_upload_content,
)
from homodyn.studio.pose_editing import angle_mask
from homodyn.studio.session_store import session_archive


@pytest.fixture
def walker(walk_document):
    return walk_document.actor


def test_a_model_saved_as_toml_is_the_same_model(walker, tmp_path):
    saved = model_toml(walker)
    (tmp_path / saved.name).write_bytes(saved.content)
    assert load(tmp_path / saved.name) == walker.model
    assert [piece.kind for piece in saved.document_parts] == ["model"]


def test_a_luamodel_keeps_unknown_fields_of_its_source(tmp_path):
    save(catalog.bip(), tmp_path / "robot.lua")
    text = (tmp_path / "robot.lua").read_text()
    (tmp_path / "robot.lua").write_text(text.replace("return {", 'return { owner = "the lab",', 1))
    actor = open_path(tmp_path / "robot.lua")
    edited = replace(actor, model=replace(actor.model, gravity=np.array([0.0, 0.0, -1.62])))
    saved = model_lua(edited)
    assert saved.name == "bip.lua" or saved.name.endswith(".lua")
    assert "the lab" in saved.content.decode()
    (tmp_path / "again.lua").write_bytes(saved.content)
    np.testing.assert_allclose(load(tmp_path / "again.lua").gravity, [0, 0, -1.62])


def test_a_marker_map_names_segment_place_and_weight_of_each_marker(walker):
    marker = walker.model.markers[4]
    saved = marker_map(replace(walker, weights={marker.name: 0.25}))
    rows = list(csv.reader(io.StringIO(saved.content.decode())))
    assert rows[0] == ["marker", "segment", "x (m)", "y (m)", "z (m)", "weight"]
    assert len(rows) == 1 + len(walker.model.markers)
    assert rows[5][:2] == [marker.name, marker.body]
    np.testing.assert_allclose([float(x) for x in rows[5][2:5]], marker.position, rtol=1e-8)
    assert [row[5] for row in rows[4:7]] == ["1", "0.25", "1"]
    assert [piece.kind for piece in saved.document_parts] == ["weights"]


def test_a_result_opens_again_with_motion_forces_and_events(walker, tmp_path):
    saved = result_archive(walker)
    back = open_upload_content(saved.name, saved.content, tmp_path)
    assert back.name == walker.name
    np.testing.assert_allclose(back.motion.q, walker.motion.q, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(back.loads.tau, walker.loads.tau, rtol=1e-8, atol=1e-6)
    assert len(back.loads.feet) == len(walker.loads.feet)
    assert [(e.label, e.context) for e in back.events] == [
        (e.label, e.context) for e in sorted(walker.events, key=lambda e: e.time)
    ]
    assert {piece.kind for piece in saved.document_parts} == {"model", "motion", "forces"}


def test_measured_markers_and_their_gaps_are_read_again(walker, tmp_path):
    names = tuple(marker.name for marker in walker.model.markers[:3])
    frames = len(walker.motion.time)
    rng = np.random.default_rng(1)
    measured = rng.standard_normal((frames, 3, 3))
    measured[4:9, 1] = np.nan
    residual = np.abs(rng.standard_normal((frames, 3)))
    motion = replace(walker.motion, markers=names, measured=measured, residual=residual)
    saved = result_archive(replace(walker, motion=motion, loads=None))
    back = open_upload_content(saved.name, saved.content, tmp_path).motion
    assert back.markers == names
    np.testing.assert_allclose(back.measured, measured, rtol=1e-8)
    np.testing.assert_allclose(back.residual, residual, rtol=1e-8)


def test_a_motion_table_has_all_frames(walker):
    rows = motion_table(walker).content.decode().splitlines()
    assert len(rows) == 1 + len(walker.motion.time)
    assert rows[0].startswith("time (s),")


def test_a_motion_for_opensim_has_its_coordinates_in_degrees(walker, tmp_path):
    saved = motion_mot(walker)
    assert saved.name == "walk_motion.mot"
    (tmp_path / saved.name).write_bytes(saved.content)
    back, motion = read_table(tmp_path / saved.name), walker.motion
    assert back.degrees
    assert back.names == motion.model.coordinate_names
    np.testing.assert_allclose(back.time, motion.time, atol=1e-9)
    scale = np.where(angle_mask(motion.model), np.degrees(1.0), 1.0)
    np.testing.assert_allclose(back.values, motion.q * scale, rtol=1e-7, atol=1e-7)
    header = saved.content.decode().split("endheader")[0]
    assert f"nRows={len(motion.time)}" in header.replace(" ", "")
    assert "inDegrees=yes" in header.replace(" ", "")


def test_a_replay_is_one_self_contained_page(walker, walk_document):
    page = replay(walker, walk_document.trial).content.decode()
    assert page.startswith("<!DOCTYPE html>")
    assert "replay-data" in page
    assert not re.search(r"""(src|href)=["'](?!data:|#)""", page)
    assert not re.search(r"https?:", re.sub(r"http://www\.w3\.org/\S+", "", page))
    assert "default-src 'none'" in page


def test_a_body_without_motion_is_refused_where_one_is_needed():
    actor = from_catalog("bip")
    for word in ("Motion (.csv)", "Motion (.mot)", "Motion as VRML (.wrl)"):
        with pytest.raises(HomodynError, match="no motion"):
            EXPORTS[word](actor)
    with pytest.raises(HomodynError, match="no motion"):
        replay(actor)
    with pytest.raises(HomodynError, match="no markers"):
        marker_map(replace(actor, model=replace(actor.model, markers=())))
    with pytest.raises(HomodynError, match="nothing is open"):
        session_archive(StudioDocument())
