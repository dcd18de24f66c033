"""The interface for model formats: a format of a user serves load, save and convert."""

import json
from dataclasses import replace

import pytest

import homodyn as hd
from homodyn.errors import FormatError, ModelError
from homodyn.foundation import write_text
from homodyn.model.formats import (
    FormatLimits,
    ModelFormat,
    convert,
    losses,
    model_format,
    registered_formats,
)


class JsonFormat(ModelFormat):
    name = "JSON"
    extensions = (".json",)
    limits = FormatLimits(parts=("markers",), gravity=True)
    accepts_base = True

    def read(self, path, options):
        if options.base not in (None, "fixed"):
            raise FormatError(f"no base {options.base!r}", str(path))
        return hd.Model.from_dict(json.loads(path.read_text()))

    def write(self, model, path, options):
        write_text(path, json.dumps(replace(model, markers=()).to_dict()))


@pytest.fixture
def json_format():
    added = JsonFormat()
    model_format.register_format(added)
    yield added
    model_format._REGISTRY.unregister(added)


@pytest.fixture
def body():
    return hd.catalog.coman()


def test_a_user_format_is_used_by_load_and_save(json_format, body, tmp_path):
    bare = replace(body, markers=())
    hd.save(bare, tmp_path / "body.json")
    assert hd.load(tmp_path / "body.json") == bare
    assert registered_formats()[".json"] is json_format


def test_options_reach_the_format(json_format, body, tmp_path):
    hd.save(body, tmp_path / "body.json")
    with pytest.raises(FormatError, match="no base 'free'"):
        hd.load(tmp_path / "body.json", base="free")
    with pytest.raises(FormatError, match="like does not apply to JSON files"):
        hd.save(body, tmp_path / "body.json", like=tmp_path / "body.lua")


def test_losses_follow_from_the_limits(json_format, body, tmp_path):
    moon = replace(body, gravity=(0.0, 0.0, -1.62))
    sentences = convert(moon, tmp_path / "body.json")
    count = len(body.markers)
    assert sentences == [
        f"{count} markers cannot be stored in JSON",
        "gravity cannot be stored in JSON; that of the model is (0, 0, -1.62) m/s2",
    ]
    assert losses(moon, ".json") == sentences


def test_an_invalid_model_is_reported_with_the_file(json_format, body, tmp_path):
    data = body.to_dict()
    data["body"][0]["mass"] = -1.0
    (tmp_path / "body.json").write_text(json.dumps(data))
    with pytest.raises(ModelError, match=r"(?s)body\.json: .*mass must be zero or more") as refusal:
        hd.load(tmp_path / "body.json")
    assert len(refusal.value.reasons) == 1


class ReadOnly(ModelFormat):
    """A format without a writer."""

    name = "scan"
    extensions = (".scan",)

    def read(self, path, options):
        return hd.load(path.with_suffix(".toml"))


def test_formats_that_only_read_or_write_say_so(tmp_path, body):
    (tmp_path / "body.mjcf").write_text("<mujoco/>")
    with pytest.raises(FormatError, match=r"cannot be read from '\.mjcf'; accepted: \.toml"):
        hd.load(tmp_path / "body.mjcf")
    added = ReadOnly()
    model_format.register_format(added)
    with pytest.raises(FormatError, match=r"cannot be written as '\.scan'; accepted: \.toml"):
        hd.save(body, tmp_path / "body.scan")
    model_format._REGISTRY.unregister(added)
    with pytest.raises(FormatError, match="MJCF files cannot be read"):
        registered_formats()[".mjcf"].read(tmp_path / "body.mjcf", hd.model.formats.LoadOptions())


def test_a_later_format_takes_precedence_for_a_shared_extension(body, tmp_path):
    class OwnXml(ModelFormat):
        name = "own XML"
        extensions = (".xml",)

        def recognizes(self, path):
            return path.read_text().startswith("<own")

        def read(self, path, options):
            return body

    added = OwnXml()
    model_format.register_format(added)
    try:
        (tmp_path / "a.xml").write_text("<own/>")
        assert hd.load(tmp_path / "a.xml") is body
        (tmp_path / "b.xml").write_text("<other/>")
        with pytest.raises(FormatError, match="not own XML or URDF or OpenSim"):
            hd.load(tmp_path / "b.xml")
    finally:
        model_format._REGISTRY.unregister(added)
