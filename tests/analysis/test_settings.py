"""What a user asks for: refused where it cannot be, and one fingerprint for the same work."""

from dataclasses import replace

import pytest

from homodyn.analysis.settings import Settings, fingerprint
from homodyn.errors import CaptureError, FormatError


@pytest.mark.parametrize(
    ("wrong", "remedy"),
    [
        ({"height": 178.0}, "--height 1.78"),
        ({"mass": 0.5}, "3 to 400 kg"),
        ({"scale": "maybe"}, "auto, static, motion, none"),
        ({"scale": "static"}, "--static"),
        ({"sex": "yes"}, "male, female"),
        ({"cutoff": 0.0}, "above 0"),
        ({"cutoff": "high"}, "frequency (Hz), standard or auto"),
    ],
)
def test_what_cannot_be_is_refused_with_what_can(wrong, remedy):
    with pytest.raises(CaptureError) as refusal:
        Settings(**wrong)
    assert remedy in str(refusal.value)


def test_a_generic_body_needs_a_mass():
    with pytest.raises(CaptureError, match="--mass"):
        Settings(model="heiman").build_model()


@pytest.mark.parametrize("model", ["heiman", "human36", "manikin"])
def test_people_of_the_catalog_take_height_and_mass(model):
    built = Settings(model=model, mass=61.0, height=1.6, sex="female").build_model()
    assert built.mass == pytest.approx(61.0)


def test_automatic_scaling():
    assert Settings().scale_method == "motion"
    assert Settings(calibrate=False).scale_method == "none"
    assert Settings(static="s.trc", calibrate=False).scale_method == "static"
    assert Settings(model="a.osim").scale_method == "motion"
    assert Settings(model="a.osim").keeps_fitting_model
    assert not Settings(model="a.osim", scale="motion").keeps_fitting_model
    assert not Settings(model="a.osim", static="s.trc").keeps_fitting_model
    assert not Settings().keeps_fitting_model
    assert Settings(model="a.osim", static="s.trc").scale_method == "motion"


def test_the_fingerprint_follows_contents_and_settings_but_not_names(tmp_path):
    one, two = tmp_path / "one.trc", tmp_path / "two.trc"
    one.write_text("same")
    two.write_text("same")
    settings = Settings(mass=70.0)
    mark = fingerprint(one, settings)
    assert fingerprint(two, settings) == mark
    assert fingerprint(one, replace(settings, cutoff=7.0)) != mark
    two.write_text("other")
    assert fingerprint(two, settings) != mark
    static = replace(settings, static=str(two))
    before = fingerprint(one, static)
    two.write_text("changed again")
    assert fingerprint(one, static) != before
    with pytest.raises(FormatError, match="no such file"):
        fingerprint(tmp_path / "none.trc", settings)


def test_the_command_repeats_what_was_asked():
    settings = Settings(
        mass=70.0, static="/data/a b/stand.trc", emg_channels=("EMG1",), calibrate=False, first=0.5
    )
    assert settings.command_line("/data/walk.c3d") == (
        "homodyn analyze walk.c3d --static stand.trc --mass 70.0 --emg-channels EMG1 "
        "--no-calibrate --from 0.5 -o results"
    )


@pytest.mark.parametrize(
    ("wrong", "remedy"),
    [
        ({"emg_normalize": "loud"}, "none, maximum, mvc"),
        ({"emg_normalize": "mvc"}, "--mvc FILE"),
        ({"mvc": "a.sto"}, "--emg-normalize mvc"),
        ({"external_loads": "a.xml"}, "--forces"),
        ({"rate": 0.0}, "above 0"),
    ],
)
def test_options_of_a_laboratory_that_lack_something(wrong, remedy):
    with pytest.raises(CaptureError, match=remedy):
        Settings(**wrong)


def test_files_of_a_laboratory_are_in_command_and_fingerprint(tmp_path):
    trial, hip = tmp_path / "walk.trc", tmp_path / "hip.trc"
    trial.write_text("walk")
    hip.write_text("hip")
    settings = Settings(mass=70.0, functional=(str(hip),), tasks=str(trial), lenient=True)
    assert settings.command_line("walk.trc") == (
        "homodyn analyze walk.trc --mass 70.0 --tasks walk.trc --functional hip.trc --lenient "
        "-o results"
    )
    mark = fingerprint(trial, settings)
    hip.write_text("other")
    assert fingerprint(trial, settings) != mark


def test_trials_of_a_calibration_are_in_command_and_fingerprint(tmp_path):
    trial, walk = tmp_path / "jump.trc", tmp_path / "walk.trc"
    trial.write_text("jump")
    walk.write_text("walk")
    settings = Settings(mass=70.0, calibrate_from=(str(walk),), symmetric=False)
    assert settings.command_line("jump.trc") == (
        "homodyn analyze jump.trc --mass 70.0 --calibrate-from walk.trc --no-symmetric -o results"
    )
    mark = fingerprint(trial, settings)
    walk.write_text("other")
    assert fingerprint(trial, settings) != mark
    assert fingerprint(trial, Settings(mass=70.0)) != fingerprint(
        trial, Settings(mass=70.0, symmetric=False)
    )


@pytest.mark.parametrize("other", [{"scale": "none"}, {"calibrate": False}])
def test_trials_of_a_calibration_need_one(other):
    with pytest.raises(CaptureError, match="leave one of them out"):
        Settings(mass=70.0, calibrate_from=("walk.trc",), **other)


@pytest.mark.parametrize("speed", [-0.1, 30.0, float("nan")])
def test_belts_have_a_possible_speed(speed):
    with pytest.raises(CaptureError, match="expected a speed from 0 to 20 m/s"):
        Settings(mass=70, belt=speed)
    assert "--belt 1.2" in Settings(mass=70, belt=1.2).command_line("walk.c3d")
