"""Files that are saved open again as what they were; what is in no file yet is known."""

import csv
import io
import re
import shutil
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from homodyn import catalog, load, save
from homodyn.capture import read_table
from homodyn.errors import FormatError, HomodynError
from homodyn.studio import Session, StudioDocument, video
from homodyn.studio.export import (
    FILES,
    marker_map,
    model_lua,
    model_toml,
    motion_mot,
    motion_table,
    replay,
    result,
)
from homodyn.studio.file_opening import (
    add_to_document,
    from_catalog,
    open_path,
    open_upload_content,
)
from homodyn.studio.marker_map import read_map, with_map
from homodyn.studio.pose_editing import turning_of
from homodyn.studio.session_store import SESSION_FILE, SessionWriter, read_session, session_archive


@pytest.fixture
def walker(walk_document):
    return walk_document.actor


def test_a_model_saved_as_toml_is_the_same_model(walker, tmp_path):
    saved = model_toml(walker)
    (tmp_path / saved.name).write_bytes(saved.content)
    assert load(tmp_path / saved.name) == walker.model
    assert [piece.kind for piece in saved.document_parts] == ["model"]


def test_a_luamodel_keeps_the_fields_that_are_no_model_s(tmp_path):
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


def test_a_marker_map_goes_on_another_body_of_the_same_segments(walker, studio, tmp_path):
    first, *rest = walker.model.markers
    moved = replace(first, position=first.position + 0.01)
    changed = replace(walker.model, markers=(moved, *rest[:9]))
    saved = marker_map(replace(walker, model=changed, weights={first.name: 0.5}))
    (tmp_path / "markers.csv").write_bytes(saved.content)
    studio.open(open_path(tmp_path / "markers.csv"), "markers.csv")
    actor = studio.session.document.actor
    assert [marker.name for marker in actor.model.markers] == [m.name for m in changed.markers]
    np.testing.assert_allclose(actor.model.markers[0].position, moved.position, atol=1e-8)
    assert actor.weights == {first.name: 0.5}
    studio.session.undo()
    assert len(studio.session.document.actor.model.markers) == len(walker.model.markers)


def test_a_bad_marker_map_is_refused_in_words(walker, tmp_path):
    text = marker_map(walker).content.decode()
    path = tmp_path / "markers.csv"
    path.write_text(text.replace("\n", "\nA,Nowhere,0,0,0,1\n", 1))
    with pytest.raises(HomodynError, match=r"'A'.*'Nowhere'"):
        with_map(StudioDocument().with_actor(walker), read_map(path))
    path.write_text(text.replace("\n", "\nA,Head,0,zero,0,1\n", 1))
    with pytest.raises(FormatError, match="line 2"):
        read_map(path)
    path.write_text(text)
    found = read_map(path)
    with pytest.raises(HomodynError, match="needs a body"):
        with_map(StudioDocument(), found)


def test_a_result_opens_again_with_motion_forces_and_events(walker, tmp_path):
    saved = result(walker)
    back = open_upload_content(saved.name, saved.content, tmp_path)
    assert back.name == walker.name
    np.testing.assert_allclose(back.motion.q, walker.motion.q, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(back.loads.tau, walker.loads.tau, rtol=1e-8, atol=1e-6)
    assert len(back.loads.feet) == len(walker.loads.feet)
    assert [(e.label, e.context) for e in back.events] == [
        (e.label, e.context) for e in sorted(walker.events, key=lambda e: e.time)
    ]
    assert {piece.kind for piece in saved.document_parts} == {"model", "motion", "forces"}


def test_measured_markers_and_their_gaps_come_back(walker, tmp_path):
    names = tuple(marker.name for marker in walker.model.markers[:3])
    frames = len(walker.motion.time)
    rng = np.random.default_rng(1)
    measured = rng.standard_normal((frames, 3, 3))
    measured[4:9, 1] = np.nan
    residual = np.abs(rng.standard_normal((frames, 3)))
    motion = replace(walker.motion, markers=names, measured=measured, residual=residual)
    saved = result(replace(walker, motion=motion, loads=None))
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
    scale = np.where(turning_of(motion.model), np.degrees(1.0), 1.0)
    np.testing.assert_allclose(back.values, motion.q * scale, rtol=1e-7, atol=1e-7)
    header = saved.content.decode().split("endheader")[0]
    assert f"nRows={len(motion.time)}" in header.replace(" ", "")
    assert "inDegrees=yes" in header.replace(" ", "")


def test_a_replay_is_one_page_that_asks_for_nothing_else(walker, walk_document):
    page = replay(walker, walk_document.trial).content.decode()
    assert page.startswith("<!DOCTYPE html>")
    assert "replay-data" in page
    assert not re.search(r"""(src|href)=["'](?!data:|#)""", page)
    assert "http" not in re.sub(r"http://www\.w3\.org/\S+", "", page)


def test_a_body_without_motion_is_refused_where_one_is_needed():
    actor = from_catalog("bip")
    for word in ("Motion (.csv)", "Motion (.mot)", "VRML of the motion (.wrl)"):
        with pytest.raises(HomodynError, match="no motion"):
            FILES[word](actor)
    with pytest.raises(HomodynError, match="no motion"):
        replay(actor)
    with pytest.raises(HomodynError, match="no markers"):
        marker_map(replace(actor, model=replace(actor.model, markers=())))
    with pytest.raises(HomodynError, match="nothing is open"):
        session_archive(StudioDocument())


def test_a_whole_session_opens_again_as_it_was(walk_document, tmp_path):
    pose = walk_document.actor.model.random(2)
    document = walk_document.with_active(walk_document.actor.with_pose(pose))
    document = document.with_active(replace(document.actor, weights={"RASI": 0.5}))
    document = document.with_actor(from_catalog("bip"), active=False)
    saved = session_archive(document)
    back = open_upload_content(saved.name, saved.content, tmp_path)
    assert isinstance(back, StudioDocument)
    assert back.names == document.names
    assert back.active == document.active
    assert [actor.color for actor in back.actors] == [actor.color for actor in document.actors]
    assert back.actor.posed
    assert back.actor.weights == {"RASI": 0.5}
    assert back.actors[1].recipe == document.actors[1].recipe
    np.testing.assert_array_equal(back.actor.q, pose)
    np.testing.assert_allclose(back.actor.motion.q, document.actor.motion.q, atol=1e-8)
    trial, before = back.trial, document.trial
    assert (trial.name, trial.markers, trial.rate) == (before.name, before.markers, before.rate)
    np.testing.assert_allclose(trial.positions, before.positions, atol=1e-6)
    assert len(trial.plates) == len(before.plates)
    assert add_to_document(StudioDocument(), back).names == document.names
    assert add_to_document(document, back).names[-1] == f"{document.names[-1]} 2"


def test_writing_again_writes_only_what_is_new(walk_document, tmp_path):
    keeper = SessionWriter(tmp_path / "kept")
    keeper.write(walk_document)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "kept").iterdir()}
    posed = walk_document.with_active(walk_document.actor.with_pose(walk_document.actor.q + 0.1))
    keeper.write(posed)
    after = {path: path.stat().st_mtime_ns for path in (tmp_path / "kept").iterdir()}
    assert set(after) == set(before)
    changed = [path.name for path in after if after[path] != before[path]]
    assert changed == [SESSION_FILE]
    keeper.write(StudioDocument())
    assert [path.name for path in (tmp_path / "kept").iterdir()] == [SESSION_FILE]


