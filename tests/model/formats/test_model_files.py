"""Loading, saving and converting models: every loss of a conversion has its sentence."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.errors import FormatError
from homodyn.model.formats import convert, losses, registered_formats
from homodyn.model.joint import COORDINATE_NUMBERS

BODIES = [entry.name for entry in hd.catalog.entries()]


def as_written(model, path):
    """What comes back, or None where the format refuses the model."""
    try:
        lost = convert(model, path)
    except FormatError:
        assert not path.exists()
        return None
    return lost, hd.load(path)


@pytest.mark.parametrize("name", BODIES)
def test_our_own_format_loses_nothing(name, tmp_path):
    model = hd.catalog.build(name)
    lost, again = as_written(model, tmp_path / "body.toml")
    assert lost == []
    assert again == model


@pytest.mark.parametrize("suffix", [".lua", ".urdf"])
@pytest.mark.parametrize("name", BODIES)
def test_numbers_that_are_lost_are_reported(name, suffix, tmp_path):
    model = hd.catalog.build(name)
    created = as_written(model, tmp_path / f"body{suffix}")
    if created is None:
        return
    lost, again = created
    after = {c.name: c for c in again.coordinates}
    words = {
        "default": "default values",
        "stiffness": "springs",
        "armature": "rotor",
        "rest": "springs",
    }
    for before in model.coordinates:
        if before.name not in after:
            continue
        for number in COORDINATE_NUMBERS:
            then, now = (getattr(c, number) for c in (before, after[before.name]))
            # URDF asks for limits where there are none, and gets large ones.
            if then != now and not (abs(then) == np.inf and abs(now) == 1e9):
                assert any(words[number] in sentence for sentence in lost), before.name
    for part in ("markers", "contacts", "capsules", "contact_sets"):
        if len(getattr(again, part)) < len(getattr(model, part)) and suffix == ".lua":
            pytest.fail(f"{part} were lost without a word")


def test_every_format_that_can_be_written_has_its_gaps_listed(tmp_path):
    with pytest.raises(FormatError) as refusal:
        hd.save(hd.catalog.coman(), tmp_path / "body.nothing")
    for suffix, file_format in registered_formats().items():
        assert (suffix in str(refusal.value)) == file_format.supports("write")


def test_lost_muscles_gravity_and_notes_are_reported(tmp_path):
    model = hd.catalog.coman()
    assert not any("gravity" in sentence for sentence in losses(model, ".urdf"))
    moon = replace(model, gravity=(0.0, 0.0, -1.62), notes=("one",))
    sentences = list(losses(moon, ".urdf"))
    assert "gravity cannot be stored in URDF; that of the model is (0, 0, -1.62) m/s2" in sentences
    assert "1 note cannot be stored in URDF" in sentences
    assert not any("gravity" in sentence for sentence in losses(moon, ".mjcf"))


def test_muscles_of_an_opensim_model_are_reported(shared_data):
    model = hd.load(shared_data / "opensim_id" / "arm26.osim")
    assert f"{len(model.muscles)} muscles cannot be stored in URDF" in losses(model, ".urdf")
    wraps = "MJCF cannot have ellipsoids in paths; they are left out of TRIlong, BIClong"
    assert wraps in losses(model, ".mjcf")
    assert list(losses(model, ".toml")) == []


def test_a_file_is_replaced_only_when_asked(tmp_path):
    target = tmp_path / "body.toml"
    target.write_text("mine")
    with pytest.raises(FormatError, match="exists already; replace it with --overwrite"):
        convert(hd.catalog.coman(), target)
    assert target.read_text() == "mine"
    convert(hd.catalog.coman(), target, overwrite=True)
    assert hd.load(target) == hd.catalog.coman()
