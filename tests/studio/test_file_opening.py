"""Files and folders are opened, or refused with the message of the command line."""

import io
import tarfile
import zipfile

import pytest
from typer.testing import CliRunner

from homodyn import catalog, save
from homodyn.analysis.demo import DEMO_TRIAL_FOLDER
from homodyn.capture import Trial
from homodyn.cli import app
from homodyn.errors import HomodynError
from homodyn.report.simulation_folder import write_simulation
from homodyn.simulate import SimulationOptions, run
from homodyn.studio import Actor, file_opening
from homodyn.studio.file_opening import (
    from_catalog,
    open_path,
    open_upload_content,
    plain_file_name,
)


@pytest.fixture(scope="module")
def fallen(tmp_path_factory):
    """A result of a simulation, and the record it was written from."""
    actor = from_catalog("heiman")
    options = SimulationOptions(record_interval=1e-2)
    record = run(actor.model, actor.q, None, 0.05, 1e-3, contact="implicit", options=options)
    folder = tmp_path_factory.mktemp("results") / "fallen"
    write_simulation(record, folder)
    return folder, record


@pytest.mark.parametrize("suffix", [".toml", ".lua", ".urdf"])
def test_models_are_opened(tmp_path, suffix):
    save(catalog.bip(), tmp_path / f"robot{suffix}")
    item = open_path(tmp_path / f"robot{suffix}")
    assert isinstance(item, Actor)
    assert len(item.model.bodies) >= len(catalog.bip().bodies)


def test_recordings_are_opened():
    item = open_path(DEMO_TRIAL_FOLDER / "walk.c3d")
    assert isinstance(item, Trial)
    assert item.frames > 100


@pytest.mark.parametrize("kind", [".tar", ".zip"])
def test_a_packed_folder_is_a_folder(fallen, tmp_path, kind):
    folder, record = fallen
    stream = io.BytesIO()
    if kind == ".tar":
        with tarfile.open(fileobj=stream, mode="w") as tar:
            tar.add(folder, "fallen")
    else:
        with zipfile.ZipFile(stream, "w") as archive:
            for path in folder.iterdir():
                archive.write(path, f"fallen/{path.name}")
    actor = open_upload_content(f"fallen{kind}", stream.getvalue(), tmp_path)
    assert actor.motion.q.shape == record.q.shape


def test_a_tar_cannot_write_outside_its_folder(tmp_path):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        member = tarfile.TarInfo("../../escaped.txt")
        member.size = 3
        tar.addfile(member, io.BytesIO(b"bad"))
    with pytest.raises(HomodynError, match="unpacked"):
        open_upload_content("evil.tar", stream.getvalue(), tmp_path)
    assert not list(tmp_path.parent.glob("**/escaped.txt"))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("broken.c3d", b"this is no recording"),
        ("broken.trc", b"PathFileType\t4\n"),
        ("broken.lua", b"return {"),
        ("broken.osim", b"<OpenSimDocument><oops>"),
        ("broken.urdf", b"<robot/>"),
        ("notes.txt", b"hello"),
    ],
)
def test_an_invalid_file_gives_the_message_of_the_command_line(
    tmp_path, monkeypatch, name, content
):
    with pytest.raises(HomodynError) as refusal:
        open_upload_content(name, content, tmp_path)
    home = tmp_path / "shell"
    home.mkdir()
    (home / name).write_bytes(content)
    monkeypatch.chdir(home)
    shown = CliRunner().invoke(app, ["studio", name, "--no-browser"])
    assert shown.exit_code == 1
    assert " ".join(shown.output.split()) == f"Error: {' '.join(str(refusal.value).split())}"
    assert str(tmp_path) not in str(refusal.value)


def packed_tar(*members, mode="w"):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode) as tar:
        for member in members:
            tar.addfile(member, io.BytesIO(bytes(member.size)))
    return stream.getvalue()


def link_to(target, kind):
    member = tarfile.TarInfo("session/model.toml")
    member.type, member.linkname = kind, target
    return member


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_links_in_archives_are_refused(tmp_path, kind):
    content = packed_tar(link_to("/etc/passwd", kind))
    with pytest.raises(HomodynError, match="links are not accepted"):
        open_upload_content("session.tar", content, tmp_path)
    assert not list(tmp_path.rglob("model.toml"))


def test_archives_that_are_too_large_when_unpacked_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(file_opening, "MAX_UNPACKED_BYTES", 1_000_000)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(2_000_000))
    assert len(stream.getvalue()) < 10_000
    with pytest.raises(HomodynError, match="larger than"):
        open_upload_content("bomb.zip", stream.getvalue(), tmp_path)
    large = tarfile.TarInfo("zeros")
    large.size = 2_000_000
    with pytest.raises(HomodynError, match="larger than"):
        open_upload_content("bomb.tar", packed_tar(large), tmp_path)
    with pytest.raises(HomodynError, match="cannot be unpacked"):
        open_upload_content("bomb.tar", packed_tar(large, mode="w:gz"), tmp_path)
    monkeypatch.setattr(file_opening, "MAX_ARCHIVE_FILES", 2)
    many = [tarfile.TarInfo(f"file{k}") for k in range(3)]
    with pytest.raises(HomodynError, match="more than 2 files"):
        open_upload_content("many.tar", packed_tar(*many), tmp_path)


def test_encrypted_archives_are_refused(tmp_path):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("a", b"b")
    content = bytearray(stream.getvalue())
    content[6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(HomodynError, match="password"):
        open_upload_content("secret.zip", bytes(content), tmp_path)


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("../../walk.c3d", "walk.c3d"),
        ("..\\walk.c3d", "walk.c3d"),
        ("..", "file"),
        ("", "file"),
        ("/", "file"),
        (".hidden.toml", "hidden.toml"),
        ("a\0b\nc.trc", "a_b_c.trc"),
        ("x" * 300 + ".c3d", "x" * 50 + ".c3d"),
        ("é" * 90 + ".c3d", "_" * 50 + ".c3d"),
    ],
)
def test_names_of_uploads_become_plain_file_names(name, plain):
    assert plain_file_name(name) == plain


@pytest.mark.parametrize("name", ["..", "\0.c3d", "a" * 5000 + ".c3d", "\ud800.trc", "..c3d"])
def test_hostile_names_of_uploads_are_refused_in_a_sentence(tmp_path, name):
    with pytest.raises(HomodynError):
        open_upload_content(name, b"nothing", tmp_path)