def test_a_list_that_names_other_files_is_refused(walk_document, tmp_path):
    SessionWriter(tmp_path / "kept").write(walk_document)
    path = tmp_path / "kept" / SESSION_FILE
    path.write_text(path.read_text().replace('"body-1"', '"../../elsewhere"'))
    with pytest.raises(FormatError, match="not a file of the session"):
        read_session(tmp_path / "kept")
    path.write_text("{}")
    with pytest.raises(FormatError, match="no session"):
        read_session(tmp_path / "kept")


def test_what_is_opened_is_saved_and_what_is_made_is_not(walk_document):
    session = Session()
    session.change("open", lambda d: add_to_document(d, walk_document.actor), in_file=True)
    assert not session.view().unsaved
    session.change("hide", lambda d: d.with_active(replace(d.actor, shown=False)))
    assert not session.view().unsaved
    session.change("pose", lambda d: d.with_active(d.actor.with_pose(d.actor.q + 0.1)))
    assert [piece.sentence for piece in session.view().pending] == ["pose of walk"]
    session.undo()
    assert not session.view().unsaved
    session.redo()
    model = replace(walk_document.actor.model, name="another")
    session.change("edit", lambda d: d.with_active(replace(d.actor, model=model)))
    assert [piece.kind for piece in session.view().pending] == ["model", "pose"]
    session.mark_saved(model_toml(session.document.actor).document_parts)
    assert [piece.kind for piece in session.view().pending] == ["pose"]
    session.mark_saved()
    assert not session.view().unsaved


def pictures(count=4):
    made = []
    for k in range(count):
        picture = np.full((24, 32, 3), 255, dtype=np.uint8)
        picture[:, 8 * k : 8 * k + 8] = (200, 30, 30)
        made.append(picture)
    return made


def test_a_gif_has_every_picture_and_its_pace():
    film_of = Image.open(io.BytesIO(video.gif(pictures(), rate=20.0)))
    assert film_of.n_frames == 4
    for k in range(4):
        film_of.seek(k)
        assert film_of.info["duration"] == 50
        colors = np.asarray(film_of.convert("RGB"))[12, 4::8]
        assert [tuple(c) for c in colors].index((200, 30, 30)) == k


def test_a_picture_without_background_gets_that_of_the_page():
    clear = np.zeros((2, 2, 4), dtype=np.uint8)
    assert (video.flatten(clear, dark=False) == 255).all()
    assert (video.flatten(clear, dark=True) < 64).all()
    picture = video.flatten(np.full((2, 2, 4), 255, dtype=np.uint8), dark=True)
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(video.png(picture)))), picture)


def test_films_have_an_end_and_the_pace_of_the_clock():
    np.testing.assert_allclose(video.frame_times(1.0, 2.0, 0.5, 20.0)[:3], [1.0, 1.025, 1.05])
    assert len(video.frame_times(1.0, 2.0, 0.5, 20.0)) == 40
    with pytest.raises(HomodynError, match="60 s is the most"):
        video.frame_times(0.0, 10.0, 0.1, 20.0)


def test_mp4_is_made_by_ffmpeg_or_refused_in_words(monkeypatch):
    if video.ffmpeg() is not None:
        assert video.mp4(pictures())[4:8] == b"ftyp"
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(video, "find_spec", lambda name: None)
    with pytest.raises(HomodynError, match="needs ffmpeg"):
        video.mp4(pictures())
