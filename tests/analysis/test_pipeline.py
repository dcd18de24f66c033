"""The whole way from a recording to results, against a walk whose truth is known."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.analysis import (
    Settings,
    analyze,
)
from homodyn.analysis.quality import quality_verdicts
from homodyn.errors import CaptureError, FormatError
from support import strolls

WALKER = strolls.WALKER


def test_angles_are_found_to_a_degree(analysis):
    motion = analysis.motion
    truth = WALKER.pose(motion.time)
    inside = slice(15, -15)
    for name in ("HipRight_RY", "KneeRight_RY", "KneeLeft_RY"):
        column = motion.model.coordinate_index(name)
        error = np.rad2deg(np.abs(motion.q[inside, column] - truth[inside, column]))
        assert np.median(error) < 1.0


def test_speed_and_cadence_are_those_of_the_walk(analysis):
    gait = analysis.gait
    assert gait["velocity"].mean == pytest.approx(WALKER.speed, rel=0.02)
    assert gait["cadence"].mean == pytest.approx(120 / WALKER.period, rel=0.03)
    assert gait["stride length", "right"].mean == pytest.approx(WALKER.stride_length, rel=0.02)


def test_events_are_found_within_two_frames_and_a_half(analysis):
    for event in WALKER.events():
        if 0.1 < event.time < WALKER.duration - 0.1:
            near = [
                abs(found.time - event.time)
                for found in analysis.events
                if (found.label, found.context.lower()) == (event.label, event.context.lower())
            ]
            assert min(near) < 0.03, event


def test_forces_of_the_plates_carry_the_weight(analysis):
    assert not analysis.loads.predicted
    up = analysis.loads.ground_force[:, 2]
    assert up.mean() == pytest.approx(strolls.MASS * 9.81, rel=0.03)


def test_every_stage_takes_its_time_and_every_file_its_digest(analysis):
    assert next(iter(analysis.seconds)) == "reading"
    assert len(analysis.digests["trial"]) == 64


def test_stages_are_announced_in_order(walk_file, settings):
    heard = []
    with pytest.raises(CaptureError):
        analyze(walk_file, replace(settings, first=50.0, last=60.0), progress=heard.append)
    assert heard == ["reading"]


def test_without_plates_forces_come_from_the_motion(tmp_path, settings):
    path = tmp_path / "markers_only.trc"
    hd.capture.write(strolls.recording(forces=False), path)
    found = analyze(path, settings)
    assert found.loads.predicted
    assert found.emg is None
    assert found.gait is not None


def test_a_static_trial_scales_a_generic_body(tmp_path, walk_file):
    static = tmp_path / "stand.trc"
    hd.capture.write(strolls.standing(), static)
    settings = Settings(mass=76.0, height=1.70, static=str(static), scale="static")
    found = analyze(walk_file, settings)
    assert found.scaling is not None
    assert found.model.mass == pytest.approx(76.0)
    unscaled = analyze(walk_file, Settings(mass=76.0, height=1.70, scale="none"))
    assert found.motion.rms < 0.6 * unscaled.motion.rms


def test_trials_of_a_session_can_have_one_calibration(tmp_path, walk_file):
    other = tmp_path / "other.trc"
    hd.capture.write(strolls.recording(forces=False).crop(0.0, 1.0), other)
    settings = Settings(mass=strolls.MASS, height=strolls.HEIGHT, calibrate_from=(str(other),))
    one, two = (
        analyze(walk_file, replace(settings, first=first, last=first + 0.4)) for first in (1.1, 1.6)
    )
    for body, same in zip(one.model.joints, two.model.joints, strict=True):
        np.testing.assert_array_equal(body.placement.r, same.placement.r)
    assert {name for name, _ in one.scaling.frames} == {"other"}
    assert one.digests["calibrate_from 1"] == two.digests["calibrate_from 1"]
    own = analyze(walk_file, replace(settings, calibrate_from=(), first=1.1, last=1.5))
    assert {name for name, _ in own.scaling.frames} == {"stroll"}


def test_a_span_of_time_can_be_cut_out(walk_file, settings):
    found = analyze(walk_file, replace(settings, first=0.5, last=1.5))
    assert found.trial.frames == 101
    assert found.motion.time[0] == pytest.approx(0.5)


def test_an_opensim_trial_with_its_own_files(shared_data):
    folder = shared_data / "gait10dof"
    found = analyze(
        folder / "walk.trc",
        Settings(
            model=str(folder / "subject01.osim"),
            forces=str(folder / "walk_grf.mot"),
            external_loads=str(folder / "walk_grf.xml"),
        ),
    )
    assert found.scaling is None
    reference = hd.capture.read_table(folder / "ref_ik.mot")
    ours = np.rad2deg(found.motion.q[:, found.model.coordinate_index("knee_angle_r")])
    theirs = np.interp(found.motion.time, reference.time, reference.column("knee_angle_r"))
    assert np.sqrt(np.mean((ours - theirs) ** 2)) < 1.5
    assert found.gait["velocity"].mean == pytest.approx(1.14, abs=0.05)


def test_a_synthetic_trial_is_analyzed_from_its_files_alone(tmp_path):
    synthetic = hd.synthetic.walking_trial(height=1.78, mass=72, strides=2, seed=4)
    hd.capture.write(synthetic.trial, tmp_path / "walk.c3d")
    hd.capture.write(synthetic.static, tmp_path / "stand.c3d")
    settings = Settings(mass=72, height=1.78, static=str(tmp_path / "stand.c3d"))
    found = analyze(tmp_path / "walk.c3d", settings)
    errors = hd.synthetic.compare_with_truth(
        synthetic.truth,
        model=found.model,
        motion=found.motion,
        loads=found.loads,
        events=found.events,
    )
    assert errors.angles["KneeRight_RY"] < 2.0
    assert found.motion.rms < 0.003
    assert found.scaling.rms_after < 0.5 * found.scaling.rms_before
    assert found.gait["velocity"].mean == pytest.approx(1.2, rel=0.03)


@pytest.mark.parametrize(
    ("model", "scaled", "note"),
    [
        ("unscaled_generic.osim", True, "did not fit the markers"),
        ("manually_scaled.osim", False, "already fits the markers"),
    ],
)
def test_a_model_file_is_scaled_unless_it_already_fits(shared_data, model, scaled, note):
    folder = shared_data / "real_subject4"
    settings = Settings(model=str(folder / model), first=0.5, last=1.0)
    analysis = analyze(folder / "walking1.trc", settings)
    assert (analysis.scaling is not None) == scaled
    assert any(note in text for text in analysis.notes)
    assert analysis.motion.rms < 0.012


def test_weights_of_a_setup_file_give_the_published_pelvis_tilt(shared_data):
    folder = shared_data / "gait10dof"
    reference = hd.capture.read_table(folder / "ref_ik.mot")
    bias = {}
    for tasks in (None, str(folder / "setup_ik.xml")):
        settings = Settings(model=str(folder / "subject01.osim"), scale="none", tasks=tasks)
        found = analyze(folder / "walk.trc", settings)
        ours = np.rad2deg(found.motion.q[:, found.model.coordinate_index("pelvis_tilt")])
        theirs = np.interp(found.motion.time, reference.time, reference.column("pelvis_tilt"))
        bias[tasks is None] = abs(np.mean(ours - theirs))
    assert bias[False] < 0.05 < 4.0 < bias[True]


def test_a_truncated_force_file_is_read_on_request_with_a_note(shared_data, tmp_path):
    folder = shared_data / "gait10dof"
    lines = (folder / "walk_grf.mot").read_text().splitlines()
    short = tmp_path / "short.mot"
    short.write_text("\n".join(lines[:-3]))
    settings = Settings(model=str(folder / "subject01.osim"), forces=str(short), scale="none")
    with pytest.raises(FormatError, match="--lenient"):
        analyze(folder / "walk.trc", settings)
    found = analyze(folder / "walk.trc", replace(settings, lenient=True))
    assert any("short.mot is truncated" in note and "rows are read" in note for note in found.notes)


def test_columns_and_rate_are_for_tables(shared_data):
    with pytest.raises(CaptureError, match=r"\.csv recordings"):
        analyze(shared_data / "gait10dof" / "walk.trc", Settings(mass=70.0, rate=100.0))


@pytest.fixture(scope="module")
def generic_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("generic") / "generic.toml"
    hd.save(hd.catalog.heiman(height=1.79, mass=95.0), path)
    return str(path)


@pytest.fixture(scope="module")
def weighed_walk(tmp_path_factory):
    folder = tmp_path_factory.mktemp("weighed")
    synthetic = hd.synthetic.walking_trial(height=1.78, mass=72, strides=2, seed=4)
    hd.capture.write(synthetic.trial, folder / "walk.c3d")
    hd.capture.write(replace(synthetic.trial, plates=()), folder / "markers.c3d")
    return folder


def test_plates_give_the_mass_that_is_not_given(generic_file, weighed_walk):
    found = analyze(weighed_walk / "walk.c3d", Settings(model=generic_file, scale="motion"))
    assert found.model.mass == pytest.approx(72.0, rel=0.02)
    assert found.scaling.mass_source == "plates"
    assert sum(row.mass for row in found.scaling.bodies) == pytest.approx(found.model.mass)
    assert found.loads.motion.model.mass == pytest.approx(found.model.mass)
    (note,) = (note for note in found.notes if "mass not given" in note)
    assert "the plates of 'walk' carry" in note
    assert "densities are kept" not in note
    (verdict,) = (v for v in quality_verdicts(found) if v.subject == "body weight")
    assert verdict.light == "note"
    assert "independent" in verdict.sentence


def test_without_plates_densities_are_kept(generic_file, weighed_walk):
    found = analyze(weighed_walk / "markers.c3d", Settings(model=generic_file, scale="motion"))
    assert found.scaling.mass_source == "density"
    assert any("densities are kept" in note for note in found.notes)
    assert found.model.mass == pytest.approx(95.0, rel=0.1)


def test_a_given_mass_is_not_measured(generic_file, weighed_walk):
    settings = Settings(model=generic_file, scale="motion", mass=80.0)
    found = analyze(weighed_walk / "walk.c3d", settings)
    assert found.scaling.mass_source == "given"
    assert found.model.mass == pytest.approx(80.0)


@pytest.mark.parametrize("static_forces", [None, "static1_grf.mot"])
def test_plates_weigh_a_real_subject(shared_data, static_forces):
    folder = shared_data / "real_subject4"
    settings = Settings(
        model=str(folder / "unscaled_generic.osim"),
        static=str(folder / "static1.trc"),
        static_forces=static_forces and str(folder / static_forces),
        forces=str(folder / "walking1_grf.mot"),
    )
    found = analyze(folder / "walking1.trc", settings)
    expert = hd.load(folder / "manually_scaled.osim").mass
    assert found.model.mass == pytest.approx(expert, rel=0.05)
    named = "static1" if static_forces else "walking1"
    assert any(f"the plates of '{named}' carry" in note for note in found.notes)


def test_forces_of_a_static_trial_need_one():
    with pytest.raises(CaptureError, match="--static"):
        Settings(static_forces="stand.mot")
